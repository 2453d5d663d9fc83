"""For CI jobs: ask a line for a version and judge it, or measure two versions side by side."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer

from perfdash_client import reports
from perfdash_client.commands.watching import FailOn, Timeout, judged, watched
from perfdash_client.connection import Server
from perfdash_client.errors import BadUse, CannotTell
from perfdash_client.exits import Exit
from perfdash_client.session import Json, Session, session_of
from perfdash_client.standings import (
    DEFAULT,
    EVIDENCE,
    failure_of,
    line_named,
    read_evidence,
    wait_for,
)
from perfdash_client.verdicts import read_words, that_decide, verdicts_of

app = typer.Typer(
    help="For CI jobs: judge a version by its line, or compare two versions.",
    invoke_without_command=True,
)
HOUR = 3600.0
MOST_PAIRS = 50
DROPPED = ("search", "paired_factor", "baseline", "stop_rule", "stop_width_percent", "stop_most")
"""What a template may have that a campaign of whole plots has not."""
JOBS = ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "CI_JOB_ID")
"""Variables of GitHub and GitLab that name a job: sent twice, it asks once."""


@app.callback()
def judge_version(
    context: typer.Context,
    line: Annotated[str, typer.Option(metavar="NAME", help="A line, by name or number.")] = "",
    version: Annotated[str, typer.Option(help="The version to judge.")] = "",
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS",
            help=f"Exit code 1 on this evidence, with commas between: {', '.join(EVIDENCE)}."
            f" {','.join(DEFAULT)} unless given.",
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Wait no longer. The line goes on.")
    ] = HOUR,
    key: Annotated[
        str,
        typer.Option(
            help="Of this request: a line looks once for each. Of the CI job unless given."
        ),
    ] = "",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as JUnit XML.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write it as Markdown, in the place of an earlier one of the line."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Have a line measure a version, wait for that and its confirmation, and judge it."""
    if context.invoked_subcommand is not None:
        return
    if not line or not version:
        raise BadUse("Give --line and --version, or a command: perfdash ci compare.")
    session, words = session_of(context), read_evidence(fail_on)
    server = session.server
    row = line_named(server, line)
    asked = key or _key_of_job(session, version)
    if row["template"] is not None:
        body = {"key": asked, "trigger": "hook", "version": version}
        occasion = server.post(f"lines/{row['id']}/occasions", body)
        session.out.say(f"Line {row['id']}: {occasion['reason'] or occasion['outcome']}")
    standing = wait_for(server, row, version, asked, words, timeout)
    error = failure_of(standing, words)
    if junit is not None:
        reports.write(junit, reports.junit(row["name"], standing, error))
    _report(session, row, standing, markdown)
    if session.as_json:
        session.out.give(
            {**standing, "line": row["id"], "exit_code": int(error.code if error else Exit.OK)}
        )
    else:
        session.out.line(standing["text"])
    if error is not None:
        raise error


def _key_of_job(session: Session, version: str) -> str:
    parts = [session.environment.get(name, "") for name in JOBS]
    job = " ".join(part for part in parts if part) or uuid4().hex
    return f"ci {version[:30]} {job}"[:80].strip()


def _report(
    session: Session, row: Mapping[str, Any], standing: Mapping[str, Any], markdown: Path | None
) -> None:
    page = f"{session.server.url}/lines/{row['id']}/"
    text = reports.markdown(row["id"], row["name"], standing, page)
    if markdown is not None:
        reports.write_markdown(markdown, row["id"], text)
    if summary := session.environment.get(reports.SUMMARY):
        reports.write_markdown(Path(summary), row["id"], text)


@app.command()
def compare(
    context: typer.Context,
    target: Annotated[str, typer.Option(metavar="NAME", help="A target that has a build.")],
    template: Annotated[str, typer.Option(metavar="NAME", help="A template of that target.")],
    base: Annotated[str, typer.Option(metavar="VERSION", help="The old version.")],
    candidate: Annotated[str, typer.Option(metavar="VERSION", help="The new version.")],
    switch: Annotated[
        str,
        typer.Option(metavar="NAME", help="The build that installs them, if there are several."),
    ] = "",
    pairs: Annotated[int, typer.Option(min=3, max=MOST_PAIRS)] = 10,
    confirm_target: Annotated[
        str, typer.Option(metavar="NAME", help="The target's name: needed for a production server.")
    ] = "",
    fail_on: FailOn = None,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Measure two versions side by side, each installed anew in each pair; no history is needed."""
    session = session_of(context)
    words = read_words(fail_on or ["worse"])
    server = session.server
    place = _named(server, "targets", target, "--target")
    build = _build(server, place, switch)
    row = _named(server, "templates", template, "--template")
    made = server.post(
        f"templates/{row['id']}/campaigns", _changes(row, build, base, candidate, pairs)
    )
    number = made["id"]
    body = {"confirm_target": confirm_target} if confirm_target else None
    server.post(f"campaigns/{number}/launch", body)
    session.out.say(f"Launched campaign {number}: {made['links']['page']}")
    campaign = watched(session, number, timeout)
    judged(session, campaign, words, _unsure(campaign, base, candidate))


def _unsure(campaign: Mapping[str, Any], base: str, candidate: str) -> CannotTell | None:
    deciding = that_decide(verdicts_of(campaign["findings"]))
    if all(each.word != "not_enough_data" for each in deciding):
        return None
    return CannotTell(
        f"Whether {candidate} is worse than {base} cannot be told: not enough data. Give more --pairs."
    )


def _named(server: Server, what: str, name: str, option: str) -> dict[str, Any]:
    found = [each for each in server.pages(what) if name in (each["name"], str(each["id"]))]
    if len(found) != 1:
        count = "several have" if found else "nothing has"
        raise BadUse(f"{option}: {count} the name “{name}”.")
    return found[0]


def _build(server: Server, target: Mapping[str, Any], wanted: str) -> str:
    rows = server.get(f"targets/{target['id']}/settings")
    settings = rows["results"] if isinstance(rows, dict) else rows
    builds = [each["name"] for each in settings if each["is_build"]]
    if wanted in builds:
        return wanted
    if wanted or len(builds) != 1:
        have = ", ".join(builds) or "none"
        raise BadUse(f"--switch: name a build of the target “{target['name']}”; it has {have}.")
    return str(builds[0])


def _changes(
    template: Mapping[str, Any], build: str, base: str, candidate: str, pairs: int
) -> dict[str, Any]:
    """Return what the campaign has in place of the template's own: whole plots of the build, old and new."""
    definition = template["definition"]
    factors = dict(definition.get("factors") or {})
    return {
        **{name: None for name in DROPPED if definition.get(name) is not None},
        "name": f"{candidate} beside {base}"[:100],
        "question": f"Is {build} {candidate} worse than {base}, measured side by side?",
        "factors": {build: [base, candidate], **factors},
        "order": "interleaved",
        "repetitions": pairs,
        "anew": True,
        "primary_contrast": {"factor": build, "baseline": base, "candidate": candidate},
    }
