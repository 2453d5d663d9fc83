"""A driver, a database, and what a test sees of a run."""

from pathlib import Path
from typing import Any

from campaigns.kinds.base import EffectiveSetting, Measured, Proof, Target
from campaigns.kinds.sql.driver import driver
from campaigns.kinds.sql.form import SqlForm
from campaigns.tests.kinds.conftest import Keeper
from campaigns.tests.kinds.sql.servers import Database

FEW = {"rows": 100, "transactions": 50, "threads": 2}
"""Runs that end after a number of transactions: no test waits for a clock."""


class Place:
    """Runs the steps of an attempt."""

    def __init__(self, database: Database, directory: Path) -> None:
        self.database = database
        self.keeper = Keeper(directory / "attempt-1", sender="perfdash attempt/1")
        self.clean: list[Proof] = []
        self.levels: list[EffectiveSetting] = []
        self.same: list[Proof] = []

    def parameters(self, **values: Any) -> dict[str, Any]:
        initial = {name: field.initial for name, field in SqlForm.base_fields.items()}
        given = {
            name: value for name, value in (initial | FEW | values).items() if value is not None
        }
        form = SqlForm(given)
        assert form.is_valid(), form.errors
        return form.cleaned_data

    def run(self, target: Target | None = None, **values: Any) -> Measured:
        """Go through the steps as a worker does."""
        target, parameters = target or self.database.target(), self.parameters(**values)
        context = self.keeper.context()
        try:
            self.clean = driver.reset(target, parameters, context)
            self.levels = driver.apply(target, parameters, context)
            measured = driver.measure(target, parameters, context)
            if not measured.failure:
                self.same = driver.verify(target, parameters, context, measured)
        finally:
            driver.clean_up(target, parameters, context)
        return measured

    def proof(self, name: str) -> Proof:
        return next(each for each in (*self.clean, *self.same) if each.name == name)

    def level(self, name: str) -> Any:
        return next(each.in_force for each in self.levels if each.name == name)

    @property
    def unproved(self) -> list[Proof]:
        return [each for each in (*self.clean, *self.same) if not each.ok]
