"""What a job leaves behind: JUnit XML, Markdown that replaces itself, and the summary of a GitHub step."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from perfdash_client.errors import BadUse, ClientError
from perfdash_client.exits import Exit
from perfdash_client.output import clean

SUMMARY = "GITHUB_STEP_SUMMARY"
MOST_SHOWN = 20


def junit(name: str, standing: Mapping[str, Any], error: ClientError | None) -> str:
    """Return a test suite: a case for each trend that is worse, or one for the version."""
    suspects = standing["suspects"]
    suite = Element("testsuite", name=clean(f"perfdash: {name}"))
    failing = error is not None and error.code == Exit.VERDICT
    for each in suspects or [None]:
        case = SubElement(
            suite,
            "testcase",
            classname=clean(name),
            name=clean(each["label"] if each else standing["version"]),
        )
        text = clean(_row_text(each) if each else standing["text"])
        if error is not None and failing:
            SubElement(
                case, "failure", message=clean(standing["text"]), type=standing["evidence"]
            ).text = text
        elif error is not None:
            SubElement(case, "skipped", message=clean(str(error)))
        SubElement(case, "system-out").text = text
    count = len(suspects) or 1
    suite.set("tests", str(count))
    suite.set("failures", str(count if failing else 0))
    suite.set("errors", "0")
    suite.set("skipped", str(count if error is not None and not failing else 0))
    root = Element("testsuites")
    root.append(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def markdown(line: int, name: str, standing: Mapping[str, Any], page: str) -> str:
    """Return the text of a comment, between two marks by which it is found again."""
    rows = standing["suspects"]
    text = [f"### {_plain(name)}", "", _plain(standing["text"]), ""]
    if rows:
        text += ["| trend | evidence | change | 95 % |", "|---|---|---|---|"]
        text += [_row(each) for each in rows[:MOST_SHOWN]]
        if len(rows) > MOST_SHOWN:
            text.append(f"| {len(rows) - MOST_SHOWN} more | | | |")
        text.append("")
    text.append(f"[The line on perfdash]({page})")
    return "\n".join([begin_of(line), *text, end_of(line), ""])


def begin_of(line: int) -> str:
    """Return the mark by which the text of a line is found."""
    return f"<!-- perfdash:line:{line} -->"


def end_of(line: int) -> str:
    """Return the mark that ends it."""
    return f"<!-- /perfdash:line:{line} -->"


def write_markdown(path: Path, line: int, text: str) -> None:
    """Replace the text of a line in a file, or add it. Raise BadUse."""
    before = _read(path)
    begin, end = before.find(begin_of(line)), before.find(end_of(line))
    if 0 <= begin < end:
        rest = before[end + len(end_of(line)) :].removeprefix("\n")
        text = before[:begin] + text + rest
    elif before:
        text = f"{before.rstrip()}\n\n{text}"
    write(path, text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadUse(f"{path} cannot be read: {error}.") from None


def write(path: Path, text: str) -> None:
    """Write a file. Raise BadUse."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadUse(f"{path} cannot be written: {error.strerror}.") from None


def _row(suspect: Mapping[str, Any]) -> str:
    low, high = _pct(suspect["low_pct"]), _pct(suspect["high_pct"])
    span = f"{low} … {high}" if low and high else ""
    return f"| {_plain(suspect['label'])} | {suspect['evidence'].replace('_', ' ')} | {_pct(suspect['change_pct'])} | {span} |"


def _row_text(suspect: Mapping[str, Any]) -> str:
    return f"{suspect['label']}: {suspect['evidence'].replace('_', ' ')}, {_pct(suspect['change_pct']) or 'no size'}"


def _pct(value: float | None) -> str:
    return "" if value is None else f"{value:+.1f} %".replace("-", "−")


def _plain(text: str) -> str:
    """Let no markup of a name through."""
    shown = (
        clean(text)
        .replace("\n", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
    )
    for mark in ("\\", "|", "`", "[", "]", "*", "_", "@", "#"):
        shown = shown.replace(mark, f"&#{ord(mark)};" if mark in "@#" else f"\\{mark}")
    return shown
