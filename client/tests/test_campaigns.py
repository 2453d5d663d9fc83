import json

import pytest

from campaigns.kinds.base import DriverError
from campaigns.models import Campaign, Target
from campaigns.tests.toy import definition
from perfdash_client.documents import read_yaml

pytestmark = pytest.mark.django_db

TEXT = """\
# yaml-language-server: $schema=http://testserver/api/v1/schemas/campaign.json
question: Is the new engine faster?
kind: toy
target: toy server
parameters:
  path: /a
factors:
  engine: [new, old]
order: paired
baseline: old
repetitions: 3
"""


@pytest.fixture
def made(perfdash, target, written):
    """The number of a stored draft."""
    ran = perfdash("campaign", "create", written(TEXT))
    assert ran.code == 0, ran.err
    return int(ran.out)


def test_a_definition_in_yaml_becomes_a_draft(made, target):
    campaign = Campaign.objects.get(pk=made)

    assert (campaign.state, campaign.baseline, campaign.target) == ("draft", "old", target)


def test_a_draft_is_replaced_by_a_file_and_deleted(perfdash, made, written):
    changed = perfdash("campaign", "edit", str(made), written(TEXT.replace("ns: 3", "ns: 7")))
    assert changed.code == 0, changed.err
    assert Campaign.objects.get(pk=made).repetitions == 7

    deleted = perfdash("campaign", "delete", str(made))
    again = perfdash("campaign", "delete", str(made))

    assert (deleted.code, again.code) == (0, 3)
    assert not Campaign.objects.exists()


def test_what_was_launched_is_neither_replaced_nor_deleted(perfdash, made, written):
    perfdash("campaign", "launch", str(made))

    edited = perfdash("campaign", "edit", str(made), written(TEXT))
    deleted = perfdash("campaign", "delete", str(made))

    assert (edited.code, deleted.code) == (3, 3)
    assert "was launched" in edited.words
    assert Campaign.objects.get(pk=made).state == "running"


def test_what_is_wrong_with_a_changed_definition_is_told_with_its_line(perfdash, made, written):
    ran = perfdash("campaign", "edit", str(made), written(TEXT.replace("ns: 3", "ns: 0")))

    assert ran.code == 3
    assert ":11:" in ran.words or "line 11" in ran.words


def test_it_is_launched_at_once_where_that_is_asked_for(perfdash, target, worker, written):
    ran = perfdash("campaign", "create", written(TEXT), "--launch", "--json")

    assert ran.code == 0, ran.err
    assert (ran.data["state"], ran.data["runs"]["total"]) == ("running", 6)


def test_a_production_server_is_loaded_with_its_name(perfdash, target, written):
    Target.objects.update(is_production=True)

    without = perfdash("campaign", "create", written(TEXT), "--launch")
    named = perfdash(
        "campaign", "create", written(TEXT), "--launch", "--confirm-target", "toy server"
    )

    assert (without.code, named.code) == (3, 0)
    assert "confirm_target" in without.words


def test_what_lacks_something_is_launched_only_if_that_is_asked_for(
    perfdash, target, worker, written, toy, monkeypatch
):
    def look(target, parameters, rules):
        raise DriverError("/a is not there.")

    monkeypatch.setattr(toy, "look", look)

    refused = perfdash("campaign", "create", written(TEXT), "--launch")
    made = perfdash("campaign", "create", written(TEXT), "--launch", "--anyway")

    assert (refused.code, made.code) == (3, 0)
    assert "/a is not there. Nothing was launched" in refused.words


@pytest.mark.parametrize("command", [["create", "--check"], ["preview"]])
def test_a_check_tells_the_plan_and_stores_nothing(perfdash, target, written, command):
    ran = perfdash("campaign", *command, written(TEXT))

    assert ran.code == 0, ran.err
    assert "6 runs in 3 blocks, paired" in ran.words
    assert "engine=new" in ran.words
    assert not Campaign.objects.exists()


def test_errors_name_line_field_and_remedy(perfdash, target, written):
    text = TEXT.replace("repetitions: 3", "repetitions: 0").replace("old]", "bad]")

    unknown = perfdash("campaign", "create", written(TEXT + "colour: crimson\n"), "--check")
    ran = perfdash("campaign", "create", written(text), "--check")

    assert ran.code == 3
    assert "definition.yaml:11: repetitions: Ensure this value is" in ran.words
    assert "definition.yaml:8: factors.engine: “bad”: Select a valid choice." in ran.words
    assert "definition.yaml:12: colour: There is no field" in unknown.words
    assert "crimson" not in unknown.words
    assert "Traceback" not in ran.words


def test_errors_are_data_too(perfdash, target, written):
    ran = perfdash("campaign", "create", written(TEXT + "colour: crimson\n"), "--json")

    assert ran.code == 3
    assert ran.data["error"]["exit_code"] == 3
    assert ran.data["error"]["problem"]["errors"][0]["field"] == "colour"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n", "has no fields"),
        (TEXT + "launch: true\n", "definition.yaml:12: a definition does not say"),
        (TEXT + "kind: toy\n", 'found duplicate key "kind"'),
    ],
)
def test_what_is_no_definition_is_not_sent(call, written, text, told):
    ran = call("campaign", "create", written(text))

    assert ran.code == 2
    assert told in ran.words


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"factors": {"workers": [1, 2], "slow": [0.5, 2]}, "order": "random", "seed": 7},
        {"factors": {}, "order": "paired", "paired_factor": "blind_label", "baseline": "A"},
        {
            "factors": {"path": ["/a", "off", "10:30", "007", "1e3", "null", "#", "2026-01-01"]},
            "parameters": {"note": "no"},
            "order": "blocked",
            "excluded": [{"path": "off"}],
            "tags": ["on", "12"],
        },
        {
            "factors": {"workers": [1, 2, 3]},
            "order": "interleaved",
            "repetitions": 8,
            "stop_rule": "precision",
            "primary_contrast": {"factor": "workers", "candidate": 3, "baseline": 1},
            "time_budget_seconds": 7200,
        },
    ],
    ids=["paired", "random", "blind", "words", "precision"],
)
def test_a_definition_comes_back_as_the_file_that_makes_it(
    perfdash, target, written, tmp_path, changes
):
    sent = definition(target=target.pk) | changes
    sent["parameters"] = {"path": "/a"} | sent["parameters"]
    if "path" in sent["factors"]:
        del sent["parameters"]["path"]
    body = perfdash("campaign", "create", written(json.dumps(sent)), "--json").data

    file = tmp_path / "out.yaml"
    ran = perfdash("campaign", "definition", body["id"], "-o", file)
    again = perfdash("campaign", "create", file, "--json")

    assert (ran.code, again.code) == (0, 0), again.err
    assert again.data["definition"] == body["definition"]
    assert read_yaml(file).data["target"] == "toy server"


def test_an_imported_campaign_has_no_definition(perfdash, published):
    ran = perfdash("campaign", "definition", published.pk)

    assert ran.code == 2
    assert "was imported" in ran.words


def test_a_campaign_is_steered(perfdash, made, worker):
    launched = perfdash("campaign", "launch", made)
    paused = perfdash("campaign", "pause", made, "--json")
    resumed = perfdash("campaign", "resume", made)
    cancelled = perfdash("campaign", "cancel", made, "--reason", "enough")
    again = perfdash("campaign", "launch", made)

    assert [launched.code, paused.code, resumed.code, cancelled.code] == [0, 0, 0, 0]
    assert paused.data["state"] == "paused"
    assert Campaign.objects.get(pk=made).state == "cancelled"
    assert again.code == 3
    assert "refused (409)" in again.words


def test_campaigns_are_listed_and_filtered(perfdash, made, published):
    everything = perfdash("campaign", "list")
    finished = perfdash("campaign", "list", "--state", "finished", "--json")
    wrong = perfdash("campaign", "list", "--state", "happy")

    assert "Is the new engine faster?" in everything.words
    assert [each["id"] for each in finished.data] == [published.pk]
    assert wrong.code == 3
    assert "state: “happy” is not one of" in wrong.words


def test_kinds_and_targets_are_told(perfdash, target):
    kinds = perfdash("kinds", "--json")
    toy = perfdash("kinds", "toy")
    unknown = perfdash("kinds", "telepathy")
    targets = perfdash("target", "list")

    assert "toy" in [kind["kind"] for kind in kinds.data]
    assert "integer, 1 to 1000" in toy.words
    assert (unknown.code, "telepathy" in unknown.words) == (2, True)
    assert "toy server http http://127.0.0.1:9" in targets.words


def test_a_target_that_does_not_answer_is_told_by_the_exit_code(perfdash, target, worker):
    Target.objects.update(health="unreachable", health_message="refused", probe_began_at=None)
    unknown = perfdash("target", "probe", "nobody")
    ran = perfdash("target", "probe", "toy server", "--timeout", 0)

    assert unknown.code == 2
    assert "there are: “toy server”" in unknown.words
    assert ran.code == 6
    assert "was not probed within 0 s" in ran.words


def test_the_schema_is_the_servers(perfdash, tmp_path, target):
    ran = perfdash("campaign", "schema", "-o", tmp_path / "schema.json")

    assert ran.code == 0
    kinds, programs = read_yaml(tmp_path / "schema.json").data["properties"]["kind"]["anyOf"]
    assert "toy" in kinds["enum"]
    assert "pattern" in programs


@pytest.mark.parametrize(
    "arguments",
    [
        ["campaign", "watch", "one"],
        ["campaign", "create"],
        ["campaign", "create", "x.yaml", "--watch"],
        ["campaign", "create", "x.yaml", "--check", "--launch"],
        ["campaign", "result", "1", "--fail-on", "slower"],
        ["campaign", "result", "0"],
        ["telepathy"],
    ],
)
def test_wrong_use_is_told_in_a_sentence(perfdash, arguments):
    ran = perfdash(*arguments)

    assert ran.code == 2
    assert "perfdash: " in ran.err
    assert ran.out == ""
