"""The documentation that perfdash serves, and the words that pages link to its glossary."""

import re
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urldefrag

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.template import Context, RequestContext, Template
from django.urls import reverse

from bench.publishing import PAGES, written_by
from campaigns.kinds.registry import all_kinds
from campaigns.kit.markup import DOCUMENT_TAGS, document
from campaigns.overview.checks import documentation_is_there
from campaigns.overview.documentation import glossary, pages, read
from campaigns.overview.pages.help import MOVED
from campaigns.tests.attacks import ATTACKS, Elements
from campaigns.tests.browsing import Page

ROOT = Path(settings.BASE_DIR)
TERM = re.compile(r'{% term "([^"]+)"')


@pytest.fixture
def request_of_nobody(rf):
    request = rf.get("/")
    request.user = AnonymousUser()
    return request


def written(template, request, **values):
    source = Template("{% load terms %}" + template)
    return source.render(RequestContext(request, values))


def test_every_page_is_in_the_table_of_contents():
    listed = set(re.findall(r'href="([^"#]+)', read("docs/all-pages.md").html))

    names = [name for name in pages() if name not in ("", "all-pages")]
    assert len(names) > 40
    assert [name for name in names if reverse("help-page", args=[name]) not in listed] == []


@pytest.mark.parametrize("path", pages().values())
def test_a_page_that_a_benchmark_writes_says_so_and_no_other(path):
    text = (ROOT / path).read_text()

    said = [line for line in text.splitlines() if line.startswith("Written by `script/bench ")]
    assert said == [written_by(name) for name, page in PAGES.items() if page == path]


def test_every_link_of_every_page_leads_somewhere(browser):
    """Pages, their sections, and what the frame of the page links to."""
    seen: dict[str, set[str]] = {}
    open_links = [(reverse("help"), "")]
    broken = []
    while open_links:
        link, source = open_links.pop()
        address, anchor = urldefrag(link)
        if address not in seen:
            answer = browser.get(address)
            if answer.status_code != 200:
                broken.append((source, link, answer.status_code))
                seen[address] = {anchor}
                continue
            is_page = address.startswith("/help/")
            found = Page(answer).elements if is_page else []
            seen[address] = {str(attributes.get("id")) for _, attributes in found}
            for name, attributes in found:
                to = attributes.get("href") or ""
                if name == "a" and not to.startswith(("http:", "https:", "mailto:")):
                    open_links.append((address + to if to.startswith("#") else to, address))
        if anchor and anchor not in seen[address]:
            broken.append((source, link, "no such section"))
    assert broken == []
    assert {reverse("help-page", args=[name]) for name in pages() if name} <= set(seen)
    assert {reverse("api-docs"), reverse("api-schema")} <= set(seen)


def test_a_page_has_headings_tables_and_code(browser):
    answer = browser.get("/help/how-to/command-line/")

    page = Page(answer)
    names = [name for name, _ in page.elements]
    assert names.count("h1") == 1
    assert {"h2", "table", "pre"} <= set(names)
    assert "perfdash login" in page.text
    scrolled = [given for name, given in page.elements if "scroll" in (given.get("class") or "")]
    assert scrolled[0]["tabindex"] == "0"
    assert scrolled[0]["aria-label"] == "Table 1"


@pytest.mark.parametrize(
    "page", ["nothing", "../perfdash/settings", "..%2f..%2fetc%2fpasswd", "README.md", "a/b/c"]
)
def test_a_page_that_is_not_there_is_not_found(browser, page):
    assert browser.get(f"/help/{page}/").status_code == 404


def test_every_kind_is_in_the_readme():
    rows = re.findall(r"^\| \[([a-z_ ]+)\]", (ROOT / "README.md").read_text(), re.MULTILINE)

    assert set(all_kinds()) - {*rows} == set()


@pytest.mark.parametrize("former", MOVED)
def test_a_page_that_has_moved_is_found_by_its_former_address(browser, former):
    assert former not in pages()

    answer = browser.get(f"/help/{former}/")

    assert answer.status_code == 301
    assert browser.get(answer["Location"]).status_code == 200


def test_the_header_links_to_the_documentation(browser):
    links = [given for name, given in Page(browser.get("/")).elements if name == "a"]

    assert [given for given in links if given.get("href") == reverse("help")]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_document_runs(attack):
    for tag, attributes in Elements(document(attack, lambda link: link).html).seen:
        assert tag in DOCUMENT_TAGS
        assert not {name for name in attributes if name.startswith("on") or name == "style"}
        href = (attributes.get("href") or "/").strip().lower()
        assert not href.startswith(("javascript:", "data:", "vbscript:", "file:"))


def test_headings_have_the_anchors_that_they_have_on_github():
    found = document("# One\n\n## A *b*, `c`: d/e\n\nText of\nit.\n\n## Again\n\n## Again\n", str)

    assert found.title == "One"
    assert [heading.anchor for heading in found.headings[1:]] == ["a-b-c-de", "again", "again-1"]
    assert found.headings[1].first == "Text of it."
    assert '<h2 id="again-1">' in found.html
    assert "One" not in found.html


def test_a_link_that_leads_nowhere_is_its_words():
    found = document("See [the code](../x.py) and [that](y.md).", {"y.md": "/y/"}.get)

    assert found.html == '<p>See the code and <a href="/y/" rel="noopener">that</a>.</p>\n'


def test_every_term_that_templates_name_is_in_the_glossary():
    named = {
        name.lower()
        for path in (ROOT / "templates").rglob("*.html")
        for name in TERM.findall(path.read_text())
    }

    assert {"cell", "factor", "void", "bound"} <= named
    assert named - glossary().keys() == set()


def test_every_term_has_a_hint_that_fits_into_a_line_or_two():
    wrong = {name: term.hint for name, term in glossary().items() if not 20 < len(term.hint) < 160}

    assert wrong == {}


def test_a_word_is_linked_where_a_page_uses_it_first(request_of_nobody):
    request = request_of_nobody

    first = written('{% term "cell" "Cells" %}, {% terms "3 cells in 2 strata" %}', request)

    assert first.count("<a ") == 2
    assert re.match(
        r'<a class="term" href="/help/reference/glossary/#cell"[^>]*>Cells</a>, 3', first
    )
    assert 'href="/help/reference/glossary/#stratum-strata"' in first
    assert glossary()["cell"].hint in first
    assert "<a " not in written('{% term "cell" %}', request)


def test_a_link_in_a_part_that_is_asked_for_again_is_always_there_and_has_an_id(request_of_nobody):
    request = request_of_nobody
    again = '{% term "timed out" part="matrix-word" %}'

    assert written('{% term "timed out" %}' + again, request).count("<a ") == 2
    assert 'id="matrix-word-timed-out"' in written(again, request)


def test_a_template_that_is_included_knows_what_the_page_has_linked(request_of_nobody):
    text = written(
        '{% term "pair" %} {% include "findings/_howto.html" with chart=chart only %}',
        request_of_nobody,
        chart={"strata": 1},
    )

    assert text.count("glossary/#pair") == 1
    assert text.count("glossary/#baseline") == 1


def test_a_text_with_linked_words_stays_a_text(request_of_nobody):
    said = written("{% terms said %}", request_of_nobody, said="<b>block</b> & blockade")

    assert re.fullmatch(r"&lt;b&gt;<a [^>]+>block</a>&lt;/b&gt; &amp; blockade", said)


@pytest.mark.parametrize("text", ["/campaigns/12/", "run-to-run variation", "rerun", "targeted"])
def test_parts_of_words_and_addresses_are_not_linked(request_of_nobody, text):
    assert "<a " not in written("{% terms said %}", request_of_nobody, said=text)


@pytest.mark.parametrize(
    "text", ["\u017fession", "session\u017f", "pa\u0131r", "f\u0130nding", "bloc\u212a"]
)
def test_a_word_with_a_letter_that_is_only_like_that_of_a_term_is_another_word(
    request_of_nobody, text
):
    assert written("{% terms said %}", request_of_nobody, said=text) == text


def test_what_is_written_without_a_page_has_no_links():
    text = Template('{% load terms %}{% term "cell" %} <{% terms said %}>')

    assert text.render(Context({"said": "a <block>"})) == "cell <a &lt;block&gt;>"


def test_the_image_holds_the_documentation():
    rules = (ROOT / ".dockerignore").read_text().split()

    for path in (*pages().values(), "docs/images/result.png"):
        included = [rule[0] != "!" for rule in rules if _covers(rule.removeprefix("!"), path)]
        assert not included[-1], path


def test_an_installation_without_documentation_does_not_start(settings, tmp_path):
    assert documentation_is_there() == []

    settings.BASE_DIR = tmp_path

    (error,) = documentation_is_there()
    assert error.id == "perfdash.E002"
    assert str(tmp_path) in error.msg


def _covers(rule, path):
    """Whether a rule of .dockerignore names a file or one of the folders that it is in."""
    parts = path.split("/")
    above = ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]
    return any(fnmatch(each, rule.removeprefix("**/")) for each in above)
