"""REST resources of watches, groups and links."""

import pytest

from campaigns.models import Watch
from campaigns.targets.watches import trying
from campaigns.tests.targets.watches.toy_source import WatchFailed, toy_sources

__all__ = ["toy_sources"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("toy_sources")]

SENT = {
    "source": "toy",
    "address": "db.example:5432",
    "username": "watcher",
    "password": "seven-times",
    "options": {"database": "pulp"},
}


@pytest.fixture(autouse=True)
def _allowed(settings, monkeypatch):
    settings.ALLOWED_ADDRESSES = "*.example:*, 127.0.0.1:8099"
    monkeypatch.setattr(trying, "LEAST_SECONDS", 0.0)


def test_a_watch_by_rest(api, target):
    path = f"targets/{target.pk}/watches"
    _, sources = api.get("watch-sources")
    assert [each["name"] for each in sources["results"]] == ["toy", "toy_ssh"]
    status, body = api.post(path, SENT)
    assert status == 201, body
    assert body["has_password"]
    assert body["step_seconds"] == 0.5
    assert "seven-times" not in str(body)
    one = f"{path}/{body['id']}"
    _, changed = api.patch(one, {"options": {"deep": True}})
    assert changed["options"] == {"database": "pulp", "deep": True}
    assert changed["has_password"]
    _, tried = api.post(f"{one}/try", {})
    assert tried["failure"] == ""
    assert tried["groups"] == [
        {"name": "web", "cores": 0.5, "memory_bytes": 2e9, "processes": None}
    ]
    assert len(api.get(path)[1]["results"]) == 1
    assert api.delete(one)[0] == 204
    assert not Watch.objects.exists()


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"source": "gone"}, "source", "There is no source “gone”; there are toy, toy_ssh."),
        ({"options": {"depth": 1}}, "options", "there are database, deep"),
        ({"options": [1]}, "options", "dictionary"),
        ({"key": "x"}, "key", "Toy takes none."),
        ({"address": 7}, "address", "is no address"),
        ({"step_seconds": "often"}, "step_seconds", "number"),
        ({"step_seconds": 1e9}, "step_seconds", "60"),
        ({"surprise": 1}, "surprise", "There is no field of that name"),
    ],
)
def test_bad_input_names_its_field(api, target, change, field, message):
    status, body = api.post(f"targets/{target.pk}/watches", SENT | change)
    assert status == 400, body
    assert message in str([each for each in body["errors"] if each["field"].startswith(field)])


def test_groups_and_links_of_a_target(api, target):
    path = f"targets/{target.pk}"
    assert api.get(path)[1]["process_groups"] is None
    groups = [{"name": "web", "patterns": ["httpd*", "puma.service"]}]
    links = [{"title": "Grafana", "url": "https://grafana.example/d/a?from={from}&to={to}"}]
    _, body = api.patch(path, {"process_groups": groups, "links": links})
    assert (body["process_groups"], body["links"]) == (groups, links)
    assert api.patch(path, {"notes": "x"})[1]["links"] == links
    assert api.patch(path, {"process_groups": None})[1]["process_groups"] is None


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"links": [{"title": "x", "url": "javascript://a/{from}"}]}, "must begin with http"),
        ({"links": [{"title": "x", "url": "https://{target}/"}]}, "cannot hold"),
        ({"links": [{"title": "x", "url": "https://a/{now}"}]}, "there are {from}"),
        ({"links": [{"title": "x", "url": "https://u:p@a/"}]}, "user name or password"),
        ({"links": [{"title": "x"}]}, "required"),
        ({"links": "x"}, "list"),
        ({"process_groups": [{"name": "others", "patterns": ["*"]}]}, "a group that perfdash adds"),
        ({"process_groups": [{"name": "a", "patterns": []}]}, "has no pattern"),
        (
            {"process_groups": [{"name": "a", "patterns": ["x"]}] * 2},
            "there are two groups “a”",
        ),
    ],
)
def test_bad_groups_and_links(api, target, sent, message):
    status, body = api.patch(f"targets/{target.pk}", sent)
    assert status == 400, body
    assert message in str(body)


def test_what_is_known_to_happen_on_the_target(api, target, toy_sources):
    path = f"targets/{target.pk}/expected-events"
    api.post(f"targets/{target.pk}/watches", SENT)  # knows nothing of timers
    assert api.get(path)[1] == {"events": [], "failures": [], "more": 0}
    login = {
        "source": "toy_ssh",
        "address": "db.example:22",
        "username": "watcher",
        "password": "x",
    }
    assert api.post(f"targets/{target.pk}/watches", login)[0] == 201
    _, body = api.get(path, seconds=600)
    (event,) = body["events"]
    assert (event["text"], round(event["in_seconds"])) == ("dnf-makecache.timer", 60)
    toy_sources["toy_ssh"].failure = WatchFailed("Connection refused.")
    assert api.get(path)[1]["failures"] == [f"{target.name}: Connection refused."]
    assert api.get(path, seconds=0)[0] == 400
