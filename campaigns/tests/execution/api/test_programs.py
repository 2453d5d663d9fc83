"""Programs by REST and on their pages: drafts, versions, rights, what is refused."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.urls import reverse

from campaigns.accounts.access import make_token
from campaigns.kit import encryption
from campaigns.models import Program, Target, Team
from campaigns.models.teams import default_team
from campaigns.tests.people import join, somebody
from campaigns.tests.rest import ApiClient, api, own_rates, owner, target, token, toy
from campaigns.tests.toy import definition as toy_definition

__all__ = ["api", "own_rates", "owner", "target", "token", "toy"]
pytestmark = pytest.mark.django_db

SORT = {
    "name": "sort",
    "arguments": ["sh", "-c", 'seq "$1" | sort -n | tail -1', "sort", "{lines}"],
    "parameters": [{"name": "lines", "initial": 1000}],
}
READ = SORT | {"reader": "plain_values"}
LATENCY = [{"name": "latency", "unit": "s", "primary": True}]


def created(api, definition=SORT, **more):
    status, body = api.post("programs", {"definition": definition, **more})
    assert status == 201, body
    return body


@pytest.fixture
def other_team(db):
    return Team.objects.create(name="Others")


@pytest.fixture(autouse=True)
def nothing_is_sent(monkeypatch):
    sent = []
    monkeypatch.setattr("campaigns.execution.programs.send", lambda *what: sent.append(what))
    return sent


def test_a_draft_is_published_and_becomes_a_kind(api):
    row = created(api)
    assert (row["state"], row["kind"], row["version"]) == ("draft", None, 1)
    status, problem = api.post(f"programs/{row['id']}/retire")
    assert (status, "was never published" in problem["detail"]) == (409, True)
    status, row = api.post(f"programs/{row['id']}/publish", {})
    assert (status, row["state"]) == (200, "published"), row
    status, kind = api.get("kinds/sort")
    assert (status, kind["kind"], kind["factors"]) == (200, row["kind"], ["lines"])
    assert row["kind"] in {each["kind"] for each in api.get("kinds")[1]["results"]}
    status, same = api.put(f"programs/{row['id']}", {"definition": SORT})
    assert (status, same["version"], same["state"]) == (200, 2, "draft")
    status, problem = api.post(f"programs/{same['id']}/publish", {})
    assert (status, "same as version 1" in str(problem)) == (400, True)
    status, newer = api.put(f"programs/{row['id']}", {"definition": SORT | {"seconds": 5}})
    assert (status, newer["id"]) == (200, same["id"])
    assert api.post(f"programs/{newer['id']}/publish", {})[1]["state"] == "published"
    assert api.get(f"programs/{row['id']}")[1]["state"] == "superseded"
    assert api.delete(f"programs/{row['id']}")[0] == 409
    draft = api.put(f"programs/{row['id']}", {"definition": SORT})[1]
    status, back = api.post(f"programs/{draft['id']}/publish", {})
    assert (back["id"], back["version"], back["state"]) == (row["id"], 1, "published")
    assert api.get(f"programs/{newer['id']}")[1]["state"] == "superseded"
    assert api.get(f"programs/{draft['id']}")[0] == 404
    assert api.post(f"programs/{row['id']}/retire")[1]["state"] == "retired"


def test_a_version_is_not_replaced_by_another_definition_with_its_hash(api):
    """As if somebody had found one: a kind has 32 bits of the hash."""
    row = created(api)
    api.post(f"programs/{row['id']}/publish", {})
    newer = api.put(f"programs/{row['id']}", {"definition": SORT | {"seconds": 5}})[1]
    api.post(f"programs/{newer['id']}/publish", {})
    before = {**SORT, "summary": "What campaigns have run."}
    Program.objects.filter(pk=row["id"]).update(definition=before)
    draft = api.put(f"programs/{row['id']}", {"definition": SORT})[1]

    status, problem = api.post(f"programs/{draft['id']}/publish", {})

    assert (status, "Its hash is that of version 1" in str(problem)) == (400, True)
    assert Program.objects.get(pk=row["id"]).definition == before


def test_the_primary_metric_is_chosen_among_those_of_the_trial(api, nothing_is_sent):
    row = created(api, READ)
    status, problem = api.post(f"programs/{row['id']}/publish", {})
    assert (status, "try the program first" in str(problem)) == (400, True)
    status, row = api.post(f"programs/{row['id']}/try", {"parameters": {"lines": 5}})
    assert (status, row["trial_is_on"]) == (202, True)
    assert api.post(f"programs/{row['id']}/try", {})[0] == 409
    for begun in (Now() - timedelta(hours=1), Now() + timedelta(hours=1)):
        Program.objects.update(trial_began_at=begun)  # it died; the clock may have been set since
        assert api.post(f"programs/{row['id']}/try", {})[0] == 202
    found = {
        "name": "latency",
        "label": "latency",
        "unit": "s",
        "lower_is_better": True,
        "value": 1,
    }
    Program.objects.update(trial_began_at=None, trial={"metrics": [found], "failure": ""})
    status, problem = api.post(
        f"programs/{row['id']}/publish", {"metrics": [{"name": "speed", "primary": True}]}
    )
    assert "The trial found no “speed”; it found latency" in str(problem)
    status, row = api.post(f"programs/{row['id']}/publish", {"metrics": LATENCY})
    assert (status, row["definition"]["metrics"][0]["primary"]) == (200, True)


def test_secrets_are_never_returned(api):
    secret = SORT | {"secrets": ["key"], "environment": {"KEY_FILE": "{secret:key}"}}
    row = created(api, secret, secrets={"key": "correct horse battery"})
    assert row["has_secrets"] == ["key"]
    assert "correct horse" not in str(api.get("programs"))
    status, row = api.put(f"programs/{row['id']}", {"definition": secret | {"seconds": 9}})
    assert row["has_secrets"] == ["key"]
    status, problem = api.put(f"programs/{row['id']}", {"definition": SORT, "secrets": {"x": "y"}})
    assert (status, "names no secret" in str(problem)) == (400, True)
    status, problem = api.put(
        f"programs/{row['id']}", {"definition": secret, "secrets": {"key": "abc"}}
    )
    assert (status, "shorter than 6 letters" in str(problem)) == (400, True)


SENDS = SORT | {
    "arguments": ["send", "--lines={lines}", "--key={secret:key}"],
    "secrets": ["key"],
    "files": ["out"],
    "version": ["send", "--version"],
}
KEY = {"key": "correct horse battery"}


def stored_key(row):
    return encryption.decrypt(Program.objects.get(pk=row["id"]).secrets.get("key", ""))


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize(
    ("field", "changes"),
    [
        (
            "arguments",
            {"arguments": ["sh", "-c", 'rev "$1" "$2"', "sh", "{secret:key}", "{lines}"]},
        ),
        ("environment", {"environment": {"KEY": "{secret:key}"}}),
        ("version", {"version": ["cat", "secrets/key"]}),
        ("files", {"files": ["out", "pieces"]}),
        ("output", {"output": "out"}),
        ("reader", {"reader": "plain_values"}),
        ("where", {"where": "target"}),
        ("parameters", {"parameters": [{"name": "lines", "type": "text", "initial": "1"}]}),
        ("parameters", {"parameters": [{"name": "lines", "initial": 1000, "minimum": -5}]}),
    ],
)
def test_a_changed_program_does_not_get_the_secrets_of_the_former(
    api, settings, published, field, changes
):
    settings.OWNER_CONFIRMS = True
    row = created(api, SENDS, secrets=KEY)
    assert stored_key(row) == KEY["key"]
    if published:
        api.post(f"programs/{row['id']}/publish", {})
    status, draft = api.put(f"programs/{row['id']}", {"definition": SENDS | changes})
    assert (status, draft["has_secrets"]) == (200, []), draft
    (warning,) = draft["warnings"]
    assert f"“{field}” has changed, so the stored secret “key” was forgotten. Enter it" in warning
    status, problem = api.post(f"programs/{draft['id']}/publish", {})
    why = "try the program first" if field == "reader" else "“key” has no value"
    assert (status, why in str(problem)) == (400, True), problem
    entered = {"definition": SENDS | changes, "secrets": KEY}
    status, draft = api.put(f"programs/{row['id']}", entered)
    assert (draft["has_secrets"], draft["warnings"], stored_key(draft)) == (["key"], [], KEY["key"])
    if published:
        assert stored_key(row) == KEY["key"]  # its campaigns go on


def test_texts_limits_and_metrics_change_without_entering_the_secrets_again(api):
    row = created(api, SENDS | {"reader": "plain_values"}, secrets=KEY)
    changes = {
        "label": "Sends",
        "summary": "It sends.",
        "question": "How fast?",
        "families": ["http"],
        "metrics": LATENCY,
        "seconds": 5,
        "memory_mib": 9,
        "output_bytes": 2000,
        "secrets": ["key", "other"],
        "parameters": [{"name": "lines", "initial": 7, "label": "Lines", "role": "work"}],
    }
    definition = SENDS | {"reader": "plain_values"} | changes
    status, row = api.put(f"programs/{row['id']}", {"definition": definition})
    assert (status, row["has_secrets"], row["warnings"]) == (200, ["key"], []), row


def test_a_version_that_comes_back_gets_no_secret_of_another_command(api):
    first = created(api, SENDS, secrets=KEY)
    api.post(f"programs/{first['id']}/publish", {})
    other = SENDS | {"arguments": ["send", "{lines}", "{secret:key}"]}
    second = {"definition": other, "secrets": {"key": "another horse"}}
    second = api.put(f"programs/{first['id']}", second)[1]
    api.post(f"programs/{second['id']}/publish", {})
    draft = api.put(f"programs/{second['id']}", {"definition": SENDS})[1]
    status, problem = api.post(f"programs/{draft['id']}/publish", {})
    assert (status, "“key” has no value" in str(problem)) == (400, True)
    assert stored_key(first) == KEY["key"]
    again = {"definition": SENDS, "secrets": {"key": "typed again"}}
    draft = api.put(f"programs/{second['id']}", again)[1]
    status, back = api.post(f"programs/{draft['id']}/publish", {})
    assert (status, back["id"], stored_key(first)) == (200, first["id"], "typed again")


def test_the_page_says_that_secrets_were_forgotten(client, db):
    client.force_login(somebody("operator", "operator"))
    text = (
        "name: hello\narguments: [{}, '{{secret:key}}', '{{secret:more}}']\nsecrets: [key, more]\n"
    )
    values = {"secrets": "key=correct horse\nmore=battery staple"}
    client.post(reverse("program-new"), {"definition": text.format("cat"), **values})
    row = Program.objects.get()
    page = client.get(reverse("program", args=[row.pk])).content.decode()
    assert "Without a value" not in page
    edit = reverse("program-edit", args=[row.pk])
    answer = client.post(edit, {"definition": text.format("rev")}, follow=True)
    page = " ".join(answer.content.decode().split())
    assert "“arguments” has changed, so the stored secrets “key”, “more” were forgotten" in page
    assert "Enter them again." in page
    assert "Without a value: key, more." in page


def test_a_program_of_another_team_is_no_kind_here(api, other_team, settings):
    settings.WORKER_PROGRAMS = "operators"
    row = Program.objects.create(
        team=other_team,
        name="othershammer",
        kind="othershammer-12345678",
        state="published",
        definition={"name": "othershammer", "arguments": ["true"]},
    )
    for name in ("othershammer", row.kind):
        for path in ("kinds/{}", "kinds/{}/schema"):
            assert in_words_of_none(api.get(path.format(name)), name) == in_words_of_none(
                api.get(path.format("nothing")), "nothing"
            )
    assert "othershammer" not in str(api.get("kinds")[1]["results"])
    status, problem = api.get("kinds/nothing")
    assert (status, "othershammer" in str(problem)) == (404, False)
    status, problem = api.post("programs", {"definition": SORT | {"name": "othershammer"}})
    assert (status, "of another team" in str(problem)) == (400, True)


def in_words_of_none(answer, name):
    """An answer without the name that was asked for, and without what differs every time."""
    status, body = answer
    told = {key: value for key, value in body.items() if key not in ("instance", "request_id")}
    return status, str(told).replace(name, "?")


@pytest.mark.parametrize("member_of_one", [True, False])
def test_a_definition_with_a_program_of_another_team_is_answered_as_one_with_none(
    api, owner, other_team, target, member_of_one
):
    row = Program.objects.create(
        team=other_team,
        name="theirs",
        kind="theirs-12345678",
        state="published",
        definition={
            "name": "theirs",
            "label": "Hidden label",
            "arguments": ["true", "{way}"],
            "parameters": [{"name": "way", "initial": 7}],
        },
    )
    mine = api.post("campaigns", toy_definition(target=target.pk))[1]["id"]
    requests = [
        (api.post, "campaigns/preview"),
        (api.post, "campaigns"),
        (api.put, f"campaigns/{mine}"),
        (api.patch, f"campaigns/{mine}"),
        (api.post, f"campaigns/{mine}/clone"),
    ]
    if not member_of_one:
        join(owner, "viewer", team=other_team)
    for send, path in requests:
        for kind in ("theirs", row.kind):
            body = {"question": "Whose?", "target": target.pk, "factors": {}, "parameters": {}}
            answer = send(path, body | {"kind": kind})
            of_none = in_words_of_none(send(path, body | {"kind": "nothing"}), "nothing")
            assert answer[0] == 400, (path, answer)
            assert (in_words_of_none(answer, kind) == of_none) is member_of_one, (path, answer)
            assert ("program of the team Others" in str(answer)) is not member_of_one


@pytest.mark.parametrize(
    ("definition", "path"),
    [
        ("sort", "definition"),
        ({"name": "sort"}, "definition"),
        (SORT | {"arguments": ["sort"]}, "definition.parameters"),
        (SORT | {"seconds": "long"}, "definition.seconds"),
        (SORT | {"mapping": {"metrics": {}}}, "definition.mapping"),
        (SORT | {"reader": "plain_csv", "mapping": {"metrics": 7}}, "definition.mapping"),
    ],
)
def test_what_is_refused_has_its_path(api, definition, path):
    status, problem = api.post("programs", {"definition": definition})
    assert (status, [each["field"] for each in problem["errors"]]) == (400, [path])


def test_authors_define_nothing_and_operators_nothing_on_targets(db):
    for role, status in (("author", 403), ("operator", 201)):
        mine = ApiClient(make_token(somebody(role, role), role)[1])
        assert mine.post("programs", {"definition": SORT | {"name": role}})[0] == status
    there = {"definition": SORT | {"name": "there", "where": "target"}}
    status, problem = mine.post("programs", there)
    assert (status, "only an administrator" in problem["detail"]) == (403, True)
    admin = ApiClient(make_token(User.objects.create_superuser("admin"), "admin")[1])
    assert admin.post("programs", there | {"team": "Default team"})[0] in (201, 400)


@pytest.mark.parametrize(
    ("policy", "service", "operator", "admin"),
    [
        ("by teams", "", 403, 201),
        ("by teams", "/socket", 201, 201),
        ("operators", "", 201, 201),
        ("administrators", "/socket", 403, 201),
        ("off", "", 403, 403),
    ],
)
def test_who_defines_programs_on_workers_beside_secrets_of_other_teams(
    settings, client, db, policy, service, operator, admin
):
    Team.objects.create(name="Others")
    settings.WORKER_PROGRAMS, settings.PROGRAM_SERVICE = policy, service
    person = somebody("operator", "operator")
    mine = ApiClient(make_token(person, "operator")[1])
    theirs = ApiClient(make_token(User.objects.create_superuser("admin"), "admin")[1])
    body = {"definition": SORT, "team": default_team()}
    status, problem = mine.post("programs", body)
    assert (status, "PERFDASH_WORKER_PROGRAMS" in problem.get("detail", "")) == (
        operator,
        operator == 403,
    )
    client.force_login(person)
    shown = client.get(reverse("program-list")).content
    assert (b"PERFDASH_WORKER_PROGRAMS" in shown) == (operator == 403)
    body["definition"] = SORT | {"name": "second"}
    assert theirs.post("programs", body)[0] == admin


def test_an_operator_neither_tries_nor_publishes_what_only_an_administrator_defines(api, settings):
    draft = api.post("programs", {"definition": SORT})[1]["id"]
    settings.WORKER_PROGRAMS, settings.OWNER_CONFIRMS = "administrators", False
    assert api.post(f"programs/{draft}/try", {})[0] == 403
    assert api.post(f"programs/{draft}/publish", {})[0] == 403
    assert Program.objects.get().trial is None


def test_the_pages(client, db):
    client.force_login(somebody("operator", "operator"))
    assert b"None yet" in client.get(reverse("program-list")).content
    page = client.get(reverse("program-new"))
    assert b"my-program" in page.content
    for text, message in (
        ("name: [", b"Nothing was saved"),
        ("name: &a x\narguments: [*a]", b"without aliases"),
        ("name: x\narguments: ['{y}']", b"no parameter"),
    ):
        answer = client.post(reverse("program-new"), {"definition": text})
        assert (answer.status_code, message in answer.content) == (422, True)
    text = "name: hello\narguments: [echo, hello]\n"
    answer = client.post(reverse("program-new"), {"definition": text}, follow=True)
    row = Program.objects.get()
    assert b"saved as a draft" in answer.content
    answer = client.post(reverse("program-try", args=[row.pk]), follow=True)
    assert b"The trial has started" in answer.content
    Program.objects.update(
        trial_began_at=None,
        trial={"failure": "", "arguments": ["echo"], "seconds": 0.1, "exit_status": 0},
    )
    assert b"Publish version 1" in client.get(reverse("program", args=[row.pk])).content
    answer = client.post(reverse("program-publish", args=[row.pk]), follow=True)
    assert b"is in use" in answer.content
    row.refresh_from_db()
    form = client.get(reverse("campaign-new") + f"?kind={row.kind}")
    assert b"hello" in form.content
    answer = client.post(reverse("program-retire", args=[row.pk]), follow=True)
    assert b"is retired" in answer.content


def marked(target, changes):
    Target.objects.filter(pk=target.pk).update(**changes)


def twin(target, changes):
    """Another target of the same server has the mark."""
    Target.objects.create(
        name="twin", family="http", base_url=target.base_url, address=target.address, **changes
    )


@pytest.mark.parametrize("mark", [marked, twin])
def test_a_program_is_not_tried_at_a_production_server(api, target, nothing_is_sent, mark):
    row = created(api)
    mark(target, {"is_production": True})

    status, problem = api.post(f"programs/{row['id']}/try", {"target": target.pk})

    assert (status, nothing_is_sent) == (400, [])
    assert "is a production server" in problem["errors"][0]["message"]
    assert Program.objects.get(pk=row["id"]).trial_began_at is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"retired_at": datetime(2026, 1, 1, tzinfo=UTC)}, "of the program's own team"),
        ({"quiet_hours": "00:00-24:00"}, "has quiet hours now"),
        ({"family": "toy"}, "is a toy server"),
        ({"probe_began_at": Now()}, "is being probed"),
    ],
)
def test_a_program_is_not_tried_at_a_target_that_is_not_to_be_used(
    api, target, nothing_is_sent, changes, message
):
    row = created(api, SORT | {"families": ["http"]})
    marked(target, {"family": "http"} | changes)

    status, problem = api.post(f"programs/{row['id']}/try", {"target": target.pk})

    assert (status, nothing_is_sent) == (400, [])
    assert message in str(problem)


def test_a_program_is_not_tried_at_a_target_of_another_team(
    api, owner, target, other_team, nothing_is_sent
):
    row = created(api)
    join(owner, "operator", team=other_team)
    marked(target, {"team": other_team})

    status, problem = api.post(f"programs/{row['id']}/try", {"target": target.pk})

    assert (status, nothing_is_sent) == (400, [])
    assert "of the program's own team" in str(problem)
