"""Links of a target, and what the page's form makes of lines."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError

from campaigns.targets.links import BadLink, opened, parse_links
from campaigns.targets.watch_fields import GroupsField

BEGIN, END = (
    datetime(2026, 11, 26, 12, 0, 30, tzinfo=UTC),
    datetime(2026, 11, 26, 12, 9, 30, tzinfo=UTC),
)


def test_a_link_opens_with_the_time_of_a_run():
    (link,) = parse_links("Logs, all: https://logs.example:80/{target}?from={from}&to={to_iso}")
    assert link["title"] == "Logs, all"
    assert opened(link["url"], BEGIN, END, "pulp & co") == (
        "https://logs.example:80/pulp%20%26%20co?from=1795694400000&to=2026-11-26T12%3A10%3A00Z"
    )


@pytest.mark.parametrize(
    "line", ["Grafana", "x: ftp://a/", "x: https://", "x: https://a/{", ": https://a"]
)
def test_a_line_that_is_no_link(line):
    with pytest.raises(BadLink):
        parse_links(line)


def test_groups_are_typed_one_a_line():
    field = GroupsField(required=False)
    groups = field.clean("web: httpd*, puma \n\ndb: postgres*")
    assert groups == [
        {"name": "web", "patterns": ["httpd*", "puma"]},
        {"name": "db", "patterns": ["postgres*"]},
    ]
    assert field.prepare_value(groups) == "web: httpd*, puma\ndb: postgres*\n"
    assert field.clean(" ") is None
    with pytest.raises(ValidationError, match="has no colon"):
        field.clean("web")
