import pytest

from campaigns.models import Comment, Conclusion, Mention, Team, Thread
from campaigns.models.teams import default_team
from campaigns.tests.people import somebody


@pytest.fixture
def thread(api, draft):
    status, body = api.post(f"campaigns/{draft}/threads", {"text": "Is **this** so?"})
    assert status == 201, body
    return body


def test_a_thread_comes_with_its_comments_as_text_and_as_html(api, draft, thread):
    (listed,) = api.get(f"campaigns/{draft}/threads")[1]["results"]

    assert listed["comments"][0]["html"] == "<p>Is <strong>this</strong> so?</p>\n"
    assert (listed["on"], listed["campaign"], listed["page"]) == (
        "campaign",
        draft,
        f"/campaigns/{draft}/",
    )
    assert thread["warnings"] == []


def test_answers_changes_and_deletions_follow(api, thread):
    _, answered = api.post(f"threads/{thread['id']}/comments", {"text": "It is."})
    key = answered["comments"][-1]["id"]

    _, changed = api.patch(f"comments/{key}", {"text": "It is not."})
    status, _ = api.delete(f"comments/{key}")
    _, after = api.get(f"threads/{thread['id']}")

    assert changed["comments"][-1]["text"] == "It is not."
    assert changed["comments"][-1]["edited_at"]
    assert status == 204
    assert (after["comments"][-1]["text"], after["comments"][-1]["html"]) == ("", "")
    assert api.delete(f"comments/{key}")[0] == 409


def test_a_thread_is_resolved_once_and_can_be_opened_again(api, draft, thread):
    path = f"threads/{thread['id']}"

    assert api.post(f"{path}/resolve")[1]["resolved_by"] == "owner"
    assert api.post(f"{path}/resolve")[0] == 409
    assert api.get(f"campaigns/{draft}/threads", resolved="false")[1]["results"] == []
    assert api.post(f"{path}/reopen")[1]["resolved_at"] is None
    assert api.post(f"{path}/reopen")[0] == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "x" * 5001}, "text"),
        ({"text": "a\u202eb"}, "text"),
        ({}, "text"),
        ({"text": "x", "on": "moon"}, "on"),
        ({"text": "x", "on": "run", "key": "7000"}, "key"),
        ({"text": "x", "on": "chart", "key": "../x"}, "key"),
        ({"text": "x", "on": "campaign", "key": "1"}, "key"),
    ],
)
def test_what_cannot_be_is_refused_by_field(api, draft, body, field):
    status, problem = api.post(f"campaigns/{draft}/threads", body)

    assert status == 400
    assert [error["field"] for error in problem["errors"]] == [field]
    assert not Thread.objects.exists()


def test_names_that_nobody_has_are_told(api, draft):
    somebody("eve", team=Team.objects.create(name="Others"))

    _, body = api.post(f"campaigns/{draft}/threads", {"text": "@eve?"})

    assert "@eve: no member of the team" in body["warnings"][0]
    assert body["comments"][0]["mentions"] == []
    assert not Mention.objects.exists()


def test_another_teams_threads_and_other_peoples_comments_are_out_of_reach(api, thread, owner):
    comment = Comment.objects.get()
    Comment.objects.filter(pk=comment.pk).update(author=somebody("bea"))
    assert api.patch(f"comments/{comment.pk}", {"text": "mine"})[0] == 403
    assert api.delete(f"comments/{comment.pk}")[0] == 403

    owner.memberships.all().delete()

    for send, path in (
        (api.get, f"threads/{thread['id']}"),
        (api.post, f"threads/{thread['id']}/resolve"),
        (api.delete, f"comments/{comment.pk}"),
    ):
        assert send(path)[0] == 404


def test_a_conclusion_that_rests_on_what_one_may_not_see_is_not_talked_about(api, owner, draft):
    team = Team.objects.get(pk=default_team())
    conclusion = Conclusion.objects.create(team=team, author=owner, claim="Four is best")
    made = api.post(f"conclusions/{conclusion.pk}/threads", {"text": "Why?"})[1]
    hidden = Team.objects.create(name="Others")
    conclusion.evidence.create(position=1, campaign_id=draft)
    assert api.get(f"threads/{made['id']}")[0] == 200

    conclusion.evidence.get().campaign.__class__.objects.filter(pk=draft).update(team=hidden)

    assert api.get(f"threads/{made['id']}")[0] == 404
    assert api.get(f"conclusions/{conclusion.pk}/threads")[0] == 404
    assert api.patch(f"comments/{made['comments'][0]['id']}", {"text": "x"})[0] == 404
