import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.kinds.base import SIMULATOR
from campaigns.kit.errors import BadFile, Invalid
from campaigns.models import Attempt, Campaign, Run, Session
from campaigns.results import importing, readers
from campaigns.results.environment import simulators_of
from campaigns.results.importing.files import About, import_file
from campaigns.results.values import observed_runs_by_metric
from campaigns.tests.results.readers.files import DATA, FORMATS

pytestmark = pytest.mark.django_db

PUBLISHED = Path(importing.__file__).with_name("published_sync_runs.csv").read_bytes()
ABOUT = About(
    definition={"question": "Which concurrency?", "source": "a paper", "tags": ["sync"]},
    context={"disk": "7200 rpm"},
)


def imported(content: bytes, about: About = ABOUT) -> Campaign:
    return import_file(io.BytesIO(content), about, None).campaign


def test_an_import_is_a_finished_campaign_with_its_source():
    campaign = imported(PUBLISHED)

    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.FINISHED
    assert (campaign.kind, campaign.order) == ("external", "blocked")
    assert (campaign.source, campaign.fidelity) == ("a paper", "raw")
    assert campaign.tags == ["sync"]
    assert campaign.repetitions == 3
    assert campaign.target is None
    assert campaign.launched_at == datetime(2020, 7, 24, 18, 51, 45, tzinfo=UTC)
    assert campaign.closed_at == datetime(2020, 7, 26, 3, 17, 12, tzinfo=UTC)
    assert campaign.sessions.get().kind == Session.Kind.IMPORT


def test_every_file_that_is_read_is_stored_with_its_levels():
    for name in FORMATS:
        content = (DATA / name).read_bytes()
        read = readers.read(content, name)

        directed = any(metric.lower_is_better is not None for metric in read.metrics)
        said = {} if directed else {"directions": {read.primary_metric: "lower"}}

        campaign = imported(content, About(filename=name, definition=said))

        assert campaign.runs.count() == len(read.runs), name
        stored = {
            each.name: set(each.levels.values_list("value", flat=True))
            for each in campaign.factors.all()
        }
        assert stored == {factor: set(levels) for factor, levels in read.factors.items()}, name


def test_positions_follow_the_order_in_which_the_runs_were_made():
    campaign = imported(PUBLISHED)

    runs = campaign.runs.select_related("cell").order_by("position")
    made = [run.cell.levels_by_factor["concurrency"] for run in runs]
    assert made == [20, 20, 20, 5, 5, 5, *[10] * 3, *[3] * 3, *[15] * 3, *[7] * 3]
    assert [run.position for run in runs] == list(range(1, 19))
    assert list(runs) == list(runs.order_by("started_at"))


def outputs_of_sysbench(*places: int) -> bytes:
    """The three runs with one thread are 0 to 2, those with two are 3 to 5."""
    outputs = (DATA / "sysbench-cpu.txt").read_text().split("sysbench 1.0.20")[1:]
    return "".join(f"sysbench 1.0.20{outputs[place]}" for place in places).encode()


def test_runs_that_took_turns_in_a_file_are_interleaved_in_blocks():
    campaign = imported(outputs_of_sysbench(0, 3, 4, 1, 2, 5), About(filename="sysbench.txt"))

    assert campaign.order == Campaign.Order.INTERLEAVED
    made = [
        (run.block.number, run.cell.levels_by_factor["threads"])
        for run in campaign.runs.select_related("block", "cell").order_by("position")
    ]
    assert made == [(1, 1), (1, 2), (2, 2), (2, 1), (3, 1), (3, 2)]
    compute.analyse(campaign)
    caveat = answers_of([campaign.pk])[campaign.pk].caveat
    assert "one after the other" not in caveat


@pytest.mark.parametrize(
    "places", [(0, 1, 2, 3, 4, 5), (0, 3, 1, 2, 4, 5), (0, 3, 1), (0, 1), (0, 3)]
)
def test_runs_that_did_not_take_turns_are_blocked(places):
    campaign = imported(outputs_of_sysbench(*places), About(filename="sysbench.txt"))

    assert campaign.order == Campaign.Order.BLOCKED


def test_instants_that_contradict_the_order_of_a_file_make_no_blocks():
    lines = [f"{level},{ended},1.5" for ended, level in ((9, 1), (8, 2), (7, 1), (6, 2))]
    lines = [line.replace(",", ",2026-01-01T00:00:0", 1).replace(",1.5", "Z,1.5") for line in lines]
    mapping = {
        "factors": ["n"],
        "metrics": {"seconds": {"unit": "s", "lower_is_better": True}},
        "finished_at": "ended",
    }
    given = {"question": "Q?"}

    def order(rows):
        content = "\n".join(["n,ended,seconds", *rows, ""]).encode()
        return imported(content, About(definition=given, mapping=mapping)).order

    assert order(lines) == Campaign.Order.BLOCKED
    assert order(lines[::-1]) == Campaign.Order.INTERLEAVED


def test_block_n_holds_the_nth_run_of_every_level():
    campaign = imported(PUBLISHED)

    for block in campaign.blocks.all():
        assert block.repetition == block.number
        assert block.runs.values("cell").distinct().count() == 6


def test_every_run_has_one_accepted_attempt_with_its_duration_and_facts():
    campaign = imported(PUBLISHED)

    observed = observed_runs_by_metric(campaign, ["duration"])["duration"]
    assert [run.state for run in observed] == ["ok"] * 18
    assert sorted(run.value or 0 for run in observed)[::17] == [623.0, 1856.0]
    for attempt in Attempt.objects.select_related("run"):
        assert attempt.state == Attempt.State.ACCEPTED
        measurement = attempt.measurements.get()
        assert (measurement.unit, measurement.lower_is_better) == ("s", True)
        assert attempt.environment.get().value == "7200 rpm"


def test_runs_of_a_simulator_are_imported_as_such():
    campaign = imported(PUBLISHED, replace(ABOUT, context={SIMULATOR: "model of a server"}))

    assert simulators_of(campaign) == ["model of a server"]


def test_levels_with_different_numbers_of_runs_are_imported():
    lines = PUBLISHED.splitlines(keepends=True)
    campaign = imported(b"".join([lines[0], *lines[2:]]).replace(b"3,0:29:12,", b"3,,"))

    assert campaign.runs.count() == 17
    assert campaign.blocks.get(number=3).runs.count() == 5


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"question": "q" * 501}, "question"),
        ({"question": "q\x00"}, "question"),
        ({"source": "s" * 301}, "source"),
        ({"source": "s\x00"}, "source"),
        ({"name": "n" * 121}, "name"),
        ({"tags": ["t" * 41]}, "tags"),
        ({"order": "backwards"}, "order"),
        ({"primary_metric": "speed"}, "primary_metric"),
        ({"order": "paired"}, "paired_factor"),
        ({"primary_contrast": {"factor": "engine"}}, "primary_contrast"),
        ({"smallest_effect_percent": 0}, "smallest_effect_percent"),
    ],
)
def test_what_cannot_be_a_campaign_is_refused_and_nothing_is_stored(said, field):
    with pytest.raises(Invalid) as caught:
        imported(PUBLISHED, About(definition=said))

    assert list(caught.value.errors) == [field]
    assert not Campaign.objects.exists()


def test_a_failure_half_way_stores_nothing():
    with pytest.raises(Exception, match="too long"):
        imported(PUBLISHED, About(context={"n" * 101: "too long for its column"}))

    assert not Campaign.objects.exists()
    assert not Run.objects.exists()


def test_a_file_that_cannot_be_read_stores_nothing():
    with pytest.raises(BadFile, match="looks like none of the known formats"):
        imported(b"speed\n7\n")

    assert not Campaign.objects.exists()


def test_the_same_file_is_the_same_campaign_and_another_one_where_other_things_are_said_of_it():
    first = imported(PUBLISHED)

    assert imported(PUBLISHED) == first
    assert imported(PUBLISHED, About()) != first
    assert Campaign.objects.count() == 2


def test_equal_files_have_equal_bootstraps():
    assert imported(PUBLISHED).seed == imported(PUBLISHED, About()).seed


def test_names_of_tests_are_work_and_their_levels_are_not_compared():
    content = (DATA / "pytest-benchmark.json").read_bytes()
    campaign = imported(content, About(filename="saved.json"))

    compute.analyse(campaign)

    assert [factor.name for factor in campaign.factors.filter(role="work")] == ["benchmark"]
    levels = campaign.findings.get(name="levels").result
    assert levels["factor"] in ("engine", "size")
    assert all("benchmark" in group["levels"] for group in levels["groups"])
    sentence = answers_of([campaign.pk])[campaign.pk].sentence
    assert sentence.startswith("No setting is ranked: 5 of 5 settings have fewer than 3 runs.")
