"""Text of a file that somebody saved: UTF-8, or UTF-16 and UTF-32 as programs of Windows write them. Pure.

A byte order mark says which; without one, zero bytes at every other place do. Nothing is guessed beyond that: a text in the code
page of a country is refused by its line, since each byte stands for another letter in another country.
"""

import codecs
import re

SAMPLE = 4096
"""Bytes at the begin of a file by which UTF-16 without a mark is recognised."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),  # begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
APPENDED_MARK = re.compile(r"(^|[\n}\]])\ufeff")
LEAST_ZEROS = 0.4
"""Share of zero bytes at odd or even places from which on a text is UTF-16: what programs write is mostly ASCII."""
MOST_OTHER_ZEROS = 0.02


class Undecodable(ValueError):
    """The content is no text; the message names encoding, line and remedy, and begins with “The file”."""


def text_of(content: bytes) -> str:
    """Return the text of a file, without its mark. Raise Undecodable."""
    mark, codec, name = encoding_of(content)
    try:
        return content[mark:].decode(codec)
    except UnicodeDecodeError as error:
        line = content[mark : mark + error.start].decode(codec, errors="replace").count("\n") + 1
        raise Undecodable(problem_of(content[mark:], error, name, line)) from None


def encoding_of(content: bytes) -> tuple[int, str, str]:
    """Return the length of a file's mark, the codec of the rest, and the encoding's name for people."""
    for mark, codec, name in MARKS:
        if content.startswith(mark):
            return len(mark), codec, name
    sample = content[:SAMPLE]
    even, odd = sample[::2], sample[1::2]
    if odd:
        at_even, at_odd = even.count(0) / len(even), odd.count(0) / len(odd)
        if at_odd >= LEAST_ZEROS and at_even <= MOST_OTHER_ZEROS:
            return 0, "utf-16-le", "UTF-16"
        if at_even >= LEAST_ZEROS and at_odd <= MOST_OTHER_ZEROS:
            return 0, "utf-16-be", "UTF-16"
    return 0, "utf-8", "UTF-8"


def tidied(text: str) -> str:
    """Return a text with line feeds at the ends of lines, and without the marks that a second file brings when it is appended."""
    text = text.replace("\r\n", "\n")
    return APPENDED_MARK.sub(r"\1", text) if "\ufeff" in text else text


def problem_of(content: bytes, error: UnicodeDecodeError, name: str, line: int) -> str:
    """Return what is wrong with a file, for people. content: that of the error; name: of the encoding."""
    if error.end >= len(content) and ("end" in error.reason or "truncated" in error.reason):
        return f"The file, in {name}, ends within a letter of line {line:,}: it was cut off. Save it again."
    if name == "UTF-8":
        return (
            f"The file is no text in UTF-8: line {line:,} holds the byte {content[error.start]:#04x}. "
            "Save it as UTF-8."
        )
    return f"The file begins like a text in {name}, but line {line:,} is none. Save it as UTF-8."
