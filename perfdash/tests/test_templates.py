"""Templates are loaded without their indentation."""

from django.template.loader import get_template


def test_lines_of_a_page_begin_at_the_margin_and_keep_their_numbers():
    template = get_template("findings/result.html").template  # type: ignore[attr-defined]

    with open(template.origin.name, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert template.source.splitlines() == [line.lstrip(" ") for line in lines]
