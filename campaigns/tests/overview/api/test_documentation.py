import json
import re
from pathlib import Path

import pytest
from django.conf import settings

from campaigns.planning.definition import Definition
from campaigns.urls.api import urlpatterns

TEXT = Path(settings.BASE_DIR, "docs/reference/api.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(
    "route", [str(pattern.pattern) for pattern in urlpatterns if str(pattern.pattern)]
)
def test_every_address_is_described(route):
    written = re.sub(r"<\w+:(\w+)>", r"<\1>", route).replace("<pk>", "<id>")
    start, _, action = written.rpartition("/")

    assert f" {written}`" in TEXT or (f" {start}/" in TEXT and f"`{action}`" in TEXT)


def test_every_field_of_a_definition_is_described():
    table = TEXT.partition("## The fields of a definition")[2].partition("## Errors")[0]

    assert set(re.findall(r"`(\w+)`", table)) >= set(Definition.__struct_fields__)


@pytest.mark.django_db
def test_the_example_is_a_definition_that_is_taken(api, target):
    example = json.loads(blocks("json")[0])

    status, planned = api.post("campaigns/preview", example | {"target": target.pk})

    assert status == 200
    assert planned["measured_runs"] == 12
