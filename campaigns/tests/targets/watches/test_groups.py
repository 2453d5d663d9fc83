"""Groups of processes: their text, and which a process is of."""

import pytest

from campaigns.kinds.registry import families
from campaigns.targets.watches.base import Group
from campaigns.targets.watches.catalog import OTHERS
from campaigns.targets.watches.groups import (
    BadGroups,
    Groups,
    check_groups,
    default_groups,
    format_groups,
    parse_groups,
)

WORKER = r"/system.slice/system-pulpcore\x2dworker.slice/pulpcore-worker@1.service"


def test_a_text_and_its_groups():
    text = "# those of the web\nweb: nginx*, httpd.service\n\n jobs :worker\n"
    groups = parse_groups(text)
    assert groups == (Group("web", ("nginx*", "httpd.service")), Group("jobs", ("worker",)))
    assert format_groups(groups) == "web: nginx*, httpd.service\njobs: worker\n"
    assert parse_groups("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("web nginx", "Line 1 has no colon: write a group as “name: pattern, pattern”."),
        (": nginx", "Line 1: the group has no name."),
        ("web:", "Line 1: the group “web” has no pattern"),
        ("web: ,", "Line 1: the group “web” has no pattern"),
        ("a: b\na: c", "Line 2: there are two groups “a”"),
        ("others: x", "Line 1: “others” is the name of a group that perfdash adds"),
        ("perfdash: x", "“perfdash” is the name of a group that perfdash adds"),
        ("x" * 41 + ": y", "a name has at most 40 letters"),
        ("a: " + "x" * 101, "longer than 100 letters"),
        ("a: " + ",".join(map(str, range(21))), "more than 20 patterns"),
        ("".join(f"g{n}: x\n" for n in range(31)), "There are 31 groups; at most 30 are possible."),
    ],
)
def test_a_wrong_text_says_what_is_wrong(text, message):
    with pytest.raises(BadGroups) as error:
        parse_groups(text)
    assert message in str(error.value)


def test_every_mistake_is_told_at_once():
    with pytest.raises(BadGroups) as error:
        parse_groups("a\nb:\nc: d")
    assert len(error.value.messages) == 2


@pytest.mark.parametrize("family", families())
def test_the_usual_groups_can_be_edited(family):
    groups = default_groups(family)
    check_groups(groups)
    assert parse_groups(format_groups(groups)) == groups


@pytest.mark.parametrize(
    ("family", "cgroup", "comm", "word", "group"),
    [
        ("katello", "/system.slice/foreman.service", "rails", "puma:", "puma"),
        ("katello", "/system.slice/foreman-proxy.service", "ruby", "ruby", "foreman-proxy"),
        ("katello", r"/system.slice/system-dynflow\x2dsidekiq.slice/dynflow-sidekiq@worker.service", "ruby", "x", "sidekiq"),
        ("katello", WORKER, "python3", "", "pulp workers"),
        ("katello", "/system.slice/tomcat.service", "java", "java", "tomcat"),
        ("katello", "/user.slice/user-0.slice/session-1.scope", "java", "java", "tomcat"),
        ("pulp", WORKER, "postgres", "postgres:", "pulp workers"),  # the cgroup decides
        ("pulp", "/", "postgres", "", "postgres"),
        ("pulp", "/docker/0123", "python3", "/usr/bin/pulpcore-content", "pulp content"),
        ("pulp", "/docker/0123", "pulpcore-conten", "python3", "pulp content"),
        ("pulp", "/machine.slice/libpod-1.scope/system.slice/nginx.service", "x", "", "web server"),
        ("pulp", "/system.slice/cron.service", "cron", "/usr/sbin/cron", OTHERS),
        ("http", "/user.slice/user-1.slice/user@1.service/app.slice/haproxy.service", "x", "", "balancer"),
        ("machine", "/system.slice/nginx.service", "nginx", "nginx", OTHERS),
    ],
)  # fmt: skip
def test_the_group_of_a_process(family, cgroup, comm, word, group):
    assert Groups(default_groups(family)).of(cgroup, comm, word) == group


def test_the_first_group_counts_and_letters_are_what_they_are():
    groups = Groups([Group("a", ("x[*]", "X")), Group("b", ("x*",)), Group("c", ("x",))])
    assert [groups.of("", comm, "") for comm in ("x", "x*", "X", "xy", "")] == ["b", "a", "a", "b", OTHERS]  # fmt: skip
