"""Markdown as safe HTML, for texts of users and for pages of the documentation.

markdown-it drops HTML and checks each link; nh3 sanitises the result once more, by a
list of its own. Texts of people have no headings, and mentions are marked where `people` holds the name.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

LINK = re.compile(r"(?:https?://|mailto:)[^\s]|/(?![/\\])", re.IGNORECASE)
"""What a link may begin with; an address within perfdash begins with one slash."""
MENTION = re.compile(r"(?<![\w@/.+-])@([\w.+-][\w.@+-]{0,149})")
TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a", "b"),
}
SCROLLED = (
    '<div class="scroll" tabindex="0" role="region" aria-label="Table {}"><table class="data">'
)
DOCUMENT_TAGS = {*TAGS, "h2", "h3", "h4", "div"}
KEPT = 512
"""The number of texts whose HTML is cached."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document.

    anchor: its id; first: the text of the paragraph after it; texts: all that stands below it until the next
    heading, a paragraph, item, row of a table or block of code each.
    """

    level: int
    text: str
    anchor: str
    first: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A page of documentation; html: without its title."""

    title: str
    html: str
    headings: tuple[Heading, ...]


def to_html(text: str, people: Collection[str] = ()) -> str:
    """Return the HTML of a text; mentions (@name) of `people` are marked."""
    return _rendered(text, frozenset(people))


def document(text: str, address: Callable[[str], str | None]) -> Document:
    """Return a page of documentation; address: maps the target of a link to a URL, or None."""
    parser = MarkdownIt("js-default", {"html": False}).disable(
        ["image", "html_block", "html_inline"]
    )
    tokens = parser.parse(text)
    headings = _with_anchors(tokens)
    for block in tokens:
        if block.type == "inline" and block.children:
            block.children = list(_with_addresses(block.children, address))
    title, body = (
        (headings[0].text, tokens[3:]) if headings and headings[0].level == 1 else ("", tokens)
    )
    html = str(parser.renderer.render(body, parser.options, {}))
    numbers = count(1)
    html = re.sub("<table>", lambda _: SCROLLED.format(next(numbers)), html)
    html = html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return Document(
        title,
        nh3.clean(
            html,
            tags=DOCUMENT_TAGS,
            attributes={
                "a": {"href", "title"},
                "ol": {"start"},
                "pre": {"tabindex"},
                "div": {"class", "tabindex", "role", "aria-label"},
                "table": {"class"},
                **{tag: {"id"} for tag in ("h2", "h3", "h4")},
            },
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener",
        ),
        tuple(headings),
    )


def names_in(text: str) -> list[list[str]]:
    """Return the mentions in a text, outside of code and links, in their order.

    Of each every name that it may be: a dot at its end may belong to it, or end a sentence.
    """
    mentions: dict[str, list[str]] = {}
    for piece in _texts(_parser().parse(text)):
        for match in MENTION.finditer(piece):
            mentions.setdefault(match[1], _possible(match[1]))
    return list(mentions.values())


@lru_cache(maxsize=KEPT)
def _rendered(text: str, people: frozenset[str]) -> str:
    html = _parser().render(text, {"people": people})
    return nh3.clean(
        str(html),
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        allowed_classes={"b": {"mention"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow",
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": True, "typographer": False})
    parser.disable(["image", "html_block", "html_inline"])
    parser.validateLink = _is_allowed  # type: ignore[method-assign]
    assert parser.linkify is not None  # noqa: S101 - it was asked for
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    parser.core.ruler.push("embolden_headings", _embolden_headings)
    parser.core.ruler.push("mark_mentions", _mark_mentions)
    return parser


def _is_allowed(url: str) -> bool:
    return LINK.match(url) is not None


def _with_anchors(tokens: list[Token]) -> list[Heading]:
    """Add to each heading the id that GitHub gives it, so that one link serves both."""
    headings: list[Heading] = []
    repeats: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        text = _plain(tokens[number + 1])
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        repeats[anchor] = again = repeats.get(anchor, -1) + 1
        anchor = f"{anchor}-{again}" if again else anchor
        token.attrSet("id", anchor)
        after = tokens[number + 3 : number + 5]
        first = _plain(after[1]) if after and after[0].type == "paragraph_open" else ""
        texts = tuple(_texts_below(tokens[number + 3 :]))
        headings.append(Heading(int(token.tag[1:]), text, anchor, first, texts))
    return headings


def _texts_below(tokens: Iterable[Token]) -> Iterator[str]:
    """Return the texts until the next heading; the cells of a row are one text."""
    cells: list[str] | None = None
    for token in tokens:
        if token.type == "heading_open":
            return
        if token.type == "tr_open":
            cells = []
        elif token.type == "tr_close" and cells is not None:
            yield ": ".join(filter(None, cells))
            cells = None
        elif token.type in ("fence", "code_block"):
            yield " ".join(token.content.split())
        elif token.type == "inline" and cells is not None:
            cells.append(_plain(token))
        elif token.type == "inline":
            yield _plain(token)


def _with_addresses(
    tokens: Iterable[Token], address: Callable[[str], str | None]
) -> Iterator[Token]:
    """Replace the targets of links; a link without a target becomes its text."""
    leads = True
    for token in tokens:
        if token.type == "link_open":
            url = address(str(token.attrGet("href") or ""))
            leads = url is not None
            token.attrSet("href", url or "")
        if leads or token.type not in ("link_open", "link_close"):
            yield token


def _plain(block: Token) -> str:
    """Return the text of a paragraph or heading without markup."""
    kinds = {"softbreak": " ", "hardbreak": " "}
    return "".join(kinds.get(each.type, each.content) for each in block.children or ())


def _embolden_headings(state: StateCore) -> None:
    """Turn headings into bold lines: a user's text is no part of a page's outline."""
    for number, token in enumerate(state.tokens):
        if token.type == "heading_open":
            line = state.tokens[number + 1]
            begin, end = Token("strong_open", "strong", 1), Token("strong_close", "strong", -1)
            line.children = [begin, *(line.children or ()), end]
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"


def _mark_mentions(state: StateCore) -> None:
    people = state.env.get("people", ())
    if not people:
        return
    for block in state.tokens:
        if block.type == "inline" and block.children:
            block.children = list(_marked(block.children, people))


def _marked(tokens: Iterable[Token], people: Collection[str]) -> Iterator[Token]:
    within_link = 0
    for token in tokens:
        within_link += token.nesting if token.tag == "a" else 0
        if token.type == "text" and not within_link:
            yield from _split(token, people)
        else:
            yield token


def _split(token: Token, people: Collection[str]) -> Iterator[Token]:
    """Split the text at each mention of one of `people`."""
    done = 0
    for match in MENTION.finditer(token.content):
        name = next((each for each in _possible(match[1]) if each in people), None)
        if name is None:
            continue
        yield _text(token, token.content[done : match.start()])
        yield Token("mention_open", "b", 1, attrs={"class": "mention"})
        yield _text(token, f"@{name}")
        yield Token("mention_close", "b", -1)
        done = match.start() + 1 + len(name)
    yield _text(token, token.content[done:])


def _text(token: Token, content: str) -> Token:
    return Token("text", "", 0, content=content, level=token.level)


def _possible(name: str) -> list[str]:
    """Return a name, and the same without characters at its end that may be punctuation."""
    names = [name]
    while names[-1] and names[-1][-1] in ".-+@":
        names.append(names[-1][:-1])
    return [each for each in names if each]


def _texts(tokens: Iterable[Token]) -> Iterator[str]:
    for block in tokens:
        within_link = 0
        for token in block.children or ():
            within_link += token.nesting if token.tag == "a" else 0
            if token.type == "text" and not within_link:
                yield token.content
