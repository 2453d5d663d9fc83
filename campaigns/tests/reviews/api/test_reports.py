import pytest
from django.test import Client

from campaigns.accounts.access import make_token
from campaigns.models import PublicLink, Team
from campaigns.tests.people import somebody
from campaigns.tests.reviews.reports.conftest import accepted, measured

__all__ = ["accepted", "measured"]


@pytest.fixture
def person(owner):
    return owner


def fetch(api, path, **query):
    return api.client.get(f"/api/v1/{path}", query)


def test_a_report_comes_as_markdown_or_as_one_file_of_html(api, accepted):
    path = f"conclusions/{accepted.pk}/report"

    written, page = fetch(api, path), fetch(api, path, format="html")

    assert written["Content-Type"] == "text/markdown; charset=utf-8"
    assert written.content.decode().startswith("# The new engine halves the duration.")
    assert page.content.decode().startswith("<!DOCTYPE html>")


def test_a_format_that_there_is_not_is_a_problem(api, accepted):
    status, problem = api.get(f"conclusions/{accepted.pk}/report", format="pdf")

    assert status == 400
    assert problem["errors"][0]["field"] == "format"


def test_a_public_link_is_made_listed_and_revoked(api, accepted):
    path = f"conclusions/{accepted.pk}/links"

    status, made = api.post(path)
    _, listed = api.get(path)

    assert status == 201
    assert "/public/" in made["address"]
    assert [row["id"] for row in listed["results"]] == [made["id"]]
    assert "address" not in listed["results"][0]

    status, revoked = api.post(f"{path}/{made['id']}/revoke")

    assert status == 200
    assert revoked["revoked_at"]
    assert api.client.get(made["address"].partition("testserver")[2]).status_code == 404


def test_a_draft_has_no_public_link(api, accepted):
    accepted.state = "draft"
    accepted.save()

    status, problem = api.post(f"conclusions/{accepted.pk}/links")

    assert status == 409
    assert "Only an accepted conclusion" in problem["detail"]
    assert not PublicLink.objects.exists()


@pytest.mark.parametrize(
    ("what", "method"), [("report", "get"), ("bundle", "get"), ("links", "post")]
)
def test_who_may_not_see_all_of_the_evidence_gets_nothing(accepted, what, method):
    others = Team.objects.create(name="Others")
    accepted.team = others
    accepted.save()
    _, token = make_token(somebody("rita", "reviewer", team=others), "t")
    client = Client(headers={"Authorization": f"Bearer {token}"})

    answer = getattr(client, method)(f"/api/v1/conclusions/{accepted.pk}/{what}")

    assert answer.status_code == 404
    assert not PublicLink.objects.exists()
