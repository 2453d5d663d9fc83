"""Encodings that programs save texts in are read; what is no text is refused with its line."""

import codecs

import pytest

from campaigns.kit.decoding import Undecodable, text_of

TEXT = "line 1\nÄnne, 5 µs, “quoted”, 漢字\r\nlast line without an end"


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
def test_a_text_is_the_same_in_each_encoding(mark, codec):
    assert text_of(mark + TEXT.encode(codec)) == TEXT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb\nGrüße an alle".encode("latin-1"), "no text in UTF-8: line 3 holds the byte 0xfc. Save it as UTF-8"),
        ("a\nÄ".encode()[:-1], "in UTF-8, ends within a letter of line 2: it was cut off"),
        ("a\nb".encode("utf-16")[:-1], "in UTF-16, ends within a letter of line 2: it was cut off"),
        (codecs.BOM_UTF16_LE + "a\n".encode("utf-16-le") + b"\x00\xdc\x00\x00", "begins like a text in UTF-16, but line 2 is none"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused_with_its_line(content, message):
    with pytest.raises(Undecodable, match=message):
        text_of(content)


@pytest.mark.parametrize("content", [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE])
def test_a_file_without_letters_is_an_empty_text(content):
    assert text_of(content) == ""
