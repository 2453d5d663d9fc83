import pytest

from sandbox.tests.pulp.client import Document, Pulp

REMOTES, REPOSITORIES = "remotes/file/file/", "repositories/file/file/"
NOWHERE = "00000000-0000-7000-8000-000000000000"
REQUIRED = ["This field is required."]
NO_MATCH = ["Invalid hyperlink - No URL match."]
NUMBERS = ("max_retries", "total_timeout", "connect_timeout", "sock_connect_timeout",
           "sock_read_timeout", "download_concurrency", "rate_limit")  # fmt: skip


def test_a_remote_reads_back_null_where_defaults_hold(pulp: Pulp) -> None:
    remote = pulp.get(pulp.remote("http://127.0.0.1:1/PULP_MANIFEST"))

    assert remote["policy"] == "immediate"
    assert remote["tls_validation"] is True
    assert [remote[name] for name in NUMBERS] == [None] * len(NUMBERS)
    assert "password" not in remote
    assert {"name": "password", "is_set": False} in remote["hidden_fields"]


def test_a_remote_reads_back_what_was_sent(pulp: Pulp) -> None:
    sent = {
        "download_concurrency": 3, "rate_limit": 7, "max_retries": 1, "sock_read_timeout": 2.5,
        "policy": "on_demand",
    }  # fmt: skip

    remote = pulp.get(pulp.remote("not a url", password="secret", **sent))  # noqa: S106

    assert {name: remote[name] for name in sent} == sent
    assert remote["url"] == "not a url"
    assert {"name": "password", "is_set": True} in remote["hidden_fields"]


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, {"name": REQUIRED, "url": REQUIRED}),
        (
            {"name": "", "url": None, "policy": "nope"},
            {
                "name": ["This field may not be blank."],
                "url": ["This field may not be null."],
                "policy": ['"nope" is not a valid choice.'],
            },
        ),
        (
            {"name": "n", "url": "u", "download_concurrency": 0, "rate_limit": "x"},
            {
                "download_concurrency": ["Ensure this value is greater than or equal to 1."],
                "rate_limit": ["A valid integer is required."],
            },
        ),
        (
            {"name": "n", "url": "u", "total_timeout": -1, "connect_timeout": "x"},
            {
                "total_timeout": ["Ensure this value is greater than or equal to 0.0."],
                "connect_timeout": ["A valid number is required."],
            },
        ),
        (
            {"name": ["n"], "url": True, "tls_validation": "maybe", "headers": "x"},
            {
                "name": ["Not a valid string."],
                "url": ["Not a valid string."],
                "tls_validation": ["Must be a valid boolean."],
                "headers": ['Expected a list of items but got type "str".'],
            },
        ),
        ({"name": "n", "url": "u", "nonsense": 1}, {"nonsense": ["Unexpected field"]}),
        ([1], {"non_field_errors": ["Invalid data. Expected a dictionary, but got list."]}),
    ],
)
def test_a_bad_remote_is_refused_with_each_field_named(
    pulp: Pulp, body: object, problems: Document
) -> None:
    answer = pulp.ask("POST", REMOTES, body)

    assert (answer.status_code, answer.json()) == (400, problems)


def test_retries_below_none_break_pulp(pulp: Pulp) -> None:
    answer = pulp.ask("POST", REMOTES, {"name": pulp.name(), "url": "u", "max_retries": -1})

    assert answer.status_code == 500
    assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", [REMOTES, REPOSITORIES])
def test_a_name_is_had_once(pulp: Pulp, path: str) -> None:
    body = {"name": pulp.name()} | ({"url": "u"} if path == REMOTES else {})
    assert pulp.ask("POST", path, body).status_code == 201

    answer = pulp.ask("POST", path, body)

    assert (answer.status_code, answer.json()) == (400, {"name": ["This field must be unique."]})


@pytest.mark.parametrize(
    ("remote", "problem"),
    [
        ("x", NO_MATCH),
        (f"/pulp/api/v3/{REMOTES}{NOWHERE}/", ["Invalid hyperlink - Object does not exist."]),
    ],
)
def test_a_remote_that_is_not_there_is_refused(
    pulp: Pulp, remote: object, problem: list[str]
) -> None:
    answer = pulp.ask("POST", REPOSITORIES, {"name": pulp.name(), "remote": remote})

    assert (answer.status_code, answer.json()) == (400, {"remote": problem})


def test_a_number_for_a_remote_breaks_pulp(pulp: Pulp) -> None:
    answer = pulp.ask("POST", REPOSITORIES, {"name": pulp.name(), "remote": 3})

    assert answer.status_code == 500


def test_a_change_is_a_task_and_reads_back(pulp: Pulp) -> None:
    remote = pulp.remote("u")

    task = pulp.done(pulp.task("PATCH", remote, {"download_concurrency": 3}))

    assert (task["state"], task["name"]) == ("completed", "pulpcore.app.tasks.base.ageneral_update")
    assert pulp.get(remote)["download_concurrency"] == 3


def test_a_bad_change_is_refused_at_once(pulp: Pulp) -> None:
    answer = pulp.ask("PATCH", pulp.remote("u"), {"download_concurrency": 0})

    problem = ["Ensure this value is greater than or equal to 1."]
    assert (answer.status_code, answer.json()) == (400, {"download_concurrency": problem})


@pytest.mark.parametrize("kind", ["remote", "repository"])
def test_a_deletion_is_a_task(pulp: Pulp, kind: str) -> None:
    href = pulp.remote("u") if kind == "remote" else pulp.repository()

    task = pulp.done(pulp.task("DELETE", href))

    model = f"File{kind.title()}"
    answer = pulp.ask("GET", href)
    assert task["state"] == "completed"
    assert answer.status_code == 404
    assert answer.json() == {"detail": f"No {model} matches the given query."}


@pytest.mark.parametrize("path", ["nothing/", "remotes/nothing/nothing/", "/", "/elsewhere/"])
def test_an_unknown_path_is_answered_with_a_page(pulp: Pulp, path: str) -> None:
    answer = pulp.ask("GET", path)

    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "status/"), ("POST", "tasks/"), ("GET", "orphans/cleanup/"), ("GET", "tasks/purge/")],
)
def test_a_method_that_is_not_there_is_refused(pulp: Pulp, method: str, path: str) -> None:
    answer = pulp.ask(method, path)

    detail = f'Method "{method}" not allowed.'
    assert (answer.status_code, answer.json()) == (405, {"detail": detail})


def test_lists_count_and_come_in_pages(pulp: Pulp) -> None:
    hrefs = [pulp.remote("u") for _ in range(3)]
    ours = {"name__startswith": pulp.prefix}

    first = pulp.get(REMOTES, limit=2, **ours)
    second = pulp.get(REMOTES, limit=2, offset=2, fields="pulp_href", **ours)

    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    assert "limit=2" in first["next"]
    assert "offset=2" in first["next"]
    assert second["next"] is None
    assert second["results"] == [{"pulp_href": hrefs[0]}]


@pytest.mark.parametrize("kind", ["remotes", "repositories", "publications", "distributions"])
def test_a_kind_is_listed_over_all_plugins(pulp: Pulp, kind: str) -> None:
    assert pulp.get(f"{kind}/", limit=1).keys() == {"count", "next", "previous", "results"}


@pytest.mark.parametrize(
    ("query", "problems"),
    [
        ("nonsense=1", {"errors": ["Invalid Filter: 'nonsense'"]}),
        (
            "state=bogus",
            {"state": ["Select a valid choice. bogus is not one of the available choices."]},
        ),
    ],
)
def test_a_bad_filter_is_refused(pulp: Pulp, query: str, problems: Document) -> None:
    answer = pulp.ask("GET", f"tasks/?{query}")

    assert (answer.status_code, answer.json()) == (400, problems)


def test_a_body_that_is_not_json_is_refused(pulp: Pulp) -> None:
    answer = pulp.ask("POST", REMOTES, data="{bad", headers={"Content-Type": "application/json"})

    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("JSON parse error - ")


def test_a_path_without_its_slash_is_redirected(pulp: Pulp) -> None:
    answer = pulp.ask("GET", "tasks")

    assert (answer.status_code, answer.headers["Location"]) == (301, "/pulp/api/v3/tasks/")
