"""A view that reads its body itself, and repeats by what it has read."""

from hashlib import sha256
from io import BytesIO
from typing import ClassVar

import pytest
from django.test import RequestFactory
from rest_framework.response import Response

from campaigns.accounts.access import make_token
from campaigns.kit.activity import by_request
from campaigns.kit.api.idempotency import CHUNK, Hashed
from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right
from campaigns.models import KeptAnswer, Team

pytestmark = pytest.mark.django_db

LARGE = b"0123456789" * (CHUNK // 2)


class Teams(Api):
    """Makes a team named after the first bytes; the rest it may leave unread."""

    reads_body = True
    takes: ClassVar = {"post": Right.SEE}

    def post(self, request):
        body = Hashed(request._request)

        def act():
            team = Team.objects.create(name=body.read(10).decode())
            return Response({"name": team.name}, status=201, headers={"Location": "/there"})

        return self.once(act, body.digest)


class Refusing(Teams):
    def post(self, request):
        def act():
            Team.objects.create(name="half done")
            return Response({"errors": []}, status=422)

        return self.once(act, Hashed(request._request).digest)


def made():
    return Team.objects.filter(is_default=False)


@pytest.fixture
def send(owner):
    token = make_token(owner, "tests")[1]

    def send(body, view=Teams, **headers):
        request = RequestFactory().post(
            "/teams",
            body,
            content_type="application/x-ndjson",
            headers={"Authorization": f"Bearer {token}", **headers},
        )
        with by_request(lambda: owner):
            answer = view.as_view()(request)
            return answer if headers else answer.render()

    return send


def test_a_body_that_is_read_piece_by_piece_is_known_again(send):
    first = send(LARGE, **{"Idempotency-Key": "a"})
    second = send(LARGE, **{"Idempotency-Key": "a"})

    assert first.status_code == second.status_code == 201
    assert first.content == second.content == b'{"name":"0123456789"}'
    assert second["Location"] == "/there"
    assert second["Idempotency-Replayed"] == "true"
    assert made().count() == 1


def test_a_body_that_differs_in_what_the_view_left_unread_is_another_one(send):
    send(LARGE, **{"Idempotency-Key": "a"})

    refused = send(LARGE[:-1], **{"Idempotency-Key": "a"}).render()

    assert refused.status_code == 409
    assert b"key-reused" in refused.content
    assert made().count() == 1


def test_without_a_key_the_view_does_what_it_does(send):
    assert send(LARGE).status_code == 201
    assert not KeptAnswer.objects.exists()


def test_an_answer_that_refuses_undoes_what_was_begun(send):
    refused = send(LARGE, Refusing, **{"Idempotency-Key": "a"})

    assert refused.status_code == 422
    assert not made().exists()
    assert not KeptAnswer.objects.exists()
    assert send(LARGE, **{"Idempotency-Key": "a"}).status_code == 201


def test_a_hashed_body_has_one_hash_however_it_is_read():
    whole, pieces, unread = (Hashed(BytesIO(LARGE)) for _ in range(3))
    whole.read()
    while pieces.read(1000):
        continue

    assert {body.digest() for body in (whole, pieces, unread)} == {sha256(LARGE).digest()}
