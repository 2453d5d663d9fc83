"""The OpenAPI document is valid, whole, and what the views do."""

import re

import pytest
import yaml
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema

from campaigns.api.openapi import document
from campaigns.api.urls import urlpatterns

UNDOCUMENTED = {"docs", ""}
"""A page, and every other address."""


@pytest.fixture(scope="module")
def openapi():
    document.cache_clear()
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


def test_a_token_or_a_session_lets_a_client_in(openapi):
    schemes = openapi["components"]["securitySchemes"]

    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["cookieAuth"]["name"] == settings.SESSION_COOKIE_NAME


def test_bodies_hold_no_names_that_are_not_read(openapi):
    schemas = openapi["components"]["schemas"]

    assert schemas["NewCampaignInputRequest"]["additionalProperties"] is False


@pytest.mark.django_db
def test_it_is_served_as_json_and_as_yaml(api, openapi):
    as_json = api.client.get("/api/v1/openapi.json")
    as_yaml = api.client.get("/api/v1/openapi.yaml")

    assert as_json.json() == openapi
    assert as_yaml["Content-Type"] == "application/yaml"
    assert yaml.safe_load(as_yaml.content) == openapi


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
