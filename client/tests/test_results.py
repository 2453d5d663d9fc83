import pytest

from campaigns.findings import compute
from campaigns.models import Campaign, LogLine, Run
from campaigns.planning.analyses import request_analysis
from campaigns.stats.verdict import Word
from campaigns.tests.findings.compute.conftest import store
from perfdash_client.errors import BadUse, NoAnswer, VerdictFailed
from perfdash_client.verdicts import WORDS, judge, read_words, verdicts_of

pytestmark = pytest.mark.django_db
NOISE = (0.3, 0.2, -0.2, -0.3, -0.1, 0.1)


@pytest.fixture
def measured(paired, settings):
    """A finished and analysed campaign of six pairs: asyncio takes so many seconds, futures 10."""

    def measured(seconds, manifests=("/a",)):
        campaign = paired(list(manifests), 6)
        candidate = seconds if callable(seconds) else lambda run: seconds

        def value(run):
            if run.cell.levels_by_factor["engine"] == "futures":
                return 10.0
            return candidate(run) + NOISE[run.block.repetition - 1]

        store(campaign, value)
        Campaign.objects.filter(pk=campaign.pk).update(state="finished")
        compute.analyse(campaign)
        return campaign.pk

    return measured


def test_a_result_is_sentence_cells_verdicts_caveat_and_link(perfdash, measured):
    number = measured(9.0)

    ran = perfdash("campaign", "result", number)

    assert ran.code == 0, ran.err
    for answer in (
        "Is asyncio faster?",
        "asyncio is 10.0 % faster than futures. 7.5 to 12.5 % (95 %), 6 pairs, one session.",
        "futures /a 6 10 s",
        "faster −10.0 % −12.5 … −7.5 % 6",
        "engine asyncio vs. futures",
        "Caveat: Seen in one session",
        f"http://testserver/campaigns/{number}/",
    ):
        assert answer in ran.words, answer
    assert ran.err == ""


def test_a_campaign_that_is_measured_has_no_answer_yet(perfdash, measured):
    number = measured(9.0)
    Campaign.objects.filter(pk=number).update(state="running")

    ran = perfdash("campaign", "result", number)
    result = perfdash("campaign", "result", number, "--json").data

    assert "no answer is given before its stop rule is met" in ran.words
    assert (result["answer"], result["verdicts"]) == (None, [])
    assert "than futures" not in ran.words + str(result)


def test_a_result_is_data_too(perfdash, measured):
    result = perfdash("campaign", "result", measured(9.0), "--json").data

    assert (result["state"], result["exit_code"], result["metric"]) == ("finished", 0, "duration")
    assert [(cell["levels"]["engine"], cell["n"]) for cell in result["cells"]] == [
        ("futures", 6),
        ("asyncio", 6),
    ]
    assert result["cells"][0]["average"] == pytest.approx(10)
    assert result["answer"]["sentence"].startswith("asyncio is 10.0 % faster than futures")
    (verdict,) = result["verdicts"]
    assert (verdict["word"], verdict["candidate"], verdict["n"]) == ("better", "asyncio", 6)
    assert (verdict["shown"], verdict["tone"]) == ("faster", "better")
    assert verdict["low_pct"] < verdict["change_pct"] < verdict["high_pct"] < 0


@pytest.mark.parametrize(
    ("seconds", "fail_on", "code"),
    [
        (9.0, "worse", 0),
        (12.0, "worse", 1),
        (12.0, "not_enough_data,worse", 1),
        (12.0, "better", 0),
        (9.0, "Better", 1),
        (10.0, "equivalent", 1),
        (10.0, "no-difference-shown,worse", 0),
    ],
)
def test_the_exit_code_follows_the_verdict(perfdash, measured, seconds, fail_on, code):
    number = measured(seconds)

    ran = perfdash("campaign", "result", number, "--fail-on", fail_on, "--json")

    assert ran.code == code, ran.words
    assert ran.data["exit_code"] == code
    assert ("vs. futures" in ran.err) == bool(code)


def test_one_comparison_of_several_is_enough_to_fail(perfdash, measured):
    def candidate(run):
        return 12.0 if run.cell.levels_by_factor["manifest"] == "/b" else 9.0

    number = measured(candidate, ("/a", "/b"))

    ran = perfdash(
        "campaign", "result", number, "--fail-on", "worse", "--fail-on", "not_comparable"
    )

    assert ran.code == 1
    assert "worse: engine asyncio vs. futures at manifest=/b" in ran.words


def test_where_a_primary_contrast_is_named_it_alone_decides(perfdash, measured):
    contrast = {"factor": "engine", "candidate": "asyncio", "baseline": "futures"}
    number = measured(
        lambda run: 12.0 if run.cell.levels_by_factor["manifest"] == "/b" else 9.0, ("/a", "/b")
    )
    campaign = Campaign.objects.get(pk=number)
    campaign.primary_contrast = {**contrast, "at": {"manifest": "/a"}}
    campaign.save()
    compute.analyse(campaign)

    ran = perfdash("campaign", "result", number, "--fail-on", "worse")

    assert ran.code == 0, ran.err
    assert "(primary)" in ran.words


def test_levels_are_shown_with_each_step(perfdash, published):
    compute.analyse(published)

    ran = perfdash("campaign", "result", published.pk, "--fail-on", "not_enough_data")

    assert ran.code == 1
    assert "5 vs. 3" in ran.words
    assert "29:10" in ran.words
    assert "not_enough_data: concurrency 15 vs. 10 (" in ran.words


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"state": "running"}, 6, "has not ended; it is running"),
        ({"state": "cancelled", "state_reason": "enough"}, 5, "was cancelled: enough"),
    ],
)
def test_what_has_no_answer_yet_or_never_will_is_told(perfdash, measured, changes, code, told):
    number = measured(9.0)
    Campaign.objects.filter(pk=number).update(**changes)

    ran = perfdash("campaign", "result", number)

    assert (ran.code, told in ran.words) == (code, True)


def test_findings_of_before_are_no_answer(perfdash, measured):
    number = measured(9.0)
    campaign = Campaign.objects.get(pk=number)
    LogLine.objects.create(campaign=campaign, text=f"{LogLine.ANALYSIS_FAILED}: a bug")

    failed = perfdash("campaign", "result", number, "--fail-on", "worse")
    request_analysis(campaign)
    pending = perfdash("campaign", "result", number, "--fail-on", "worse")

    assert failed.code == 5
    assert "The analysis failed: a bug" in failed.err
    assert pending.code == 6
    assert "is being analysed" in pending.err


def test_a_campaign_of_which_no_run_came_through_has_no_answer(perfdash, measured):
    number = measured(9.0)
    Run.objects.update(state="failed")
    compute.analyse(Campaign.objects.get(pk=number))

    ran = perfdash("campaign", "result", number, "--fail-on", "worse")

    assert ran.code == 5
    assert "none of its 12 runs came through" in ran.words


def test_the_words_are_the_servers():
    assert set(WORDS) == {word.value for word in Word}
    assert read_words(["worse, Not enough-data", "better"]) == {
        "worse",
        "not_enough_data",
        "better",
    }
    for wrong in ("slower", ",", "worse,undecided"):
        with pytest.raises(BadUse):
            read_words([wrong])


def test_nothing_compared_is_nothing_to_judge():
    judge([], frozenset())
    with pytest.raises(NoAnswer, match="compares nothing"):
        judge([], {"worse"})


def test_findings_of_another_version_of_the_server_are_read_as_far_as_they_go(perfdash, measured):
    number = measured(12.0)
    result = perfdash("campaign", "result", number, "--json").data

    assert verdicts_of({}) == []
    assert [verdict.shown for verdict in verdicts_of(_findings(number))] == ["worse"]
    with pytest.raises(VerdictFailed):
        judge(verdicts_of(_findings(number)), {result["verdicts"][0]["word"]})


def _findings(number):
    findings = Campaign.objects.get(pk=number).findings.all()
    return {finding.name: {"result": finding.result} for finding in findings}


def test_settings_that_differ_in_two_factors_are_compared_though_no_row_compares_them():
    cells = [
        {"cell": 1, "levels": {"workers": 2, "threads": 16}},
        {"cell": 2, "levels": {"workers": 4, "threads": 8}},
    ]
    pair = {
        "baseline": 1,
        "candidate": 2,
        "word": "worse",
        "reason": "",
        "pct_change": 12.0,
        "ci_pct": [8.0, 16.0],
        "p": 0.01,
        "p_adjusted": 0.01,
    }
    findings = {
        "answer": {"result": {"cells": cells}},
        "levels": {"result": {"factor": "workers", "groups": [], "pairs": [pair]}},
    }

    (verdict,) = verdicts_of(findings)

    assert (verdict.word, verdict.change_pct) == ("worse", 12.0)
    assert "workers" in verdict.in_words
    assert "vs." in verdict.in_words
    with pytest.raises(VerdictFailed):
        judge([verdict], {"worse"})
