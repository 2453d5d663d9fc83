"""Texts of people never become markup that does something."""

import pytest

from campaigns.kit.markup import TAGS, names_in, to_html
from campaigns.reviews.comments.threads import LONGEST
from campaigns.tests.attacks import ATTACKS, Elements

ATTRIBUTES = {"href", "title", "rel", "start", "class"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_could_run_comes_out(attack):
    for tag, attributes in Elements(to_html(attack, {"ada"})).seen:
        assert tag in TAGS
        assert attributes.keys() <= ATTRIBUTES
        assert attributes.get("class", "mention") == "mention"
        href = (attributes.get("href") or "/").strip().lower()
        assert href.startswith(("http://", "https://", "mailto:", "/"))
        assert not href.startswith(("//", "/\\"))


def test_what_people_need_is_there():
    html = to_html(
        "# Head\n\nA **bold** *word*, `code`, ~~gone~~.\n\n- one\n- two\n\n"
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\n> said\n\n```sh\nls <x>\n```"
    )

    assert "<p><strong>Head</strong></p>" in html
    for part in ("<strong>bold</strong>", "<em>word</em>", "<code>code</code>", "<s>gone</s>"):
        assert part in html
    assert "<li>one</li>" in html
    assert "<td>2</td>" in html
    assert "<blockquote>" in html
    assert "<pre><code>ls &lt;x&gt;\n</code></pre>" in html


@pytest.mark.parametrize(
    "address", ["https://example.org/a?b=1", "http://example.org", "/campaigns/1/"]
)
def test_links_go_out_without_a_recommendation(address):
    html = to_html(f"[here]({address})")

    assert f'href="{address}"' in html
    assert 'rel="noopener nofollow"' in html


def test_addresses_are_links_where_they_say_so_and_words_with_dots_are_none():
    assert 'href="https://example.org/x"' in to_html("see https://example.org/x.")
    assert "<a" not in to_html("run pulp.conf on example.org, ask me@example.org or 192.0.2.1")


def test_an_image_is_a_link_and_nothing_is_fetched():
    html = to_html("![look](https://example.org/p.png)")

    assert "<img" not in html
    assert 'href="https://example.org/p.png"' in html


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@ada look", ["ada"]),
        ("so says @ada.", ["ada.", "ada"]),
        ("(@ada)", ["ada"]),
        ("me@example.org and http://x/@ada", []),
        ("`@ada` and [@ada](https://x.org/)", []),
        ("```\n@ada\n```", []),
        ("@@ada", []),
    ],
)
def test_mentions_are_found_outside_of_code_links_and_addresses(text, names):
    assert [name for names_of_one in names_in(text) for name in names_of_one] == names


def test_only_those_who_are_there_are_marked():
    html = to_html("@ada and @bob, said @ada.", {"ada"})

    assert html.count('<b class="mention">@ada</b>') == 2
    assert "@bob" in html
    assert html.count("<b") == 2


@pytest.mark.timeout(60)  # a search that explodes would take hours
@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "*" * 10_000,
        "`" * 9_999 + "x",
        "> " * 5_000,
        "- " * 5_000,
        "![](" * 2_500,
        "<" * 10_000,
        "@a" * 5_000,
        "|" * 5_000 + "\n" + "|-" * 2_500,
        "https://" * 1_250,
        "a**b" * 2_500,
        "\\" * 10_000,
    ],
)
def test_no_text_of_the_longest_kind_keeps_a_server_busy(text):
    text = text[:LONGEST]

    assert to_html(text, {"ada"})
    assert not any("ada" in names for names in names_in(text))
