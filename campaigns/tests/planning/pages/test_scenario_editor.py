"""The editor of a scenario in the campaign form: messages by line, requests from a file, and a try with one host."""

import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from campaigns.kinds.http.program import reading
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kit import encryption
from campaigns.models import Target
from campaigns.tests.browsing import Page
from campaigns.tests.kinds.http.api import PASSWORD, TOKEN, USER, running_api
from campaigns.tests.kinds.http.recordings import SECRETS, SIGN_IN

pytestmark = pytest.mark.django_db

FILES = Path(__file__).parents[2] / "kinds/http/files"
NEW, PLAN = "/campaigns/new/", "/campaigns/plan/"
SCENARIO = """\
steps:
  - name: sign in
    post: /sign-in
    form: {user: "{target_user}", password: "{target_password}"}
    take: {token: {json: token}}
  - name: wrong
    get: /items
    headers: {Authorization: "Bearer {token}"}
    expect: {json: {count: 4}}
"""


@pytest.fixture
def server():
    with running_api() as running:
        yield running


@pytest.fixture
def sent(target, server, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    Target.objects.filter(pk=target.pk).update(
        family="http",
        base_url=server.base_url,
        username=USER,
        password=encryption.encrypt(PASSWORD),
    )
    return {"kind": "http", "target": str(target.pk), "p-scenario": SCENARIO, "p-hosts": "3"}


def test_a_try_shows_each_request_and_answer_and_no_secret(browser, sent, server):
    answer = browser.post(NEW, sent | {"act": "scenario-try"})
    page = Page(answer)

    assert answer.status_code == 200
    assert "step “wrong” failed" in page.text
    assert "wrong: count is 3, expected 4" in page.text
    assert "POST /sign-in HTTP/1.1" in page.text
    assert "Of the answer only the status is shown" in page.text
    html = answer.content.decode()
    assert PASSWORD not in html
    assert TOKEN not in html
    assert server.asked[1].headers["Authorization"] == f"Bearer {TOKEN}"


def test_a_wrong_scenario_shows_the_line_and_asks_nothing(browser, sent, server):
    wrong = sent | {"p-scenario": SCENARIO.replace('{token}"', '{tokn}"')}

    tried = Page(browser.post(NEW, wrong | {"act": "scenario-try"}))
    typed = Page(browser.post(PLAN, wrong))
    saved = Page(browser.post(NEW, wrong | {"act": "save", "question": "How fast?"}))

    assert "Nothing was saved" in saved.text
    for page in (tried, typed, saved):
        assert page.text.count("Line 8, step 2 “wrong”: the name {tokn}") == 1
        assert '8 headers: {Authorization: "Bearer {tokn}"}' in " ".join(page.text.split())
    assert server.asked == []


@pytest.mark.parametrize(
    "name", ["openapi-pulp-href.json", "har-utf16.har", "curl-windows-cmd.txt"]
)
def test_no_page_shows_a_mark_of_what_was_read(browser, sent, name):
    file = SimpleUploadedFile(name, (FILES / name).read_bytes())

    answer = browser.post(NEW, sent | {"act": "scenario-import", "import-file": file})
    page = Page(answer)

    assert answer.status_code == 200
    assert not re.search("[\ue000-\uf8ff]", answer.content.decode())
    if name.startswith("openapi"):
        assert "4 requests" in page.text
        assert "GET {file_file_remote_href}" in page.text
        assert "other hosts" not in page.text
    if name.startswith("curl"):
        assert "Copy as cURL (bash)” in the browser, and paste that." in page.text


def test_all_requests_of_a_pulp_become_a_scenario(browser, sent):
    file = SimpleUploadedFile("api.json", (FILES / "openapi-pulp-href.json").read_bytes())
    page = Page(browser.post(NEW, sent | {"act": "scenario-import", "import-file": file}))
    stored = page.named("import-sketch")[0]["value"]

    written = Page(
        browser.post(
            NEW,
            sent
            | {
                "act": "scenario-write",
                "import-sketch": stored,
                "import-step": ["0", "1", "2", "3"],
            },
        )
    )

    assert "get: '{file_file_remote_href}'" in written.text


@pytest.mark.parametrize(
    ("rows", "name", "message"),
    [
        (10_000, "usr", "Line 151, step 50 “step 49”: the name {usr} in json is not known here."),
        (20_000, "user", "The data have 20,000 rows; give 1 to 10,000."),
    ],
)
def test_the_largest_scenario_is_read_once_by_a_form_that_refuses_it(
    browser, sent, server, monkeypatch, rows, name, message
):
    read = Mock(wraps=reading._read)
    monkeypatch.setattr(reading, "_read", read)
    steps = [
        f"  - name: step {number}\n    post: /items/{{host}}\n    json: {{u: '{'x' * 3000}'}}\n"
        for number in range(50)
    ]
    text = "steps:\n" + "".join(steps)[:-3] + f"{{{name}}}'}}\n"
    data = "user,size\n" + "".join(f"user-{row},{row}\n" for row in range(rows))

    answer = browser.post(
        NEW, sent | {"p-scenario": text, "p-data": data, "act": "save", "question": "How fast?"}
    )

    assert answer.status_code == 422
    assert message in Page(answer).text
    assert read.call_count == 1


def test_a_file_is_shown_and_what_is_ticked_becomes_the_scenario(browser, sent):
    file = SimpleUploadedFile("sign-in.har", SIGN_IN)
    shown = browser.post(NEW, sent | {"act": "scenario-import", "import-file": file})
    page = Page(shown)

    assert [field["value"] for field in page.named("import-step") if "checked" in field] == [
        "0",
        "2",
        "3",
        "4",
    ]
    assert "form field “password” of “post sign-in”" in page.text
    sketch = page.named("import-sketch")[0]["value"]
    for secret in SECRETS:
        assert secret not in shown.content.decode()

    ticked = {
        "import-sketch": sketch,
        "import-step": ["2", "3"],
        "import-offer": ["1"],
        "act": "scenario-write",
    }
    written = browser.post(NEW, sent | ticked)

    text = written.context["editor"] and written.context["form"].parameters.fitting[0].value
    scenario = read_scenario(text).scenario
    assert [step.name for step in scenario.steps] == ["post sign-in", "get items"]
    assert scenario.steps[1].headers["Authorization"] == "Bearer {token}"
    assert "The scenario was written from the file." in Page(written).text


@pytest.mark.parametrize(("ticked", "name"), [(True, "anna-{attempt}-{number}"), (False, "anna")])
def test_what_is_created_gets_a_new_name_unless_that_is_unticked(browser, sent, ticked, name):
    text = 'curl https://api.example.org/users --json \'{"name": "anna"}\''
    shown = Page(browser.post(NEW, sent | {"act": "scenario-import", "import-text": text}))
    assert "with new names for what is created" in shown.text
    send = {
        "import-sketch": shown.named("import-sketch")[0]["value"],
        "import-step": ["0"],
        "act": "scenario-write",
        **({"import-new": "on"} if ticked else {}),
    }

    written = browser.post(NEW, sent | send)

    text = written.context["form"].parameters.fitting[0].value
    assert read_scenario(text).scenario.steps[0].json == {"name": name}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"act": "scenario-import"}, "Choose a file, or paste curl commands."),
        ({"act": "scenario-import", "import-text": "wget http://a"}, "another program than curl"),
        ({"act": "scenario-write"}, "Read the file again"),
        ({"act": "scenario-write", "import-sketch": "{"}, "Read the file again"),
        ({"act": "scenario-write", "import-sketch": '{"format": 5}'}, "Read the file again"),
        (
            {
                "act": "scenario-write",
                "import-step": "0",
                "import-sketch": '{"format": "HAR", "proposals": [{"line": "", "step": {"headers": [7], "get": 5}}]}',
            },
            "Read the file again",
        ),
        (
            {"act": "scenario-write", "import-sketch": '{"format": "HAR", "proposals": []}'},
            "tick at least one",
        ),
        ({"act": "scenario-try", "target": ""}, "Choose a target first."),
        ({"act": "scenario-try", "p-data": "a,a"}, "Nothing was sent"),
        (
            {"act": "scenario-try", "vary-scenario": "on", "levels-scenario": "steps: 5"},
            "Nothing was sent",
        ),
    ],
)
def test_what_cannot_be_done_is_said(browser, sent, server, changes, message):
    answer = browser.post(NEW, sent | changes)

    assert answer.status_code == 200
    assert message in Page(answer).text
    assert changes.get("import-text", "") in Page(answer).text  # what was pasted is not lost
    assert server.asked == []


def test_scenarios_as_levels_are_separated_by_a_line(browser, sent):
    two = [SCENARIO.strip(), "steps: [{name: a, get: /}]"]
    levels = {
        "vary-scenario": "on",
        "levels-scenario": "\n---\n".join(two).replace("\n", "\r\n"),
    }

    answer = browser.post(NEW, sent | levels | {"act": "preview"})

    row = answer.context["form"].parameters.fitting[0]
    assert not row.errors
    assert row.levels.value() == "\n---\n".join(two)
