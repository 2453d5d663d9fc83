import pytest
from markdown_it import MarkdownIt

from campaigns.reviews.reports.markdown import code, line, paragraphs, table

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def kinds(text):
    """Every kind of token of some Markdown, inline ones too."""
    tokens = READER.parse(text)
    return {each.type for token in tokens for each in (token, *(token.children or ()))}


PLAIN = {"paragraph_open", "paragraph_close", "inline", "text"}


@pytest.mark.parametrize(
    "words",
    [
        "**bold** and _more_",
        "`code`",
        "[a link](http://evil.example)",
        "![an image](http://evil.example/x.png)",
        "<script>alert(1)</script>",
        "<b>",
        "http://evil.example and <http://evil.example>",
        "# heading",
        "- item",
        "+ item",
        "1. item",
        "12) item",
        "> quote",
        "---",
        "===",
        "~~gone~~",
        "&lt;b&gt; &#64;",
        "\\*not escaped\\*",
        "a | b",
        "    code",
        "```\ncode\n```",
        "$x$",
    ],
)
def test_words_stay_words(words):
    assert kinds(line(words)) <= PLAIN
    rendered = READER.renderInline(line(words))
    assert "<" not in rendered


def test_nobody_is_called_and_nothing_is_pointed_at():
    written = line("@boss look at #12, www.evil.example and https://evil.example")

    assert "@boss" not in written
    assert "#12" not in written
    assert "www." not in written
    assert "s://" not in written


@pytest.mark.parametrize("text", ["+99.4 % (+99.0 … +99.7 %)", "2.4.6", "-3 %", "0.50"])
def test_numbers_need_no_escape_at_their_beginning(text):
    assert line(text)[0] == text[0]
    assert READER.renderInline(line(text)) == text


def test_a_cell_keeps_to_its_cell():
    written = table(("a", "b"), [("x | y\nz", "`|`")])

    assert len(written.splitlines()) == 3
    cells = [t for t in READER.parse(written) if t.type == "td_open"]
    assert len(cells) == 2


def test_lines_and_paragraphs_are_kept():
    assert paragraphs("one\ntwo\n\n- three") == "one\\\ntwo\n\n\\- three"


def test_a_snippet_cannot_end_its_block():
    text = "echo `x`\n```\n# out"

    tokens = READER.parse(code(text))

    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == f"{text}\n"


def test_what_turns_letters_around_is_left_out():
    assert line("a\u202eb\x00c") == "abc"
