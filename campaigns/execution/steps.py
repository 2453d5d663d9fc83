"""Execute the driver's four steps for one attempt, and map how they end to outcomes.

Expected errors become an outcome with a sentence that a person can act on; a bug becomes one with
its traceback and is raised again by the caller, once it is stored.
"""

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Self, TypeVar

from django.conf import settings

from campaigns.execution import machine
from campaigns.execution.content import as_before
from campaigns.execution.generators.gathering import Ask, Gathering
from campaigns.execution.keeper import NOT_RENEWED, Keeper, LeaseLost
from campaigns.execution.plots import begins_plot
from campaigns.execution.populations import hosts_of
from campaigns.execution.proofs import proofs_text, unproved_of
from campaigns.execution.run_log import RunLog
from campaigns.execution.server_steps import SettingFailed, Workbench, reset, seconds_of
from campaigns.execution.set_levels import put_in_force
from campaigns.execution.sharing import sharing_with
from campaigns.execution.watching import END_SECONDS, Watching
from campaigns.execution.workplace import workplace
from campaigns.kinds.base import (
    REFUSED,
    SIMULATOR,
    Cancelled,
    Context,
    Driver,
    DriverError,
    EffectiveSetting,
    Measured,
    ParametersRefused,
    Proof,
    RightsNotConfirmed,
    Target,
    TargetUnavailable,
)
from campaigns.kinds.base.quiet import quiet_proof
from campaigns.kinds.program.stored import secrets_of_kind
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.mappings import JsonObject, Levels, Parameters, Settings
from campaigns.kit.network import Rules
from campaigns.kit.redaction import storable
from campaigns.models import (
    Attempt,
    Campaign,
    EnvironmentFact,
    LogLine,
    Run,
    Setting,
    TargetStep,
    Watched,
)
from campaigns.models import Target as TargetRow
from campaigns.planning.configurations import run_values
from campaigns.planning.limits import excess_of
from campaigns.planning.search import most_failed_of
from campaigns.results.outputs import read_output
from campaigns.results.storing import MOST_LETTERS, Outcome
from campaigns.results.watched import WatchedRun
from campaigns.targets.actions import Action
from campaigns.targets.allowed import Allowed, allowed_on
from campaigns.targets.credentials.opening import knower
from campaigns.targets.probing import is_away
from campaigns.targets.reaching import (
    action_of,
    apply_of,
    as_driver_reaches_it,
    read_of,
    server_of,
)
from campaigns.targets.rights import note_rights, why_not_run
from campaigns.targets.saving import as_driver_sees_it, rules_for
from campaigns.targets.watches.rows import watches_in_use

Result = TypeVar("Result")
SLACK_SECONDS = 30.0
"""Seconds that `measure` may take beyond the run's limit, which the driver applies itself."""
LOOK_AGAIN_SECONDS = 30.0
"""Seconds for reading the target's facts after the run; the result does not wait for them longer."""


class Steps:
    """Goes through reset, apply, measure and verify of one attempt."""

    def __init__(self, attempt: Attempt, keeper: Keeper, ask: Ask) -> None:
        self.attempt = attempt
        self.keeper = keeper
        self.log = RunLog(attempt)
        keeper.every_moment = self.log.write
        self.record = Record()
        self.phase = Attempt.Phase.NONE
        self.looks_again = False
        self.watching: Watching | None = None
        self.ends_watches = False
        run = attempt.run
        self.campaign = run.campaign
        self.driver: Driver
        self.own: TargetsOwn
        self.bench: Workbench
        self.unproved = ""
        self.parameters = run_values(self.campaign, run.cell.levels_by_factor)
        self.gathering = Gathering(attempt, keeper, self.parameters, ask, self._log)

    def go(self) -> tuple[Outcome, Exception | None]:
        """Execute all steps. The second value is a bug, to be raised again."""
        state = Attempt.State
        self.keeper.begin("preparation", settings.STEP_SECONDS)
        try:
            with workplace(Path(settings.WORK_DIRECTORY), self.attempt.pk) as directory:
                target, context = self._prepare(directory)
                try:
                    failure = self._measure_properly(target, context)
                finally:
                    try:
                        self._clean_up(target, context)
                    finally:
                        self._end_watches()
        except Cancelled:
            return self._stopped(), None
        except LeaseLost as lost:
            return self.record.outcome(state.LOST, str(lost)), None
        except ParametersRefused as error:
            self.record.refused(error, self.parameters)
            return self.record.outcome(state.FAILED, str(error)), None
        except DriverError as error:
            ended = state.VOID if error.void else state.FAILED
            outcome = self.record.outcome(ended, str(error))
            return replace(outcome, lasting=error.lasting, away=self._is_away(error)), None
        except (UnknownKind, SecretUnreadable) as error:
            return self.record.outcome(state.VOID, str(error)), None
        except Exception as bug:  # noqa: BLE001  the boundary: stored with its traceback, re-raised
            reason = f"An error of perfdash itself: {type(bug).__name__}: {bug}"
            return self.record.outcome(state.VOID, reason, traceback.format_exc()), bug
        if failure is not None:
            return replace(failure, watched=self.record.watched), None
        self.log.begin(Attempt.Phase.STORE)
        if unwatched := self._unwatched():
            return self.record.outcome(state.VOID, f"Not watched: {unwatched}"), None
        return self.record.outcome(state.ACCEPTED), None

    def _prepare(self, directory: Path) -> tuple[Target, Context]:
        server = self._server()
        self.driver = driver_of(self.campaign.kind)
        self.own = self.keeper.patiently(
            lambda: TargetsOwn.of(server, self.driver, self.parameters)
        )
        self.parameters = self.own.others
        allowed = self.keeper.patiently(
            lambda: require_allowed(server, self.driver, self.parameters)
        )
        elsewhere = self.driver.generators and self.parameters["generators"] > 1
        requested = None if elsewhere else self.driver.concurrency(self.parameters)
        machine.require(requested, self._log)
        reached = server_of(server, f"perfdash attempt/{self.attempt.pk}")
        context = Context(
            cancelled=self.keeper.cancelled,
            lease_seconds=self.keeper.lease_seconds,
            progress=self.keeper.report,
            say=self._log,
            clock=perf_counter_ns,
            directory=directory,
            rules=reached.endpoint.rules,
            deadline_seconds=self.campaign.run_limit_seconds,
            sender=reached.endpoint.sender,
            most_concurrent=allowed.most_concurrent,
            most_per_second=allowed.most_per_second,
            gather=self.gathering,
            most_failed=most_failed_of(self.campaign),
            read=read_output,
            secrets=self.keeper.patiently(lambda: secrets_of_kind(self.campaign.kind)),
            hosts_of=lambda population, most: self.keeper.patiently(
                lambda: hosts_of(server, population, most)
            ),
        )
        patiently = self.keeper.patiently
        self.bench = Workbench(server, lambda: reached, context.check, self._log, patiently)
        target = self._patient(as_driver_reaches_it(server, self.own.wanted, reached))
        return target, replace(context, ask_health=lambda: self._unhealthy(target, context.rules))

    def _patient(self, target: Target) -> Target:
        """Return the target with credentials that are looked up again while the database is away."""
        look_up = target.credential_of
        return replace(
            target,
            credential_of=lambda name, urls: self.keeper.patiently(lambda: look_up(name, urls)),
        )

    def _is_away(self, error: DriverError) -> bool:
        """Return whether the server does not answer a probe either, so that the next attempt would find it away."""
        if not isinstance(error, TargetUnavailable):
            return False
        self.keeper.begin("the look whether the server is away", settings.STEP_SECONDS)
        try:
            return self.keeper.patiently(lambda: is_away(self._server()))
        except LeaseLost:
            return False
        except Exception:  # an odd answer must not hide why the attempt ended
            log.exception(
                "Whether the server of attempt %s is away could not be asked.", self.attempt.pk
            )
            return False

    def _unhealthy(self, target: Target, rules: Rules) -> str:
        """Return why the target is not healthy, by the probe of its kind; empty where it is."""
        return proofs_text([proof for proof in self.driver.probe(target, rules) if not proof.ok])

    def _measure_properly(self, target: Target, context: Context) -> Outcome | None:
        """Return the outcome of an attempt that failed to measure, else None."""
        record, driver, values = self.record, self.driver, self.parameters
        record.environment[EnvironmentFact.Side.GENERATOR] = machine.generator_facts()
        self._begin_watches()
        record.clean_state = self._step(
            Attempt.Phase.RESET, context, lambda: self._reset(target, context)
        )
        if unproved := self.unproved:
            return record.outcome(Attempt.State.VOID, f"Not clean before the run: {unproved}.")
        record.settings = self._step(
            Attempt.Phase.APPLY, context, lambda: self._apply(target, context)
        )
        if wrong := [setting for setting in record.settings if not setting.ok]:
            return record.outcome(Attempt.State.VOID, _not_in_force(wrong))
        facts = record.environment[EnvironmentFact.Side.TARGET] = self._facts(target, context)
        self._label(facts.get(SIMULATOR, ""))
        record.started_at = datetime.now(UTC)
        if self.watching is not None:
            self.watching.start_the_clock()
        measured = self._step(
            Attempt.Phase.MEASURE, context, lambda: driver.measure(target, values, context)
        )
        measured = record.measured = self.gathering.judged(measured)
        record.finished_at = datetime.now(UTC)
        if self.watching is not None:
            self.watching.stop_the_clock()
        if not measured.failure:
            proofs = self._step(
                Attempt.Phase.VERIFY,
                context,
                lambda: driver.verify(target, values, context, measured),
            )
            record.same_work = self.keeper.patiently(lambda: as_before(self.attempt.run, proofs))
        self._look_again(target, context)
        return self._judged(measured)

    def _reset(self, target: Target, context: Context) -> list[Proof]:
        """Run the target's own reset commands, then the driver's; the first failure ends it.

        Builds are installed before: what is clean must be the build that is measured, and one that broke its
        target leaves nothing to reset.
        """
        self._install()
        self.record.clean_state = mine = self.own.reset(self.bench, self.attempt.run)
        self.unproved = proofs_text([proof for proof in mine if not proof.ok])
        if self.unproved:
            return mine
        self._require_rights(target, context)
        theirs = self.driver.reset(target, self.parameters, context)
        watched = self._watched_proofs(context)
        self.unproved = unproved_of([*theirs, *watched])
        quiet = [] if self.unproved else self._quiet_meanwhile()
        return [*mine, *theirs, *watched, *quiet]

    def _require_rights(self, target: Target, context: Context) -> None:
        """Raise RightsNotConfirmed where what the author wrote would have rights of the login that no admin confirmed."""
        what = self.driver.executes(self.parameters)
        if not what:
            return
        server, patiently = self._server(), self.keeper.patiently
        found = self.driver.rights(target, context, self.parameters) or ()
        patiently(lambda: note_rights(server, found))
        if why := patiently(lambda: why_not_run(server, what, found)):
            raise RightsNotConfirmed(why)
        if found:
            self._log(
                f"{what} of the author has rights of the login that are confirmed: {', '.join(found)}"
            )

    def _begin_watches(self) -> None:
        """Begin to watch the target, so that idle time before the measurement is seen, too."""
        watches = self.keeper.patiently(lambda: watches_in_use(self._server()))
        if watches or self.campaign.requires_watch:
            self.watching = Watching(watches)
            self.watching.begin()

    def _watched_proofs(self, context: Context) -> list[Proof]:
        """Wait a moment until the watches see the target; prove it where the campaign requires that."""
        if self.watching is None:
            return []
        return self.watching.proofs(context.check, required=self.campaign.requires_watch)

    def _end_watches(self) -> None:
        """Take what was seen. The run's result depends on none of it."""
        if self.watching is not None:
            self.keeper.begin("the end of the watches", END_SECONDS)
            self.ends_watches = True
            stopped = self.keeper.cancelled.is_set()
            self.record.watched = self.watching.end(self._log, stopped=stopped)
            self.ends_watches = False

    def _unwatched(self) -> str:
        """Return why the target was not watched, where the campaign requires that; else an empty text."""
        if not self.campaign.requires_watch:
            return ""
        if self.record.watched is None:
            return "an error of perfdash itself, see its log"
        return "; ".join(
            f"{source.source}: {source.reason}"
            for source in self.record.watched.sources
            if source.state == Watched.State.NOT
        )

    def _server(self) -> TargetRow:
        server = self.attempt.run.target
        if server is None:
            raise DriverError("The campaign has no target; it cannot be executed.")
        return server

    def _quiet_meanwhile(self) -> list[Proof]:
        """Ask the targets that share a part with this one whether they do nothing; that judges no run."""
        run = self.attempt.run
        others = self.keeper.patiently(lambda: sharing_with(run, self.driver))
        return [quiet_proof(other.name, self._why_not_quiet(other)) for other in others]

    def _why_not_quiet(self, other: TargetRow) -> str:
        try:
            return self.driver.quiet(as_driver_sees_it(other, {}), rules_for(other))
        except (DriverError, SecretUnreadable) as error:
            return f"not proved: {error}"
        except Exception:  # an odd answer of a server that is not measured must not end the run
            log.exception("Whether %s is quiet could not be asked.", other.name)
            return "not proved: an error in perfdash, see its log"

    def _install(self) -> None:
        """Install the builds. Raise SettingFailed where one is not in force."""
        self.record.settings = builds = self.own.install(self.bench, self.attempt.run)
        if wrong := [build for build in builds if not build.ok]:
            raise SettingFailed(_not_in_force(wrong))

    def _apply(self, target: Target, context: Context) -> list[EffectiveSetting]:
        """Set the target's settings, then the driver's levels, unless one did not take effect."""
        self.record.settings = mine = self.own.apply(self.bench, self.campaign)
        ok = all(setting.ok for setting in mine)
        return [*mine, *(self.driver.apply(target, self.parameters, context) if ok else ())]

    def _judged(self, measured: Measured) -> Outcome | None:
        """Return the outcome of results that must not be accepted, else None."""
        if measured.failure:
            return self.record.outcome(Attempt.State.FAILED, measured.failure)
        if unproved := unproved_of(self.record.same_work):
            return self.record.outcome(Attempt.State.VOID, f"Not the same work: {unproved}.")
        return None

    def _label(self, simulator: str) -> None:
        """Mark the attempt as measured on a simulated target, for pages that show the open run."""
        if simulator:
            self._log(f"simulated target: {simulator}", LogLine.Tone.BAD)
            mine = Attempt.objects.filter(pk=self.attempt.pk)
            text = storable(simulator)[:MOST_LETTERS]
            self.keeper.patiently(lambda: mine.update(simulator=text))

    def _facts(self, target: Target, context: Context) -> Mapping[str, str]:
        """Return the facts of the target, and which version of a credential is in use. Raise DriverError."""
        known = knower(self._server().team_id)  # what was changed since the run began is told, too
        sent = self.driver.sends(target.base_url, self.parameters)
        used = {
            name: self.keeper.patiently(partial(known, str(self.parameters[name]), urls)).fact
            for name, urls in sent.items()
        }
        return {**self.driver.environment(target, context), **used}

    def _look_again(self, target: Target, context: Context) -> None:
        """Read the target's facts once more, to find a change during the last run, too.

        Where they cannot be read in time, the reason is stored; the results stay as they are.
        """
        self.keeper.begin("the look at the facts", LOOK_AGAIN_SECONDS)
        self.looks_again = True
        side = EnvironmentFact.Side.TARGET
        try:
            self.record.environment_after[side] = self._facts(target, context)
        except DriverError as error:
            self._note_unread(str(error))
        except Cancelled:
            if context.lease_seconds() <= 0:
                raise
            self._note_unread(self.keeper.why)
        self.looks_again = False

    def _note_unread(self, why: str) -> None:
        self.record.facts_unread = why
        self._log(f"environment after the run: {why}", LogLine.Tone.BAD)

    def _step(self, phase: Attempt.Phase, context: Context, action: Callable[[], Result]) -> Result:
        context.check()
        self.phase = phase
        measuring = phase == Attempt.Phase.MEASURE
        self.keeper.begin(phase.label, self._longest(phase))
        self.log.begin(phase)
        if measuring:
            self._log("measure: the clock is running", LogLine.Tone.NOW)
            self.keeper.patiently(self.log.write)
        self.keeper.report(
            {"phase": str(phase), "step_started_at": datetime.now(UTC).isoformat()},
            at_once=measuring,
        )
        started = perf_counter_ns()
        try:
            result = action()
        finally:
            self.record.steps[phase] = (perf_counter_ns() - started) / 1e9
        context.check()
        if not measuring and isinstance(result, list):
            self._log(f"{phase}: {proofs_text(result)}")
        return result

    def _longest(self, phase: Attempt.Phase) -> float:
        """Return the seconds that a step may take."""
        whole_run = float(self.campaign.run_limit_seconds + SLACK_SECONDS)
        if phase == Attempt.Phase.MEASURE:
            return whole_run + self.driver.seconds_beside_load(self.parameters)
        usual = settings.STEP_SECONDS + self.own.seconds(phase)
        at_length = phase == Attempt.Phase.APPLY and self.driver.prepares_at_length(self.parameters)
        return max(whole_run, usual) if at_length else usual

    def _clean_up(self, target: Target, context: Context) -> None:
        self.keeper.begin("clean-up", settings.STEP_SECONDS)
        try:
            self.driver.clean_up(target, self.parameters, context)
        except (DriverError, Cancelled) as error:
            self._log(f"clean-up: {str(error) or 'cut short'}", LogLine.Tone.BAD)

    def hung(self) -> Outcome:
        """Return the outcome of an attempt whose step did not end after it was stopped."""
        if (self.looks_again or self.ends_watches) and self.record.measured is not None:
            if self.looks_again:
                self.record.facts_unread = self.keeper.why
            judged = self._judged(self.record.measured)
            return judged or self.record.outcome(Attempt.State.ACCEPTED)
        return self._stopped()

    def _too_late(self, reason: str) -> Outcome:
        """Return the outcome of a slow target where it was measured, or of a slow step elsewhere."""
        measuring = self.phase == Attempt.Phase.MEASURE and self.record.measured is None
        return self.record.outcome(
            Attempt.State.FAILED if measuring else Attempt.State.VOID, reason
        )

    def _stopped(self) -> Outcome:
        """Return the outcome after the cancel flag: a person, a shutdown, a lost lease, or its time."""
        if self.keeper.late:
            return self._too_late(self.keeper.why)
        ended = Attempt.State.CANCELLED
        if self.keeper.lost or self.keeper.interrupted or not self.keeper.cancelled.is_set():
            ended = Attempt.State.LOST
        return self.record.outcome(ended, self.keeper.why or NOT_RENEWED)

    def _log(self, text: str, tone: str = LogLine.Tone.PLAIN) -> None:
        self.log.say(text, tone)


def _not_in_force(wrong: Sequence[EffectiveSetting]) -> str:
    text = "; ".join(f"{each.name}: asked {each.asked}, in force {each.in_force}" for each in wrong)
    return f"A level did not take effect: {text}.{''.join(f' {each.why}' for each in wrong if each.why)}"


class MoreThanAllowed(DriverError):
    """The target's owner has lowered a limit since the campaign was launched."""

    void = True


def require_allowed(target: TargetRow, driver: Driver, parameters: Parameters) -> Allowed:
    """Return the limits. Raise MoreThanAllowed where the parameters are beyond one."""
    allowed = allowed_on(target)
    if excess := excess_of(allowed, driver, parameters):
        raise MoreThanAllowed(excess)
    return allowed


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TargetsOwn:
    """`wanted`: values of settings by name, `builds` those of builds; `others`: parameters for the driver.

    resets: whether there are reset commands, manual ones among them. reset_seconds, apply_seconds: how long they may take.
    """

    wanted: Settings
    builds: Settings
    others: JsonObject
    resets: bool
    reset_seconds: float
    apply_seconds: float

    @classmethod
    def of(cls, target: TargetRow, driver: Driver, values: Parameters) -> Self:
        """Split the target's settings from the values of a run."""
        known = driver.parameters.base_fields
        wanted = {
            name: value
            for name, value in values.items()
            if name not in known and value not in (None, "")
        }
        settings = list(Setting.objects.filter(target=target, name__in=list(wanted)))
        steps = list(TargetStep.objects.filter(target=target))
        ready = [action_of(step) for step in steps if step.purpose == TargetStep.Purpose.READY]
        resets = [action_of(step) for step in steps if step.purpose == TargetStep.Purpose.RESET]
        any_reset = bool(resets)
        builds = [row for row in settings if row.is_build]
        installs, actions = _actions_of(builds), _actions_of(settings)
        if installs:
            resets += [*installs, *ready]
        return cls(
            wanted=wanted,
            builds={row.name: wanted[row.name] for row in builds},
            others={name: value for name, value in values.items() if name in known},
            resets=any_reset,
            reset_seconds=seconds_of([*resets, *ready]) if resets else 0.0,
            apply_seconds=seconds_of([*actions, *ready]) if actions else 0.0,
        )

    def seconds(self, phase: str) -> float:
        """Return by how much they prolong a step of the run."""
        return {
            Attempt.Phase.RESET: self.reset_seconds,
            Attempt.Phase.APPLY: self.apply_seconds,
        }.get(Attempt.Phase(phase), 0.0)

    def install(self, bench: Workbench, run: Run) -> list[EffectiveSetting]:
        """Install the builds: those that differ, or all where a whole plot begins with new ones. Raise SettingFailed."""
        if not self.builds:
            return []
        campaign = run.campaign
        anew = campaign.anew and bench.patiently(lambda: begins_plot(run, self.builds))
        return put_in_force(self.builds, bench, campaign, anew)

    def reset(self, bench: Workbench, run: Run) -> list[Proof]:
        """Run the target's reset commands."""
        return reset(bench, run) if self.reset_seconds or self.resets else []

    def apply(self, bench: Workbench, campaign: Campaign) -> list[EffectiveSetting]:
        """Apply the settings. Raise SettingFailed."""
        return put_in_force(self.wanted, bench, campaign) if self.wanted else []


def _actions_of(settings: Iterable[Setting]) -> list[Action]:
    """Return the actions that change settings: each is read, applied and read back."""
    return [each for row in settings for each in (apply_of(row), read_of(row), read_of(row))]


@dataclass(slots=True)
class Record:
    """Facts and results of an attempt so far; an outcome is built from it wherever the attempt ends."""

    clean_state: Sequence[Proof] = ()
    same_work: Sequence[Proof] = ()
    settings: Sequence[EffectiveSetting] = ()
    measured: Measured | None = None
    steps: dict[str, float] = field(default_factory=dict)
    environment: dict[str, Mapping[str, str]] = field(default_factory=dict)
    environment_after: dict[str, Mapping[str, str]] = field(default_factory=dict)
    facts_unread: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    watched: WatchedRun | None = None

    def refused(self, error: ParametersRefused, levels: Levels) -> None:
        """Store the target's error message with each refused level, where the form shows it."""
        self.settings = [
            *(setting for setting in self.settings if setting.name not in error.refused),
            *(
                EffectiveSetting(name, levels.get(name), f"{REFUSED}{sentence}", ok=False)
                for name, sentence in error.refused.items()
            ),
        ]

    def outcome(self, state: str, reason: str = "", trace: str = "") -> Outcome:
        """Return the outcome of an attempt that ends now."""
        return Outcome(
            state=state,
            reason=reason,
            traceback=trace,
            clean_state=self.clean_state,
            same_work=self.same_work,
            settings=self.settings,
            measured=self.measured,
            steps=self.steps,
            environment=self.environment,
            environment_after=self.environment_after,
            facts_unread=self.facts_unread,
            measure_started_at=self.started_at,
            measure_finished_at=self.finished_at,
            watched=self.watched,
        )
