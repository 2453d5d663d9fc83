import pytest

from campaigns.models import Campaign
from campaigns.tests.toy import definition, worker

__all__ = ["worker"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(api, target):
    """Keys of two launched campaigns, a before b."""
    return [
        api.post("campaigns", definition(target=target.pk, name=name, launch=True))[1]["id"]
        for name in ("a", "b")
    ]


def names(queue):
    return [entry["name"] for entry in queue["waiting"]]


def test_queues_tell_who_waits_for_which_server(api, waiting, target, worker):
    status, body = api.get("queues")

    (queue,) = body["results"]
    first, second = queue["waiting"]
    assert status == 200
    assert queue["targets"] == [{"id": target.pk, "name": "toy server"}]
    assert (first["place"], first["name"], first["runs_left"]) == (1, "a", 6)
    assert second["why"] == "Waits until “a” has made its runs."
    assert second["url"].endswith(f"/campaigns/{waiting[1]}")


def test_a_pool_without_workers_is_named(api, waiting):
    assert api.get("queues")[1]["results"][0]["pools_without_worker"] == ["measure"]


def test_a_campaign_moves_up_and_down(api, waiting):
    status, moved = api.post(f"campaigns/{waiting[1]}/move-up")
    assert (status, names(moved)) == (200, ["b", "a"])

    status, moved = api.post(f"campaigns/{waiting[1]}/move-down")
    assert (status, names(moved)) == (200, ["a", "b"])


def test_a_move_that_is_not_possible_is_a_conflict(api, waiting):
    status, problem = api.post(f"campaigns/{waiting[0]}/move-up")

    assert status == 409
    assert "“a” is the first in its queue already" in problem["detail"]


def test_who_moved_is_in_the_log(api, waiting, owner):
    api.post(f"campaigns/{waiting[1]}/move-up")

    texts = Campaign.objects.get(pk=waiting[1]).log.values_list("text", flat=True)
    assert f"moved before “a” in the queue by {owner.username}" in list(texts)


def test_a_campaign_that_is_not_there_is_not_found(api):
    assert api.post("campaigns/99999/move-up")[0] == 404
