import pytest

from sandbox.tests.pulp.client import Pulp

ANONYMOUS = {"detail": "Authentication credentials were not provided."}
WRONG = {"detail": "Invalid username/password."}


@pytest.mark.parametrize("auth", [None, ("nobody", "wrong")])
def test_status_asks_for_no_password_and_looks_at_none(
    pulp: Pulp, auth: tuple[str, str] | None
) -> None:
    pulp.forget()

    answer = pulp.ask("GET", "status/", auth=auth)

    status = answer.json()
    assert answer.status_code == 200
    assert {"core", "file"} <= {each["component"] for each in status["versions"]}
    assert status["online_workers"]
    assert status["database_connection"] == {"connected": True}
    assert status["storage"].keys() == {"total", "used", "free"}


def test_a_login_gives_the_cookies_of_a_session(pulp: Pulp) -> None:
    answer = pulp.log_in()

    assert answer.status_code == 201
    assert {"sessionid", "csrftoken"} <= set(answer.cookies.keys())
    assert answer.json()["username"] == pulp.credentials[0]
    assert pulp.ask("GET", "tasks/?limit=1").status_code == 200


@pytest.mark.parametrize("path", ["login/", "tasks/", "remotes/file/file/"])
def test_without_a_password_the_answer_is_401(pulp: Pulp, path: str) -> None:
    pulp.forget()

    answer = pulp.ask("GET", path)

    assert (answer.status_code, answer.json()) == (401, ANONYMOUS)
    assert answer.headers["WWW-Authenticate"] == 'Basic realm="api"'


@pytest.mark.parametrize(("method", "path"), [("POST", "login/"), ("GET", "tasks/")])
def test_with_a_wrong_password_the_answer_is_401(pulp: Pulp, method: str, path: str) -> None:
    pulp.forget()

    answer = pulp.ask(method, path, auth=(pulp.credentials[0], "wrong"))

    assert (answer.status_code, answer.json()) == (401, WRONG)


def test_a_session_that_is_over_is_nobody(pulp: Pulp) -> None:
    assert pulp.ask("DELETE", "login/").status_code == 204

    answer = pulp.ask("GET", "tasks/")

    assert (answer.status_code, answer.json()) == (401, ANONYMOUS)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (None, "CSRF token missing."),
        ("short", "CSRF token from the 'X-Csrftoken' HTTP header has incorrect length."),
        ("x" * 32, "CSRF token from the 'X-Csrftoken' HTTP header incorrect."),
    ],
)
def test_a_session_writes_with_its_token_only(pulp: Pulp, token: str | None, why: str) -> None:
    pulp.say(token)

    answer = pulp.ask("POST", "remotes/file/file/", {})

    assert (answer.status_code, answer.json()) == (403, {"detail": f"CSRF Failed: {why}"})
    assert pulp.ask("GET", "tasks/?limit=1").status_code == 200


def test_a_password_writes_without_a_token(pulp: Pulp) -> None:
    pulp.forget()

    answer = pulp.ask("POST", "remotes/file/file/", {}, auth=pulp.credentials)

    assert answer.status_code == 400
