"""A report as Markdown of GitHub's kind, for a pull request. No text of a person can become markup. Pure."""

import re
from collections.abc import Iterator, Sequence

from campaigns.reviews.reports.values import Advice, Part, Report, Rows

MARKUP = re.compile(r"([\\`*_{}\[\]()#!|~$>])")
BEGINNING = re.compile(r"^(\s*)(?:([-+](?=\s|$)|[-=](?=[-=\s]*$))|(\d{1,9})([.)])(?=\s|$))")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
HASH = re.compile(r"[A-Za-z0-9:._-]+\Z")
JOINER = "\u2060"
"""Takes no room; @name and #1 with it call nobody and point nowhere."""


def markdown(report: Report) -> str:
    """Return the whole report."""
    return "\n\n".join(part for part in _blocks(report) if part) + "\n"


def line(text: object) -> str:
    """Escape a text for a line, or for a cell of a table."""
    flat = " ".join(CONTROL.sub("", str(text)).split())
    escaped = MARKUP.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;"))
    escaped = escaped.replace("://", "\\://").replace("@", f"@{JOINER}")
    escaped = escaped.replace("\\#", f"\\#{JOINER}")
    escaped = re.sub(r"\b(www)\.", r"\1\\.", escaped, flags=re.IGNORECASE)
    return BEGINNING.sub(_harmless, escaped)


def paragraphs(text: str) -> str:
    """Escape a longer text; its lines stay lines, its paragraphs stay paragraphs."""
    parts = re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n").strip())
    return "\n\n".join("\\\n".join(line(each) for each in part.splitlines()) for part in parts)


def code(text: str) -> str:
    """Return a snippet as a code block that none of its own backticks can end."""
    longest = max((len(match) for match in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{CONTROL.sub('', text)}\n{fence}"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; nothing without rows."""
    if not rows:
        return ""
    written = [heads, ["---"] * len(heads), *([line(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in written)


def _harmless(match: re.Match[str]) -> str:
    if match[2]:
        return f"{match[1]}\\{match[2]}"
    return f"{match[1]}{match[3]}\\{match[4]}"


def _blocks(report: Report) -> Iterator[str]:
    if report.loud:
        yield f"> [!WARNING]\n> **{line(report.loud).upper()}**"
        yield paragraphs(report.reason)
        yield table(("what changed", "before", "now"), report.reopened_by)
    yield f"# {line(report.claim)}"
    yield _accepted(report)
    yield _bullets(
        f"{line(each.name)} {line(each.word)}, {line(each.at)}, data {_hash(each.data_hash)}"
        + (f": {line(each.reason)}" if each.reason else "")
        for each in report.signatures
    )
    if report.recommendation or report.advice:
        yield "## Recommendation"
        yield paragraphs(report.recommendation)
        for advice in report.advice:
            yield from _advice(advice)
    if report.limits:
        yield "## Limits"
        yield paragraphs(report.limits)
    for sizing in report.sizing:
        yield "## Sizing"
        yield line(sizing.caption)
        yield table(sizing.heads, sizing.rows)
    for part in report.parts:
        yield from _part(part)
    if report.checks:
        yield "## Checklist"
        heads = ("check", "state", "number", "what it says", "the author's word")
        rows = [(c.title, c.state, c.number, c.text, c.word) for c in report.checks]
        yield table(heads, rows)
    yield f"*{line(report.made_by)}, {line(report.made_at)}*"


def _accepted(report: Report) -> str:
    texts = [f"**{line(report.state)}**"]
    texts += [f"by {line(report.author)}"] if report.author else []
    texts += [f"team {line(report.team)}"] if report.team else []
    texts += [f"revision {report.revision}"] if report.revision else []
    texts += [f"decided {line(report.decided_at)}"] if report.decided_at else []
    return ", ".join(texts)


def _advice(advice: Advice) -> Iterator[str]:
    yield f"The findings favour **{line(advice.setting)}**: {line(advice.why)}."
    for snippet in advice.snippets:
        yield f"{line(snippet.tool)} ({line(snippet.source)}):"
        yield code(snippet.text)
    yield line(advice.unknown)


def _part(part: Part) -> Iterator[str]:
    yield f"## {line(part.question)}"
    yield f"**{line(part.answer)}**"
    yield line(part.certainty)
    yield line(" ".join(part.caveats))
    heads = ("comparison", "change", "95 % interval", "verdict", "sessions")
    rows = [
        (c.name, c.change, c.interval, "; ".join(filter(None, (c.word, c.also))), c.standing)
        for c in part.compared
    ]
    yield table(heads, rows)
    if part.more_compared:
        yield f"And {part.more_compared} more."
    for chart in part.charts:
        yield f"*Chart:* {line(chart.label)}"
    yield from _rows("What is carried", part.carried)
    yield from _rows("Criterion", part.criterion)
    yield from _rows("In numbers", part.facts)
    if part.sensitivity:
        yield "### Sensitivity"
        yield _bullets(line(each) for each in part.sensitivity)
    if part.excluded:
        yield "### Excluded"
        yield _bullets(
            f"~~{line(each.run)}, {line(each.value)}~~, by {line(each.by)}, {line(each.at)}: "
            f"{line(each.reason)}"
            for each in part.excluded
        )
    if part.amended:
        yield "### Amended after launch"
        yield _bullets(line(each) for each in part.amended)
    yield from _rows("What was measured", part.definition)
    yield from _rows("How it was measured", part.how)
    if part.sessions:
        yield "### Sessions"
        yield table(("session", "begun", "runs"), part.sessions)
    if part.environment:
        yield from _rows("Environment", part.environment)
        yield line(part.unread)
    if part.settings:
        yield "### Levels, as read back"
        yield table(("setting", "asked", "in force", "runs"), part.settings)
    yield "### Data"
    yield _bullets(_data(part))


def _data(part: Part) -> Iterator[str]:
    yield f"data hash {_hash(part.data_hash)}"
    if part.signed_hash:
        yield f"reviewed hash {_hash(part.signed_hash)}"
    if part.computed_at:
        yield f"analysed {line(part.computed_at)}"
    if part.versions:
        yield "versions: " + ", ".join(f"{line(name)} {line(each)}" for name, each in part.versions)


def _rows(title: str, rows: Rows) -> Iterator[str]:
    if rows:
        yield f"### {title}"
        yield table(("", ""), rows)


def _bullets(lines: Iterator[str]) -> str:
    return "\n".join(f"- {each}" for each in lines)


def _hash(text: str) -> str:
    return f"`{text}`" if HASH.match(text) else line(text or "none")
