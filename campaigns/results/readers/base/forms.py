"""Say how a field of a table is written, where it cannot be read, and how to write it. Reads nothing itself."""

import csv
import re

from campaigns.results.readers.base.building import some
from campaigns.results.readers.base.texts import clean, number_of

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
DATE = re.compile(r"\d{1,2}([/.-])\d{1,2}\1(?:\d{4}|\d\d)(?!\d).{0,20}", re.ASCII)
PERCENT = re.compile(r"([+-]?[\d.,]{1,30})[ \u00a0]?%", re.ASCII)
CLOCK = re.compile(r"\d{1,4}:[0-5]\d:[0-5]\d(?:\.\d{1,9})?", re.ASCII)
UNIT = re.compile(r"([+-]?[\d.]{1,30}) ?([^\W\d_]{1,8}(?:/[a-z]{1,5})?)")
THOUSANDS = (
    (
        re.compile(r"[+-]?\d{1,3}(?:,\d{3}){1,9}\.\d{1,20}|[+-]?\d{1,3}(?:,\d{3}){2,9}", re.ASCII),
        ",",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(?:\.\d{3}){1,9},\d{1,20}|[+-]?\d{1,3}(?:\.\d{3}){2,9}", re.ASCII),
        ".",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(?:[ \u00a0\u202f'’]\d{3}){1,9}(?:[.,]\d{1,20})?", re.ASCII),
        " \u00a0\u202f'’",
    ),
)
EITHER = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
COMMA = re.compile(r"[+-]?\d{0,30},\d{1,30}", re.ASCII)
NO_VALUE = {"na", "n/a", "nan", "null", "none", "-"}
"""What stands in a field without a value."""


def advice_on(text: str) -> str:
    """Return what is special in a field that is no number or instant, and how to write it; nothing if it is neither."""
    field = text.strip()
    shown = f"“{clean(field, 40)}”"
    if DATE.fullmatch(field):
        return f"{shown} may be one day or another; write instants as YYYY-MM-DD HH:MM:SS."
    if percent := PERCENT.fullmatch(field):
        return f"{shown} has a percent sign; write {clean(percent[1], 40)}, and give the unit “%” in the mapping."
    for pattern, separators in THOUSANDS:
        if pattern.fullmatch(field):
            plain = field.translate(dict.fromkeys(map(ord, separators))).replace(",", ".")
            return f"{shown} has separators between its thousands; write {plain}."
    if EITHER.fullmatch(field):
        plain = field.replace(",", "")
        return f"{shown} has a comma, of thousands or of decimals; write {plain} or {field.replace(',', '.')}."
    if COMMA.fullmatch(field):
        return f"{shown} has a decimal comma; write {field.replace(',', '.')}."
    if CLOCK.fullmatch(field):
        return f'{shown} is a clock; add "written": "H:MM:SS" to its metric in the mapping.'
    unit = UNIT.fullmatch(field)
    if unit and number_of(unit[1]) is not None:
        return (
            f"{shown} has its unit in the field; write {unit[1]}, and give the unit in the mapping."
        )
    return ""


def delimiter_of(line: str, names: list[str]) -> str:
    """Return the delimiter with which a line has all the names; nothing if there is none."""
    for delimiter in DELIMITERS:
        fields = {field.strip() for field in _split(line, delimiter)}
        if all(name in fields for name in names):
            return delimiter
    return ""


def looks_like_csv(head: bytes) -> str:
    """Return what to do with a file that begins like a table; nothing if it does not."""
    lines = [line for line in head.decode("utf-8", "replace").split("\n")[:20] if line.strip()]
    if len(lines) < 2:
        return ""
    for delimiter, word in DELIMITERS.items():
        header = [name.strip() for name in _split(lines[0], delimiter)]
        named = all(name and name[0].isalpha() and len(name) <= 80 for name in header)
        if len(header) < 2 or not named:
            continue
        rows = [_split(line, delimiter) for line in lines[1:]]
        if delimiter == "," and len(rows[0]) > len(header):
            odd = "Line 2 has more fields than there are columns: decimal commas? Write decimal points."
        elif len(rows[0]) != len(header):
            continue
        else:
            odd = next(
                (f"{text}" for row in rows for field in row if (text := advice_on(field))), ""
            )
        return (
            f"It looks like CSV with the columns {some(header)}, separated by {word}. Give a mapping that names the factors "
            f"and the metrics. {odd}"
        ).strip()
    return ""


def _split(line: str, delimiter: str) -> list[str]:
    return next(iter(csv.reader([line.rstrip("\r\n")], delimiter=delimiter)), [])
