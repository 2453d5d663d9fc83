"""The OpenAPI document is valid, whole, and what the views do."""

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import jsonschema_rs
import pytest
import yaml
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.plumbing import OpenApiGeneratorExtension
from drf_spectacular.validation import validate_schema

from campaigns.kit.api.openapi import built, document
from campaigns.overview.api import documents
from campaigns.urls.api import urlpatterns

UNDOCUMENTED = {"docs", ""}
"""A page, and every other address."""


def forget():
    for cached in (built, documents.as_json, documents.as_yaml):
        cached.cache_clear()


@pytest.fixture(scope="module")
def openapi():
    forget()
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        return document()


def operations(openapi):
    return [
        (path, method, told)
        for path, methods in openapi["paths"].items()
        for method, told in methods.items()
    ]


def test_it_is_valid_and_was_made_without_a_warning(openapi):
    validate_schema(openapi)

    assert openapi["openapi"] == "3.1.0"
    assert not GENERATOR_STATS


@pytest.mark.parametrize(
    "route",
    [str(each.pattern) for each in urlpatterns if str(each.pattern) not in UNDOCUMENTED],
)
def test_every_address_is_in_it(openapi, route):
    path = re.sub(r"<\w+:(\w+)>", r"{\1}", route).replace("{pk}", "{id}")

    assert f"/api/v1/{path}" in openapi["paths"]


def test_names_of_operations_are_verbs_with_what_they_are_done_to(openapi):
    names = [told["operationId"] for _, _, told in operations(openapi)]

    assert len(set(names)) == len(names)
    assert {"launch_campaign", "list_campaigns", "get_run", "preview_campaign"} <= set(names)
    assert not [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)]


def test_every_operation_says_what_it_does_and_which_problems_it_may_answer(openapi):
    for path, method, told in operations(openapi):
        assert told["description"], path
        assert "500" not in told["responses"], path
        assert {"400", "503"} <= told["responses"].keys(), path
        assert ("{" in path) <= ("404" in told["responses"]), path
        if method == "post":
            assert {"401", "413", "415"} <= told["responses"].keys(), path
        for code, answer in told["responses"].items():
            if int(code) >= 400:
                assert set(answer["content"]) == {"application/problem+json"}, (path, code)


def within(part):
    """Every object of the document."""
    if isinstance(part, dict):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from within(each)


def test_what_is_taken_for_granted_is_something_that_may_be_sent(openapi):
    wrong = [
        part
        for part in within(openapi)
        if "default" in part and not jsonschema_rs.is_valid(part, part["default"])
    ]

    assert not wrong


def test_null_is_meant_by_one_branch_at_most(openapi):
    registry = jsonschema_rs.Registry([("urn:d", openapi)])
    choices = [part["oneOf"] for part in within(openapi) if "oneOf" in part]

    def takes_null(branch):
        whole = json.loads(json.dumps(branch).replace('"#/', '"urn:d#/'))
        return jsonschema_rs.is_valid(whole, None, registry=registry)

    assert choices
    assert not [each for each in choices if sum(map(takes_null, each)) > 1]


def test_a_key_is_told_of_where_it_is_heeded(openapi):
    keyed = {
        method
        for _, method, told in operations(openapi)
        for each in told.get("parameters", ())
        if each["name"] == "Idempotency-Key"
    }

    assert keyed == {"post"}


def test_a_file_is_the_body_of_an_import(openapi):
    body = openapi["paths"]["/api/v1/imports"]["post"]["requestBody"]["content"]

    assert body == {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


def test_a_token_or_a_session_lets_a_client_in(openapi):
    schemes = openapi["components"]["securitySchemes"]

    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["cookieAuth"]["name"] == settings.SESSION_COOKIE_NAME


def test_bodies_hold_no_names_that_are_not_read(openapi):
    schemas = openapi["components"]["schemas"]

    assert schemas["NewCampaignInputRequest"]["additionalProperties"] is False


@pytest.fixture
def as_after_a_start(monkeypatch):
    """drf_spectacular has not yet looked for what its extensions extend."""
    for extension in OpenApiGeneratorExtension._registry:  # type: ignore[misc]
        found = extension.target_class
        name = f"{found.__module__}.{found.__name__}" if found else "not_installed.Anything"
        monkeypatch.setattr(extension, "target_class", name)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    forget()
    yield
    sys.setswitchinterval(interval)
    forget()


@pytest.mark.usefixtures("as_after_a_start")
def test_those_who_ask_first_and_at_once_all_get_it():
    together = Barrier(5)

    def ask(_):
        together.wait(timeout=30)
        return documents.as_json()

    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(ask, range(5)))

    assert len(set(answers)) == 1
    assert b'"openapi":"3.1.0"' in answers[0]
    assert built.cache_info().misses == 1


@pytest.mark.django_db
def test_who_has_it_is_not_sent_it_again(api):
    for path in ("/api/v1/openapi.json", "/api/v1/openapi.yaml"):
        first = api.client.get(path)
        again = api.client.get(path, headers={"If-None-Match": first["ETag"]})

        assert (first.status_code, again.status_code) == (200, 304)
        assert not again.content


@pytest.mark.django_db
def test_it_is_served_as_json_and_as_yaml(api, openapi):
    as_json = api.client.get("/api/v1/openapi.json")
    as_yaml = api.client.get("/api/v1/openapi.yaml")

    assert as_json.json() == openapi
    assert as_yaml["Content-Type"] == "application/yaml"
    assert yaml.load(as_yaml.content, Loader=yaml.CSafeLoader) == openapi


@pytest.mark.django_db
def test_its_page_takes_everything_from_this_server(owner):
    client = Client()
    client.force_login(owner)

    answer = client.get("/api/v1/docs")

    text = answer.content.decode()
    files = re.findall(r'(?:href|src)="/static/([^"]+)"', text)
    assert answer.status_code == 200
    assert "script-src 'self';" in answer["Content-Security-Policy"]
    assert not re.search(r"https?://|<script>|<style>", text)
    assert len(files) >= 4
    assert all(finders.find(file) for file in files)


@pytest.mark.django_db
def test_its_page_sends_strangers_to_the_door():
    answer = Client().get("/api/v1/docs")

    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")


def test_whatever_changes_a_stored_thing_says_how_not_to_overwrite(openapi):
    changing = [
        told for _, method, told in operations(openapi) if method in ("put", "patch", "delete")
    ]

    assert len(changing) > 15
    for told in changing:
        assert "If-Match" in [each["name"] for each in told["parameters"]], told["operationId"]
        assert "412" in told["responses"], told["operationId"]
