"""Requests with one key that come at the same time, and one whose server is killed."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test import Client

from campaigns import tasks
from campaigns.kit import idempotency
from campaigns.kit import messages as sending
from campaigns.models import Attempt, Campaign, KeptAnswer, Target
from campaigns.tests.toy import definition, worker

__all__ = ["worker"]

pytestmark = pytest.mark.django_db(transaction=True)

CRASH = """
import sys, time, django
django.setup()
from django.db.models.functions import Now
from django.test import Client
from campaigns.kit import idempotency
real = idempotency.{where}
def stop(*arguments):
    if {after}:
        real(*arguments)
    print("here", flush=True)
    time.sleep(60)
idempotency.{where} = stop
Client(headers={{"Authorization": "Bearer " + sys.argv[1], "Idempotency-Key": "a"}}).post(
    "/api/v1/targets", sys.argv[2], content_type="application/json"
)
"""
TARGET = {
    "name": "once",
    "family": "http",
    "base_url": "http://127.0.0.1:8099",
}


def post(token, path, body, key="a"):
    client = Client(headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key})
    try:
        return client.post(f"/api/v1/{path}", body, content_type="application/json")
    finally:
        connection.close()


def test_of_many_at_once_one_does_it_and_the_others_hear_so(token, target):
    asked = definition(target=target.pk, seed=3)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(token, "campaigns", asked), range(24)))

    assert Campaign.objects.count() == KeptAnswer.objects.count() == 1
    done = [answer for answer in answers if answer.status_code == 201]
    waiting = [answer for answer in answers if answer.status_code == 409]
    assert len(done) + len(waiting) == 24
    assert len({answer.content for answer in done}) == 1
    assert len([answer for answer in done if "Idempotency-Replayed" not in answer]) == 1
    assert {answer.json()["type"] for answer in waiting} <= {"urn:perfdash:still-going-on"}
    assert {answer["Retry-After"] for answer in waiting} <= {"1"}


def test_different_keys_do_not_wait_for_one_another(token, owner, target):
    asked = definition(target=target.pk, seed=3)

    with transaction.atomic():
        assert idempotency.begin(owner, "a")
        with ThreadPoolExecutor(1) as pool:
            same = pool.submit(post, token, "campaigns", asked).result()
            other = pool.submit(post, token, "campaigns", asked, "b").result()

    assert (same.status_code, same["Retry-After"]) == (409, "1")
    assert other.status_code == 201
    assert post(token, "campaigns", asked).status_code == 201


def test_a_worker_is_told_of_a_run_only_when_it_is_there(token, target, worker, monkeypatch):
    seen = []

    def look(name, argument, queue, key):
        with ThreadPoolExecutor(1) as pool:  # another connection
            seen.append((name, pool.submit(there, argument).result()))

    def there(pk):
        try:
            return Attempt.objects.filter(pk=pk).exists()
        finally:
            connection.close()

    monkeypatch.setattr(sending, "_send", look)
    answer = post(token, "campaigns?launch=true", definition(target=target.pk, seed=3))

    assert answer.status_code == 201
    assert seen == [("campaigns.execute_attempt", True)]


def test_what_is_too_old_is_deleted_by_a_task_and_nothing_else(token, target):
    for key in ("old", "new"):
        post(token, "campaigns", definition(target=target.pk), key)
    KeptAnswer.objects.filter(key="old").update(created_at=Now() - timedelta(hours=25))

    tasks.tidy()

    assert KeptAnswer.objects.get().key == "new"


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize(("where", "after"), [("store", False), ("store", True)])
def test_a_server_that_is_killed_in_the_middle_leaves_nothing(token, settings, where, after):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:8099"
    database = connection.settings_dict
    address = os.environ["DATABASE_URL"].rpartition("/")[0]
    code = CRASH.format(where=where, after=after)
    variables = {
        "DATABASE_URL": f"{address}/{database['NAME']}",
        "DJANGO_SETTINGS_MODULE": "perfdash.settings",
        "ALLOWED_HOSTS": "testserver",
        "PERFDASH_ALLOWED_ADDRESSES": settings.ALLOWED_ADDRESSES,
    }
    command = [sys.executable, "-c", code, token, json.dumps(TARGET)]
    with subprocess.Popen(command, env=os.environ | variables, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"here\n"
        meanwhile = post(token, "targets", TARGET)
        server.kill()

    assert meanwhile.status_code == 409
    assert meanwhile.json()["type"] == "urn:perfdash:still-going-on"
    answers = [post(token, "targets", TARGET) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert Target.objects.filter(name="once").count() == 1
