import csv
import io
import json
from pathlib import Path

import pytest
from django.urls import reverse

from campaigns.findings import compute
from campaigns.kit import downloads
from campaigns.models import Campaign, Measurement, Run
from campaigns.planning import lifecycle
from campaigns.results.closing import close
from campaigns.results.importing.demonstration import published_campaign
from campaigns.tests.measured import begin, finish, launched, outcome, store

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[2] / "stats" / "golden"


def lines(browser, campaign):
    response = browser.get(reverse("campaign-runs-csv", args=[campaign.pk]))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    text = b"".join(response.streaming_content).decode()
    return text, list(csv.reader(io.StringIO(text)))


def test_the_published_table_comes_out_as_it_went_in(browser, person):
    campaign, _ = published_campaign(person)
    compute.analyse(campaign)
    published = json.loads((GOLDEN / "a_pulp_concurrency.json").read_text())["raw_csv"]

    _, rows = lines(browser, campaign)

    assert [row[:5] for row in rows] == list(csv.reader(io.StringIO(published)))


def test_comparisons_come_out_with_their_exact_numbers(browser, person):
    campaign, _ = published_campaign(person)
    compute.analyse(campaign)

    response = browser.get(reverse("campaign-comparisons-csv", args=[campaign.pk]))
    text = b"".join(response.streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))

    assert [(row["baseline"], row["candidate"]) for row in rows] == [
        ("3", "5"), ("5", "7"), ("7", "10"), ("10", "15"), ("15", "20")
    ]  # fmt: skip
    assert rows[1]["verdict"] == "better"
    assert float(rows[1]["change_pct"]) == pytest.approx(-15.1090782829, rel=1e-9)
    assert rows[3]["verdict"] == "not_enough_data"
    assert rows[0]["data_hash"].startswith("v1:")
    assert "comparisons.csv" in response["Content-Disposition"]


def test_pairs_come_out_as_comparisons_and_none_while_runs_are_made(browser, target, person):
    campaign = launched(target, person)
    address = reverse("campaign-comparisons-csv", args=[campaign.pk])
    assert browser.get(address).status_code == 404
    store(campaign, lambda run: 10.0 + run.position / 3)
    finish(campaign)

    text = b"".join(browser.get(address).streaming_content).decode()

    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["factor"], row["model"], row["n"], row["df"]) == ("engine", "paired", "3", "2")


def test_exact_values_follow(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0 + run.position / 3, rate=4.5)
    finish(campaign)

    _, rows = lines(browser, campaign)

    assert rows[0] == [
        "engine",
        "avg duration",
        "duration",
        "start",
        "finish",
        "state",
        "block",
        "position",
        "purpose",
        "reason",
        "simulator",
        "duration (s)",
        "rate (files/s)",
    ]
    first = next(row for row in rows if row[7] == "1")
    assert float(first[2]) == 10 + 1 / 3
    assert first[3] == "2026-01-01T00:01:00+00:00"
    assert first[12] == "4.5"
    assert [bool(row[1]) for row in rows[1:]] == [False, False, True] * 2


def test_failed_and_excluded_runs_are_in_the_file_with_their_reasons(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0, failing={2})
    lifecycle.exclude(campaign.runs.get(position=3), person, "another sync")
    finish(campaign)

    _, rows = lines(browser, campaign)

    by_position = {row[7]: row for row in rows}
    assert by_position["2"][5] == "failed"
    assert by_position["2"][9] == "It refused."
    assert by_position["3"][5] == "excluded"
    assert by_position["3"][9] == "excluded by reviewer: another sync"


@pytest.mark.parametrize("bad", ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\uff1d1"])
def test_no_text_becomes_a_formula(browser, target, person, bad):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0, failing={1})
    Run.objects.filter(campaign=campaign, position=1).update(reason=bad)

    _, rows = lines(browser, campaign)

    assert next(row for row in rows if row[7] == "1")[9] == f"'{bad}"


def test_text_with_commas_and_lines_stays_in_its_cell(browser, target, person):
    campaign = launched(target, person)
    store(campaign, lambda run: 10.0, failing={1})
    Run.objects.filter(campaign=campaign, position=1).update(reason='one, "two"\nthree')

    _, rows = lines(browser, campaign)

    assert next(row for row in rows if row[7] == "1")[9] == 'one, "two"\nthree'


def test_the_document_holds_definition_runs_and_findings(browser, target, person):
    campaign = launched(target, person)
    close(begin(campaign.runs.get(position=1)), outcome())
    finish(campaign)

    response = browser.get(reverse("campaign-json", args=[campaign.pk]))

    text = response.getvalue().decode()
    document = json.loads(text)
    assert document["definition"]["factors"] == {"engine": ["new", "old"]}
    assert document["runs"][0]["measurements"]["duration"]["value"] == 2.5
    assert {"answer", "cells", "pairs"} <= {finding["name"] for finding in document["findings"]}
    assert document["findings"][0]["data_hash"].startswith("v1:")
    assert "correct horse" not in text
    assert target.password not in text


def test_the_name_of_the_file_holds_no_markup(browser, target, person):
    campaign = launched(target, person, name='"; x="<b>')

    response = browser.get(reverse("campaign-json", args=[campaign.pk]))

    assert response["Content-Disposition"] == f'attachment; filename="{campaign.pk}-xb.json"'


def test_a_campaign_without_runs_gives_a_header(browser, draft):
    text, rows = lines(browser, draft)

    assert len(rows) == 1
    assert Campaign.objects.get(pk=draft.pk).state == Campaign.State.DRAFT
    assert text.endswith("\n")


def test_imported_seconds_with_parts_come_out_exactly(browser, person):
    campaign, _ = published_campaign(person)
    parts = {run.pk: run.position * 0.0031 for run in campaign.runs.all()}
    for run, seconds in parts.items():
        Measurement.objects.filter(attempt__run=run).update(value=seconds)

    _, rows = lines(browser, campaign)

    runs = {run.position: parts[run.pk] for run in campaign.runs.all()}
    assert [float(row[2]) for row in rows[1:]] == [runs[int(row[7])] for row in rows[1:]]
    assert rows[1][3].endswith("+00:00")


def test_the_table_of_columns_is_offered_beside_the_other_files(browser, person):
    campaign, _ = published_campaign(person)

    page = browser.get(reverse("campaign", args=[campaign.pk])).content.decode()
    answer = browser.get(reverse("campaign-runs-parquet", args=[campaign.pk]))

    assert f'href="{reverse("campaign-runs-parquet", args=[campaign.pk])}" download' in page
    assert answer.getvalue()[:4] == b"PAR1"
    assert "pulp-3-sync-download_concurrency.parquet" in answer["Content-Disposition"]


def test_a_large_document_is_sent_in_pieces(browser, person, monkeypatch):
    campaign, _ = published_campaign(person)
    monkeypatch.setattr(downloads, "LETTERS", 500)

    pieces = list(browser.get(reverse("campaign-json", args=[campaign.pk])))

    assert len(pieces) > 9
    assert len(json.loads(b"".join(pieces))["runs"]) == 18
