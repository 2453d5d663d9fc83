import pytest

from campaigns.models import Campaign, LogLine
from campaigns.planning.analyses import request_analysis
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db


def test_a_definition_becomes_a_draft(api, target, owner):
    status, body = api.post("campaigns", definition(target=target.pk, tags=["a", "b"]))

    assert status == 201
    assert body["state"] == "draft"
    assert body["author"] == "owner"
    assert body["tags"] == ["a", "b"]
    assert body["target"] == {"id": target.pk, "name": "toy server"}
    assert body["definition"]["factors"] == {"engine": ["new", "old"]}
    assert body["definition"]["parameters"]["workers"] == 4
    assert body["cells"] == [
        {"position": 1, "levels": {"engine": "new"}},
        {"position": 2, "levels": {"engine": "old"}},
    ]
    assert body["runs"]["total"] == 0
    assert Campaign.objects.get().author == owner


def test_the_pool_of_a_campaign_is_set_and_given(api, target):
    _, near = api.post("campaigns", definition(target=target.pk, pool="near"))
    _, usual = api.post("campaigns", definition(target=target.pk))
    status, refused = api.post("campaigns", definition(target=target.pk, pool="analysis"))

    assert near["definition"]["pool"] == "near"
    assert Campaign.objects.get(pk=near["id"]).pool == "near"
    assert Campaign.objects.get(pk=usual["id"]).pool == "measure"
    assert status == 400
    assert "do not measure" in str(refused)


def test_the_location_of_a_new_campaign_is_told(api, target):
    response = api.client.post(
        "/api/v1/campaigns", definition(target=target.pk), content_type="application/json"
    )

    assert response["Location"] == response.json()["links"]["self"]
    assert api.client.get(response["Location"]).status_code == 200


@pytest.mark.parametrize(("query", "field"), [("?launch=true", {}), ("", {"launch": True})])
def test_a_definition_can_be_launched_at_once(api, target, query, field):
    status, body = api.post(f"campaigns{query}", definition(target=target.pk, **field))

    assert status == 201
    assert body["state"] == "running"
    assert body["runs"]["total"] == 6


def test_what_cannot_be_launched_is_not_stored_either(api, target, settings):
    settings.OWNER_CONFIRMS = False

    status, body = api.post("campaigns?launch=true", definition(target=target.pk))

    assert status == 409
    assert "PERFDASH_ALLOWED_ADDRESSES" in body["detail"]
    assert not Campaign.objects.exists()


def test_errors_name_field_and_message_without_what_was_sent(api, target):
    status, body = api.post(
        "campaigns",
        definition(
            target=target.pk,
            question="",
            repetitions=0,
            parameters={"workers": 0, "path": "/a", "colour": "crimson"},
            factors={"engine": ["new", "bad"]},
        ),
    )

    assert status == 400
    assert body["type"] == "urn:perfdash:invalid"
    by_field = {error["field"]: error for error in body["errors"]}
    assert set(by_field) == {
        "question",
        "repetitions",
        "parameters.workers",
        "parameters.colour",
        "factors.engine",
    }
    assert "“bad”" in by_field["factors.engine"]["message"]
    assert "crimson" not in str(body)


def test_a_definition_that_was_read_can_be_sent_again(api, draft):
    _, first = api.get(f"campaigns/{draft}")

    status, second = api.post("campaigns", first["definition"])

    assert status == 201
    assert second["definition"] == first["definition"]


def test_a_campaign_tells_whether_its_findings_are_of_what_was_last_measured(api, draft):
    _, before = api.get(f"campaigns/{draft}")
    request_analysis(Campaign.objects.get(pk=draft))
    _, waiting = api.get(f"campaigns/{draft}")

    assert (before["analysis_pending"], waiting["analysis_pending"]) == (False, True)


def test_a_campaign_tells_that_its_analysis_failed(api, draft):
    text = f"{LogLine.ANALYSIS_FAILED}: ZeroDivisionError: a bug"
    LogLine.objects.create(campaign=Campaign.objects.get(pk=draft), text=text)

    _, found = api.get(f"campaigns/{draft}")

    assert found["analysis_failure"].startswith("The analysis failed: ZeroDivisionError: a bug.")


def test_a_preview_tells_the_plan_and_stores_nothing(api, target):
    status, body = api.post(
        "campaigns/preview",
        definition(target=target.pk, seed=7, warm_ups=1, parameters={"path": "/a", "slow": 2}),
    )

    assert status == 200
    assert (body["order"], body["seed"]) == ("paired", 7)
    assert (body["blocks"], body["measured_runs"], body["warm_up_runs"]) == (3, 6, 1)
    assert len(body["cells"]) == 2
    assert [run["position"] for run in body["runs"]] == list(range(1, 8))
    assert body["runs"][0]["purpose"] == "warm_up"
    assert body["seconds"] > 7 * 2
    assert body["estimated_from_runs"] == 0
    assert {remark["tone"] for remark in body["remarks"]} <= {"pass", "warn", "info"}
    assert not Campaign.objects.exists()


def test_a_preview_of_nonsense_tells_the_errors(api):
    status, body = api.post("campaigns/preview", {"kind": "sorcery"})

    assert status == 400
    assert {error["field"] for error in body["errors"]} >= {"kind", "question"}


def test_the_preview_of_a_seed_is_the_plan_of_the_launch(api, target):
    sent = definition(target=target.pk, seed=99)
    _, planned = api.post("campaigns/preview", sent)

    _, campaign = api.post("campaigns?launch=true", sent)

    _, runs = api.get(f"campaigns/{campaign['id']}/runs")
    assert [run["cell"]["position"] for run in runs["results"]] == [
        run["cell"] for run in planned["runs"]
    ]


def test_a_campaign_is_launched_paused_resumed_extended_and_cancelled(api, draft):
    seen = []
    for action, body in [
        ("launch", None),
        ("pause", None),
        ("resume", {}),
        ("extend", {"repetitions": 2}),
        ("cancel", {"reason": "enough"}),
    ]:
        status, campaign = api.post(f"campaigns/{draft}/{action}", body)
        seen.append((status, campaign["state"], campaign["runs"]["total"]))

    assert seen[:4] == [
        (200, "running", 6),
        (200, "paused", 6),
        (200, "running", 6),
        (200, "running", 10),
    ]
    assert seen[4][1] in ("cancelling", "cancelled")
    assert campaign["state_reason"] == "enough"
    assert campaign["runs"]["cancelled"] == 10


@pytest.mark.parametrize(
    ("action", "body"),
    [("pause", None), ("resume", None), ("cancel", None), ("extend", {"repetitions": 1})],
)
def test_a_step_that_the_state_forbids_is_a_conflict(api, draft, action, body):
    status, problem = api.post(f"campaigns/{draft}/{action}", body)

    assert status == 409
    assert problem["type"] == "urn:perfdash:not-possible"
    assert "draft" in problem["detail"]


def test_a_second_launch_is_a_conflict(api, draft):
    api.post(f"campaigns/{draft}/launch")

    status, problem = api.post(f"campaigns/{draft}/launch")

    assert status == 409
    assert "Clone it" in problem["detail"]


@pytest.mark.parametrize("repetitions", [0, 201, -1, "x", None, 1.5, [1], 2**40])
def test_an_extension_by_nonsense_is_refused_at_its_field(api, draft, repetitions):
    api.post(f"campaigns/{draft}/launch")

    status, problem = api.post(f"campaigns/{draft}/extend", {"repetitions": repetitions})

    assert status == 400
    assert problem["errors"][0]["field"] == "repetitions"


def test_one_cell_of_a_draft_is_tried(api, draft):
    status, run = api.post(f"campaigns/{draft}/try", {"cell": 2})

    assert status == 201
    assert (run["purpose"], run["cell"]["levels"]) == ("trial", {"engine": "old"})
    assert api.client.get(run["url"]).json()["purpose"] == "trial"


def test_a_cell_that_is_not_there_is_not_tried(api, draft):
    status, problem = api.post(f"campaigns/{draft}/try", {"cell": 3})

    assert status == 400
    assert problem["errors"] == [{"field": "cell", "message": "This campaign has no cell 3."}]


def test_a_clone_takes_everything_but_the_changes(api, draft):
    status, clone = api.post(
        f"campaigns/{draft}/clone", {"question": "And with 8?", "parameters": {"workers": 8}}
    )

    assert status == 201
    assert clone["clone_of"] == draft
    assert clone["question"] == "And with 8?"
    assert clone["definition"]["parameters"] == {
        "workers": 8,
        "slow": 0.0,
        "careful": False,
        "note": "",
        "path": "/a",
    }
    assert clone["definition"]["factors"] == {"engine": ["new", "old"]}


def test_a_clone_may_vary_what_was_fixed(api, draft):
    status, clone = api.post(
        f"campaigns/{draft}/clone",
        {"factors": {"engine": ["new", "old"], "workers": [1, 2]}},
    )

    assert status == 201
    assert len(clone["cells"]) == 4
    assert "workers" not in clone["definition"]["parameters"]


def test_a_clone_in_another_order_leaves_the_pairs_behind(api, draft):
    status, clone = api.post(f"campaigns/{draft}/clone", {"order": "interleaved"})

    assert status == 201
    assert clone["definition"]["paired_factor"] == ""


def test_a_clone_with_nonsense_is_refused(api, draft):
    status, problem = api.post(f"campaigns/{draft}/clone", {"repetitions": "many"})

    assert status == 400
    assert problem["errors"][0]["field"] == "repetitions"


def test_campaigns_are_filtered(api, target):
    for name, tags in [("one", ["red"]), ("two", ["red", "blue"]), ("three", [])]:
        api.post("campaigns", definition(target=target.pk, name=name, tags=tags))

    def names(**query):
        status, body = api.get("campaigns", **query)
        assert status == 200
        return [campaign["name"] for campaign in body["results"]]

    assert names() == ["three", "two", "one"]
    assert names(tag="red") == ["two", "one"]
    assert names(q="THRE") == ["three"]
    assert names(q="new engine") == names(q="engine new") == ["three", "two", "one"]
    assert names(q="two blu") == ["two"]
    assert names(tag="re") == []
    assert names(kind="external") == []
    assert names(state="running") == []
    assert names(state="draft", tag="blue") == ["two"]
    assert names(target=target.pk, author="owner") == ["three", "two", "one"]
    assert names(target=target.pk + 1) == names(author="nobody") == []
    assert names(created_after="2020-01-01T00:00:00Z") == ["three", "two", "one"]
    assert names(created_before="2020-01-01T00:00:00+02:00") == []
    assert names(closed_after="2020-01-01") == []
    assert names(closed_after="2020-01-01T00:00:00+21:36") == []


def test_a_list_goes_on_where_it_ended_while_campaigns_are_added(api, target):
    def more(*names):
        for name in names:
            api.post("campaigns", definition(target=target.pk, name=name))

    def page(address):
        return api.client.get(address).json()

    def names(body):
        return [campaign["name"] for campaign in body["results"]]

    more("a", "b", "c")
    first = api.get("campaigns", limit=2, kind="toy")[1]
    more("d")
    second = page(first["next"])
    back = page(second["previous"])

    assert (names(first), first["previous"]) == (["c", "b"], None)
    assert (names(second), second["next"]) == (["a"], None)
    assert names(back) == ["c", "b"]
    assert names(page(back["previous"])) == ["d"]


@pytest.mark.parametrize(
    "query",
    [
        {"state": "lost"},
        {"state": ""},
        {"kind": "k" * 51},
        {"q": "\x00"},
        {"stat": "draft"},
        {"target": "x"},
        {"target": "9" * 30},
        {"created_after": "yesterday"},
        {"created_after": "0000-01-01T00:00:00Z"},
        {"closed_before": "2026-13-01"},
        {"closed_before": "0001-01-01T00:00:00+14:00"},
        {"fields": "id,colour"},
        {"fields": ""},
    ],
)
def test_a_filter_that_means_nothing_is_refused(api, query):
    status, problem = api.get("campaigns", **query)

    assert status == 400
    assert problem["errors"][0]["field"] in query


@pytest.mark.parametrize("pk", ["1", "0", str(2**63), "9" * 100])
def test_a_campaign_that_is_not_there_is_not_found(api, pk):
    for path in ("", "/runs", "/runs/1"):
        assert api.get(f"campaigns/{pk}{path}")[0] == 404
    for action in ("launch", "pause", "resume", "cancel", "extend", "try", "clone"):
        assert api.post(f"campaigns/{pk}/{action}", {})[0] == 404


@pytest.fixture
def production(target):
    target.is_production = True
    target.save()
    return target


@pytest.mark.parametrize("typed", [{}, {"confirm_target": "Toy Server"}])
def test_a_production_server_is_not_loaded_without_its_name(api, draft, production, typed):
    for path in ("launch", "try"):
        status, body = api.post(f"campaigns/{draft}/{path}", typed)

        assert (status, body["type"]) == (409, "urn:perfdash:not-confirmed")
        assert "“toy server” is a production server" in body["detail"]
        assert "confirm_target" in body["detail"]
    status, body = api.post(
        "campaigns?launch=true", definition(target=production.pk, name="new", **typed)
    )
    assert status == 409
    assert not Campaign.objects.filter(name="new").exists()


def test_a_production_server_is_loaded_with_its_name(api, draft, production):
    typed = {"confirm_target": "toy server"}

    assert api.post(f"campaigns/{draft}/try", typed)[0] == 201
    assert api.post(f"campaigns/{draft}/launch", typed)[1]["state"] == "running"
    assert api.post(f"campaigns/{draft}/pause")[0] == 200
    assert api.post(f"campaigns/{draft}/resume")[1]["type"] == "urn:perfdash:not-confirmed"
    assert api.post(f"campaigns/{draft}/resume", typed)[1]["state"] == "running"
    assert api.post(f"campaigns/{draft}/extend", {"repetitions": 1})[0] == 409
    assert api.post(f"campaigns/{draft}/extend", {"repetitions": 1, **typed})[0] == 200
    status, body = api.post("campaigns", definition(target=production.pk, launch=True, **typed))
    assert (status, body["state"]) == (201, "running")


def test_a_clone_keeps_the_limits_of_a_campaign(api, target):
    limits = {
        "time_budget_seconds": 60.0,
        "max_failed_percent": 20.0,
        "max_consecutive_failures": 2,
    }
    _, body = api.post("campaigns", definition(target=target.pk, **limits))

    _, clone = api.post(f"campaigns/{body['id']}/clone", {})

    assert limits.items() <= clone["definition"].items()
