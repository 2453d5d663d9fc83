"""A page that has not changed is not sent again; whatever it shows changes its ETag."""

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.middleware.csrf import get_token, rotate_token
from django.template import engines
from django.test import RequestFactory

from perfdash.unchanged import UnchangedPages

PAGE = (
    """<body hx-headers='{"X-CSRFToken": "{{ token }}"}'>"""
    '<input type="hidden" name="csrfmiddlewaretoken" value="{{ token }}">{{ text }}'
)


def answered(request, text="The same.", **headers):
    request.META.update(headers)
    content = (
        engines["django"].from_string(PAGE).render({"token": get_token(request), "text": text})
    )
    return UnchangedPages(HttpResponse).process_response(request, HttpResponse(content))


@pytest.fixture
def request_():
    return RequestFactory().get("/")


def test_the_mask_of_a_token_changes_nothing(request_):
    first, second = answered(request_), answered(request_)

    assert first.content != second.content
    assert first["ETag"] == second["ETag"]
    assert first["Cache-Control"] == "private, no-cache"


def test_the_same_page_is_not_sent_again(request_):
    again = answered(request_, HTTP_IF_NONE_MATCH=answered(request_)["ETag"])

    assert again.status_code == 304
    assert not again.content


def test_another_text_is_another_page(request_):
    known = answered(request_)["ETag"]

    assert answered(request_, "Another.", HTTP_IF_NONE_MATCH=known).status_code == 200


def test_a_page_whose_tokens_are_not_valid_any_more_is_sent_again(request_):
    known = answered(request_)["ETag"]
    rotate_token(request_)

    assert answered(request_, HTTP_IF_NONE_MATCH=known).status_code == 200


def test_text_of_people_is_never_taken_for_a_token(request_):
    forged = 'X-CSRFToken": "' + 64 * "{}" + '"'

    assert (
        answered(request_, forged.format(*"a" * 64))["ETag"]
        != answered(request_, forged.format(*"b" * 64))["ETag"]
    )


def test_what_no_browser_may_store_has_no_etag(request_):
    secret = HttpResponse("once", headers={"Cache-Control": "no-store"})

    assert "ETag" not in UnchangedPages(HttpResponse).process_response(request_, secret)


@pytest.mark.django_db
def test_pages_differ_by_who_sees_them(client):
    pages = []
    for name in ("one", "two"):
        client.force_login(
            User.objects.create_user(name), backend="django.contrib.auth.backends.ModelBackend"
        )
        pages.append(client.get("/help/"))

    known = pages[1]["ETag"]
    assert pages[0]["ETag"] != known
    assert client.get("/help/", headers={"If-None-Match": known}).status_code == 304
