"""What a parameter of PostgreSQL takes, and its value in the unit of a setting. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from campaigns.kit.ssh.access import ActionFailed

BYTES: Mapping[str, int | Fraction] = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
MILLISECONDS: Mapping[str, int | Fraction] = {
    "us": Fraction(1, 1000),
    "ms": 1,
    "s": 1000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}
UNITS = (*BYTES, *MILLISECONDS)
"""The units in which PostgreSQL takes values."""
UNIT = re.compile(r"(\d*)([A-Za-z]+)\Z")
NUMBER = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?) *([A-Za-z]*)\Z")
SWITCHES = {"on": "on", "true": "on", "yes": "on", "1": "on"} | {
    "off": "off",
    "false": "off",
    "no": "off",
    "0": "off",
}
NEVER = frozenset(
    {
        *("port", "allow_alter_system", "transaction_read_only", "exit_on_error"),
        *("ssl", "ssl_min_protocol_version", "ssl_max_protocol_version", "db_user_namespace"),
        *("superuser_reserved_connections", "reserved_connections"),
        *("statement_timeout", "transaction_timeout", "idle_session_timeout", "tcp_user_timeout"),
        *("pre_auth_delay", "post_auth_delay"),
    }
)
"""After a change of these nobody could connect, or set anything back: in a millisecond no value is read."""
LEAST = {"max_connections": 10}
"""Below, PostgreSQL does not start with what it reserves for superusers, or perfdash is not let in beside others."""
STRONGER = {
    "command line": "is given in the command that starts the server",
    "environment variable": "is given by an environment variable of the server",
    "database": "is set for the database (ALTER DATABASE … SET)",
    "user": "is set for this login (ALTER ROLE … SET)",
    "database user": "is set for this login in this database (ALTER ROLE … IN DATABASE … SET)",
}
"""What goes before ALTER SYSTEM, by `pg_settings.source`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as pg_settings has it; `setting` in its unit, such as 8kB. low, high: texts, empty where there is none.

    usual: its value where no file sets it. pending: a change waits for a restart. login: who asks. may_alter, may_reload: whether
    that one may change it and let the server read its files. is_locked: nobody may (allow_alter_system, since 17).
    """

    name: str
    setting: str
    unit: str
    vartype: str
    context: str
    low: str
    high: str
    choices: tuple[str, ...]
    source: str
    pending: bool
    usual: str
    login: str
    may_alter: bool
    may_reload: bool
    is_locked: bool

    @property
    def takes_restart(self) -> bool:
        """Whether a change is in force only after a restart."""
        return self.context == "postmaster"

    def value_in(self, unit: str) -> Any:
        """Return the value in force in a unit; without one, in the unit of pg_settings. Raise ActionFailed."""
        if self.vartype not in ("integer", "real"):
            return self.setting
        number = Fraction(self.setting)
        if unit and number > 0:
            number /= self._ratio(unit)
        return int(number) if number.denominator == 1 else float(number)

    def why_not(self, *, restarts: bool) -> str:
        """Return why it cannot be set here; empty where it can. restarts: whether a command restarts the server."""
        if self.vartype == "string":
            return f"“{self.name}” is a text, such as a command or a file; numbers, switches and choices are set by SQL."
        if self.name in NEVER or self.context == "internal":
            return f"“{self.name}” is not set by SQL: it is fixed, or nobody could set it back."
        if self.is_locked:
            return "ALTER SYSTEM is switched off on this server (allow_alter_system); set it in its file, over SSH."
        if not self.may_alter or not self.may_reload:
            return self._no_right()
        if self.source in STRONGER:
            return f"“{self.name}” {STRONGER[self.source]}, which goes before ALTER SYSTEM: take it away there first."
        if self.takes_restart and not restarts:
            return f"“{self.name}” is in force only after a restart of PostgreSQL: give the command that restarts it."
        return ""

    def text_of(self, value: Any, unit: str) -> str:
        """Return a value as ALTER SYSTEM takes it. Raise ActionFailed for one that the parameter does not take."""
        if self.vartype in ("bool", "enum"):
            text = str(value).lower()
            choices = ("on", "off") if self.vartype == "bool" else self.choices
            if text not in choices:
                raise ActionFailed(
                    f"“{self.name}” takes {', '.join(choices)}, not “{value!s:.60}”."
                )
            return text
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ActionFailed(f"“{self.name}” takes a number, not “{value!s:.60}”.")
        number = Fraction(repr(value))
        if unit and number > 0:
            number *= self._ratio(unit)
        if self.vartype == "integer" and number.denominator != 1:
            raise ActionFailed(
                f"“{self.name}” takes whole {self.unit or 'numbers'}; {_told(value, unit)} is none."
            )
        if not self._bound(self.low, number) <= number <= self._bound(self.high, number):
            unit_text = f" {self.unit}" if self.unit else ""
            raise ActionFailed(
                f"“{self.name}” takes {self.low} to {self.high}{unit_text}; {_told(value, unit)} is not between them."
            )
        least = LEAST.get(self.name)
        if least is not None and number < least:
            raise ActionFailed(
                f"“{self.name}” of {_told(value, unit)} might let nobody in to set it back: take at least {least}."
            )
        return str(number.numerator) if number.denominator == 1 else repr(float(number))

    def is_same(self, text: str, other: str) -> bool:
        """Return whether two texts of files mean one value, as far as that can be read."""
        one, two = self._plain(text), self._plain(other)
        return one is not None and one == two

    def _plain(self, text: str) -> Fraction | str | None:
        """Return the value of a text in the unit of pg_settings; None where it cannot be read."""
        if self.vartype == "bool":
            return SWITCHES.get(text.strip().lower())
        if self.vartype == "enum":
            return text.strip().lower()
        found = NUMBER.match(text.strip())
        if found is None:
            return None
        try:
            number = Fraction(found[1])
            return number * self._ratio(found[2]) if found[2] else number
        except (ValueError, ActionFailed):
            return None

    def _ratio(self, unit: str) -> Fraction:
        """Return how many of its own units a unit is. Raise ActionFailed for one of another sort."""
        found, own = UNIT.match(unit), UNIT.match(self.unit)
        for sizes in (BYTES, MILLISECONDS):
            if found and own and found[2] in sizes and own[2] in sizes:
                given = Fraction(int(found[1] or 1) * sizes[found[2]])
                return given / Fraction(int(own[1] or 1) * sizes[own[2]])
        has = f"has the unit {self.unit}" if self.unit else "has no unit"
        raise ActionFailed(f"“{self.name}” {has}; its values cannot be given in {unit}.")

    @staticmethod
    def _bound(text: str, number: Fraction) -> Fraction:
        return Fraction(text) if text else number

    def _no_right(self) -> str:
        grants = []
        if not self.may_alter:
            grants.append(f"GRANT ALTER SYSTEM ON PARAMETER {self.name} TO {self.login}")
        if not self.may_reload:
            grants.append(f"GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {self.login}")
        return (
            f"The login “{self.login}” may not set “{self.name}”. A superuser grants it (PostgreSQL 15 or later): "
            f"{'; '.join(grants)}."
        )


def _told(value: Any, unit: str) -> str:
    return f"{value} {unit}".rstrip()
