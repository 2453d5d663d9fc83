"""The faults: mistakes that a person might make, one line each, where a test has to notice them."""

from dataclasses import dataclass

TESTS = "campaigns/tests"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault. before: stands once in the file, and becomes `after`. breaks: what goes wrong then.

    paths: where its tests are, tried one after another.
    """

    area: str
    file: str
    before: str
    after: str
    breaks: str
    paths: tuple[str, ...]


def _in(*names: str) -> tuple[str, ...]:
    return tuple(f"{TESTS}/{name}" for name in names)


CLAIM = _in(
    "execution/test_claim.py", "execution/test_races.py", "execution/test_execute.py", "execution"
)
SETTLING = _in("execution/test_limits.py", "execution/test_claim.py", "execution")
PROGRAMS = _in(
    "execution/api/test_programs.py",
    "execution/test_programs.py",
    "planning/test_checking.py",
    "planning/test_drafts.py",
    "planning/api",
    "planning/pages",
)
FITNESS = _in("planning/test_fitness.py", "planning")
LIMITS = _in(
    "planning/test_limits.py",
    "targets/test_same_server.py",
    "execution/test_limits.py",
    "planning",
    "targets",
)
OVERLOAD = _in(
    "execution/test_carried.py",
    "targets/test_production.py",
    "execution/test_searching.py",
    "execution/test_budgets_and_quiet_hours.py",
    "targets",
    "planning",
)
SQL = _in("kinds/sql/test_scripts.py", "kinds/sql")
IMPORT = _in("kinds/http/test_importing.py", "kinds/http")
HEADERS = _in("kinds/http/test_compiling.py", "kinds/http/test_reading.py", "kinds/http")
RIGHTS = _in("kit/test_rights.py", "reviews/pages", "planning/api", "kit", "accounts")
KEYS = _in("kit/api/test_repeating.py", "kit/api", "overview/api")
NETWORK = _in("kit/test_network.py", "kit")

FAULTS = (
    Fault(
        "claim",
        "campaigns/execution/claim.py",
        "run.campaign.state == expected and run.state == Run.State.PLANNED and _within_time(run, now)",
        "run.state == Run.State.PLANNED and _within_time(run, now)",
        "a run of a paused or cancelled campaign begins",
        CLAIM,
    ),
    Fault(
        "claim",
        "campaigns/execution/claim.py",
        'Run.objects.select_for_update(of=("self",), no_key=True).filter(attempts=attempt_pk).first()',
        "Run.objects.filter(attempts=attempt_pk).first()",
        "two workers that claim at the same moment do not wait for each other",
        CLAIM,
    ),
    Fault(
        "leases",
        "campaigns/execution/leases.py",
        "return lease.filter(attempt=None).update(",
        "return lease.update(",
        "a host that measures is leased to a second run",
        CLAIM,
    ),
    Fault(
        "leases",
        "campaigns/execution/leases.py",
        "attempt=attempt, token=attempt.token, address=address, expires_at__gt=Now()",
        "attempt=attempt, token=attempt.token, address=address",
        "a run begins although the lease of its target has lapsed, and another run may have it next",
        CLAIM,
    ),
    Fault(
        "settling",
        "campaigns/results/settling.py",
        "if tries < run.attempts_allowed and not lasting:",
        "if tries <= run.attempts_allowed and not lasting:",
        "a run is repeated once more than its limit",
        SETTLING,
    ),
    Fault(
        "settling",
        "campaigns/results/closing.py",
        "pk=attempt.pk, state=Attempt.State.RUNNING, token=attempt.token",
        "pk=attempt.pk, token=attempt.token",
        "a worker that was declared lost overwrites the outcome of its attempt",
        SETTLING,
    ),
    Fault(
        "pairing",
        "campaigns/planning/plan.py",
        "if swapped[stratum_index] ^ (repetition % 2 == 0):",
        "if swapped[stratum_index]:",
        "the order within pairs does not alternate",
        _in("planning/test_plan.py", "planning"),
    ),
    Fault(
        "families",
        "campaigns/stats/paired.py",
        "if contrast and not no and contrast.n >= criteria.minimum_n",
        "if contrast and contrast.n >= criteria.minimum_n",
        "strata that may not be judged make the correction of the others stricter",
        _in("stats/test_paired.py", "stats", "findings/compute"),
    ),
    Fault(
        "rights",
        "campaigns/kit/rights.py",
        'return rows.filter(**{f"{path}__in": teams_with(user, right).order_by().values("pk")})',
        'return rows.filter(**{f"{path}__in": teams_with(user).order_by().values("pk")})',
        "who may only see a row is offered it as one to change",
        RIGHTS,
    ),
    Fault(
        "rights",
        "campaigns/reviews/deciding.py",
        "if conclusion.writers.filter(pk=user.pk).exists():",
        "if conclusion.writers.exclude(pk=user.pk).exists():",
        "who edited a conclusion approves it",
        _in("reviews/test_life.py", "reviews"),
    ),
    Fault(
        "idempotency",
        "campaigns/kit/idempotency.py",
        "KeptAnswer.objects.filter(user=user, key=key, created_at__gt=Now() - RETENTION)",
        "KeptAnswer.objects.filter(key=key, created_at__gt=Now() - RETENTION)",
        "a key of one user returns the stored answer of another",
        KEYS,
    ),
    Fault(
        "idempotency",
        "campaigns/kit/api/idempotency.py",
        "if not 200 <= response.status_code < 300:",
        "if not 200 <= response.status_code < 500:",
        "a refusal is stored, so that the corrected request gets it again",
        KEYS,
    ),
    Fault(
        "network rule",
        "campaigns/kit/network.py",
        "return host.endswith(self.host[1:])",
        "return host.endswith(self.host[2:])",
        "a rule for *.example covers evil-example, too",
        NETWORK,
    ),
    Fault(
        "network rule",
        "campaigns/kit/network.py",
        "inner = address.ipv4_mapped or address.sixtofour",
        "inner = address.ipv4_mapped",
        "an IPv4 address that is excluded is reached as 6to4",
        NETWORK,
    ),
    Fault(
        "redaction",
        "campaigns/results/storing.py",
        "environment=redaction.redact_all(outcome.environment),",
        "environment=outcome.environment,",
        "a secret in a fact of a machine is stored",
        _in("execution/test_secrets.py", "execution/test_environment.py", "execution", "results"),
    ),
    Fault(
        "redaction",
        "campaigns/kinds/http/importing/secret_values.py",
        r'JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*\Z")',
        r'JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\Z")',
        "a JWT of few different letters stays in an imported recording",
        IMPORT,
    ),
    Fault(
        "SQL refusals",
        "campaigns/kinds/sql/scripts.py",
        '"string": (KEYWORD, ADDRESS),',
        '"string": (ADDRESS,),',
        "dblink reaches another server by keywords",
        SQL,
    ),
    Fault(
        "SQL refusals",
        "campaigns/kinds/sql/scripts.py",
        'in ("e", "E") and not _in_word',
        'in ("E",) and not _in_word',
        "what follows an escaped quote in e'' is taken for code, and a string behind it for none",
        SQL,
    ),
    Fault(
        "header values",
        "campaigns/kinds/http/program/compiling.py",
        r'if any(mark in written for mark in "\r\n\0"):',
        r'if any(mark in written for mark in "\0"):',
        "a value with CR LF adds a header to a request",
        HEADERS,
    ),
    Fault(
        "programs of teams",
        "campaigns/planning/checking.py",
        "(others := [each for each in targets if each.team_id != row.team_id])",
        "(others := [each for each in targets if each.team_id is None])",
        "a program of another team may be chosen",
        PROGRAMS,
    ),
    Fault(
        "programs of teams",
        "campaigns/execution/programs.py",
        "if others and others[0].team_id != team.pk:",
        "if others and others[0].team_id is None:",
        "a team changes the program of another team by its name",
        PROGRAMS,
    ),
    Fault(
        "required checks",
        "campaigns/planning/fitness/known.py",
        "return self.outcome in (FIT, WARNING)",
        "return self.outcome != NOT_FIT",
        "a required check that was never made counts as fit",
        FITNESS,
    ),
    Fault(
        "required checks",
        "campaigns/planning/fitness/requiring.py",
        "max(numbers, default=MOST_CLIENTS)",
        "min(numbers, default=MOST_CLIENTS)",
        "connections are checked for the smallest number of clients of a campaign",
        FITNESS,
    ),
    Fault(
        "owner's limits",
        "campaigns/planning/limits.py",
        "or concurrent <= most:",
        "or concurrent <= most + 1:",
        "a run has one request at a time more than the owner allows",
        LIMITS,
    ),
    Fault(
        "owner's limits",
        "campaigns/targets/allowed.py",
        "return min(limited, key=",
        "return max(limited, key=",
        "of several targets that are one server the mildest limit applies",
        LIMITS,
    ),
    Fault(
        "links of output files",
        "campaigns/kinds/programs/run_here.py",
        "os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC",
        "os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC",
        "an output file that is a link stores any file of the worker",
        _in("kinds/programs/test_run_here.py", "kinds/test_program.py", "kinds/programs"),
    ),
    Fault(
        "overload permissions",
        "campaigns/targets/overload.py",
        "(other.overload_until is None or other.overload_until <= now)",
        "other.overload_until is None",
        "a production server is overloaded by another name after its permission is over",
        OVERLOAD,
    ),
    Fault(
        "overload permissions",
        "campaigns/execution/claim.py",
        "if carried.why_not_now(run, now):",
        "if carried.why_not_now(run, now) and run.campaign.search:",
        "a run above what its target has carried begins after the permission was withdrawn",
        OVERLOAD,
    ),
    Fault(
        "sameness",
        "campaigns/execution/steps.py",
        "self.keeper.patiently(lambda: as_before(self.attempt.run, proofs))",
        "proofs",
        "the content of a cell's first run is not demanded of the next",
        _in("execution/test_execute.py", "findings/compute/test_sameness.py", "execution"),
    ),
    Fault(
        "sameness",
        "campaigns/findings/compute/sameness.py",
        "return self.units, self.bytes, self.digest",
        "return self.units, self.bytes, None",
        "cells of other content of the same size are compared",
        _in("findings/compute/test_sameness.py", "findings/compute"),
    ),
)
