"""A kind that does what its parameters say, and campaigns of it."""

import threading
from datetime import timedelta

import pytest
from django import forms
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.execution import dispatch, keeper
from campaigns.kinds import registry
from campaigns.kinds.base import (
    Driver,
    DriverError,
    EffectiveSetting,
    Health,
    Measured,
    Metric,
    NotClean,
    NotOurs,
    ParametersRefused,
    Proof,
    Series,
    TargetUnavailable,
)
from campaigns.kinds.base.parameters import IntegerParameter, TextParameter
from campaigns.kinds.programs import starving
from campaigns.models import Attempt, Run, Target, TargetLease, Worker
from campaigns.planning import checking, drafts, lifecycle
from campaigns.tests.toy import worker

__all__ = ["worker"]


@pytest.fixture(autouse=True)
def unhindered(request, monkeypatch):
    """Take no run for starved: tests share the machine. `test_starved` is about those that are."""
    if not request.module.__name__.endswith(".test_starved"):
        monkeypatch.setattr(starving, "STARVED_SHARE", 1.0)


class ControlledForm(forms.Form):
    level = IntegerParameter(initial=1)
    manners = TextParameter(initial="good")


class Controlled(Driver):
    """Measures `level` seconds without waiting; `manners` choose how it ends."""

    label, summary, question = "Controlled", "for tests", "What happens?"
    families = ("controlled",)
    parameters = ControlledForm
    metrics = (
        Metric("duration", "Duration", "s", lower_is_better=True, primary=True),
        Metric("rate", "Rate", "1/s", lower_is_better=False),
    )

    def __init__(self):
        self.measuring = threading.Event()
        self.go_on = threading.Event()
        self.cleaned = 0
        self.context = None

    def probe(self, target, rules):
        return [Proof("answers", "yes", "yes", "", ok=True)]

    def reset(self, target, parameters, context):
        if parameters["manners"] == "dirty":
            raise NotClean("3 files were left and could not be removed.")
        if parameters["manners"] == "occupied":
            raise NotOurs("It holds content of others; nobody but they may delete it.")
        if parameters["manners"] == "proofless":
            return []
        return [Proof("files", 0, 0, "files", ok=parameters["manners"] != "unclean")]

    def apply(self, target, parameters, context):
        why = "Somebody is stubborn." if parameters["manners"] == "stubborn" else ""
        in_force = 99 if parameters["manners"] == "stubborn" else parameters["level"]
        return [
            EffectiveSetting(
                "level", parameters["level"], in_force, in_force == parameters["level"], why
            )
        ]

    def measure(self, target, parameters, context):
        self.context = context
        self.measuring.set()
        match parameters["manners"]:
            case "unreachable":
                raise TargetUnavailable("The target refused the connection.")
            case "picky":
                raise ParametersRefused("Refused: level = 3 (Too many.)", {"level": "Too many."})
            case "refusing":
                raise DriverError("The manifest is empty.")
            case "buggy":
                raise ZeroDivisionError("a bug")
            case "unreadable":
                raise DriverError("The target said a\0b and \ud800.")
            case "infinite":
                return self._measured({"duration": float("inf"), "rate": float("nan")})
            case "chatty":
                context.say("the target said a\0b")
            case "undeclared":
                return self._measured({"duration": 1.0, "nonsense": 1.0})
            case "slow":
                while not self.go_on.wait(0.02):
                    context.check()
            case "timed out":
                return self._measured(
                    {"duration": 5.0}, failure="It took longer than 5 s.", censored=True
                )
        saturated = parameters["manners"] == "saturated"
        return self._measured(
            {"duration": float(parameters["level"]), "rate": 2.0}, saturated=saturated
        )

    def _measured(self, values, *, failure="", censored=False, saturated=False):
        return Measured(
            values=values,
            health=Health("saturated" if saturated else "healthy", (), {"cpu_share": 0.5}),
            samples={"total": [0.1, 0.2], "failure": ["", "5xx"]},
            series=[Series("bytes", "B/s", 0.5, [1.0, 2.0])],
            units_done=1,
            units_failed=1,
            failures={"5xx": 1},
            failure=failure,
            censored=frozenset({"duration"}) if censored else frozenset(),
        )

    def verify(self, target, parameters, context, measured):
        if parameters["manners"] == "unprovable":
            return []
        found = float("nan") if parameters["manners"] == "odd" else 2
        return [Proof("files", 2, found, "files", ok=parameters["manners"] != "lazy")]

    def concurrency(self, parameters):
        return int(parameters["level"])

    def clean_up(self, target, parameters, context):
        self.cleaned += 1


@pytest.fixture(autouse=True)
def _nobody_minds_what_is_not_committed(request, monkeypatch):
    """Let a keeper's thread do nothing in tests that commit nothing: it would find no attempt, and stop it as lost."""
    marker = request.node.get_closest_marker("django_db")
    if "transactional_db" not in request.fixturenames and not (
        marker and marker.kwargs.get("transaction")
    ):
        monkeypatch.setattr(keeper.Keeper, "_keep", lambda self: None)


@pytest.fixture
def controlled(monkeypatch):
    driver = Controlled()
    monkeypatch.setitem(registry.all_kinds(), "controlled", driver)
    return driver


@pytest.fixture
def target(db, settings, tmp_path):
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:9"
    settings.WORK_DIRECTORY = tmp_path
    return Target.objects.create(
        name="server", family="controlled", base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )


@pytest.fixture
def analyst(db):
    return Worker.objects.create(
        name="analysis@here", host="here", pools=["analysis"], seen_at=timezone.now()
    )


@pytest.fixture
def draft(controlled, target, worker):
    """Make a draft: `draft(factors={"level": [1, 2]}, repetitions=3)`."""

    def make(**changes):
        data = {
            "question": "What happens?",
            "kind": "controlled",
            "target": target.pk,
            "factors": {"level": [1, 2]},
            "order": "interleaved",
            "repetitions": 2,
            "seed": 7,
        }
        return drafts.create(checking.check(data | changes), None)

    return make


@pytest.fixture
def launched(draft):
    def make(**changes):
        return lifecycle.launch(draft(**changes), None)

    return make


@pytest.fixture
def open_attempt():
    """The attempt that is queued now; there is exactly one."""
    return lambda: Attempt.objects.get(state=Attempt.State.QUEUED)


@pytest.fixture
def attempt_of(launched, open_attempt):
    def make(manners="good", **changes):
        launched(factors={"level": [3]}, parameters={"manners": manners}, repetitions=1, **changes)
        dispatch.dispatch()
        return open_attempt()

    return make


@pytest.fixture
def abandoned():
    """Let the first run of a campaign be on, with a worker that gave no sign for long."""

    def abandon(campaign):
        dispatch.dispatch()
        Attempt.objects.update(state=Attempt.State.RUNNING, claimed_at=Now(), worker="gone")
        Run.objects.filter(campaign=campaign, position=1).update(state=Run.State.RUNNING)
        TargetLease.objects.update(expires_at=Now() - timedelta(minutes=5))

    return abandon
