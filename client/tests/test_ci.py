"""CI jobs: every exit code of a judged version, JUnit, Markdown that replaces itself, and the summary of a step."""

from datetime import timedelta
from xml.etree.ElementTree import fromstring

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from campaigns.accounts.access import make_token
from campaigns.models import Campaign, Setting, SubjectVersion, Target, TrendChange
from campaigns.tests.trends.measuring import another, line_from, measured, telling
from campaigns.trends import launching
from perfdash_client import reports, standings
from perfdash_client.errors import BadUse, VerdictFailed
from perfdash_client.standings import failure_of, read_evidence

__all__ = ["telling"]
QUIET = {"evidence": "quiet", "text": "Nothing.", "version": "3.2.0", "suspects": []}


@pytest.fixture
def owner(token):
    return User.objects.get(username="owner")


@pytest.fixture
def line(telling, target, owner, perfdash, monkeypatch):
    monkeypatch.setattr(standings, "sleep", lambda seconds: None)
    return line_from(measured(target, owner, days=9), owner, cron="")


def seen(line, owner, *, p=0.4):
    """The line has measured 3.2.0, and its history is long enough."""
    reading = another(line, owner, days=3, core="3.2.0")
    TrendChange.objects.filter(trend__line=line).delete()
    for trend in line.trends.all():
        trend.state |= {"p": p, "more": 4}
        trend.save()
    return reading


def suspect(line, reading):
    good, bad = SubjectVersion.objects.order_by("position")
    TrendChange.objects.create(
        trend=line.trends.first(), kind="screen", direction="worse", reading=reading, good=good,
        bad=bad, estimate=0.06, low=0.02, high=0.1, p=0.01, suspected=True,
    )  # fmt: skip


def ci(perfdash, line, *more):
    return perfdash("ci", "--line", line.name, "--version", "3.2.0", "--timeout", "0", *more)


def test_nothing_suspected_passes(line, owner, perfdash):
    seen(line, owner)

    ran = ci(perfdash, line)

    assert (ran.code, ran.out) == (0, "core 3.2.0 is not suspected to be worse in 2 trends.\n")


def test_what_is_suspected_is_9_and_1_where_it_is_named(line, owner, perfdash):
    suspect(line, seen(line, owner))

    assert ci(perfdash, line).code == 9
    ran = ci(perfdash, line, "--fail-on", "suspected")

    assert ran.code == 1
    assert "core 3.2.0 is suspected to be worse than 3.1.0" in ran.out


def test_too_little_history_is_10(line, owner, perfdash):
    seen(line, owner, p=None)

    ran = ci(perfdash, line, "--json")

    assert (ran.code, ran.data["exit_code"], ran.data["evidence"]) == (10, 10, "cannot_tell")


def test_a_version_that_has_not_come_is_6_and_one_that_never_came_10(line, perfdash):
    ran = ci(perfdash, line, "--key", "build 17")
    assert ran.code == 6
    assert "It waits until the target tells core 3.2.0." in ran.words

    line.occasions.update(due_at=timezone.now() - timedelta(hours=7))
    Target.objects.update(health="ready", probed_at=timezone.now(), proofs=[])
    launching.attend()
    ran = ci(perfdash, line, "--key", "build 17")

    assert ran.code == 10
    assert "The target did not tell core 3.2.0 within 6 hours." in ran.out
    assert line.occasions.count() == 1


def test_a_job_of_ci_asks_once_however_often_it_is_tried(line, perfdash, monkeypatch):
    monkeypatch.setenv("GITHUB_RUN_ID", "17")

    assert ci(perfdash, line).code == ci(perfdash, line).code == 6

    assert line.occasions.get().key == "ci 3.2.0 17"


def test_a_paused_line_is_refused(line, owner, perfdash):
    line.state = "paused"
    line.save()

    assert ci(perfdash, line).code == 3


def test_a_token_that_reads_and_triggers_is_enough(line, owner, perfdash, monkeypatch):
    seen(line, owner)
    monkeypatch.setenv("PERFDASH_TOKEN", make_token(owner, "ci", "read trigger")[1])

    assert ci(perfdash, line).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ci"], "Give --line and --version"),
        (["ci", "--line", "nobody's", "--version", "1"], "no line that goes on"),
        (["ci", "--line", "1", "--version", "1", "--fail-on", "slow"], "is no evidence"),
    ],
    ids=["none", "line", "word"],
)
def test_wrong_options_are_2(line, perfdash, arguments, message):
    ran = perfdash(*arguments)

    assert ran.code == 2
    assert message in ran.words


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        ("quiet", None), ("machine", None), ("not_reproduced", None), ("confirmed", 1), ("repeated", 1),
        ("suspected", 9), ("unverified", 10), ("no_value", 10), ("not_measured", 10), ("never_came", 10),
        ("cannot_tell", 10), ("waits", 6), ("refused", 3),
    ],
)  # fmt: skip
def test_each_evidence_has_its_code(evidence, code):
    error = failure_of(QUIET | {"evidence": evidence}, read_evidence(None))

    assert (error and error.code) == code


def test_words_of_evidence_are_read():
    assert read_evidence(["confirmed, not-reproduced"]) == {"confirmed", "not_reproduced"}
    with pytest.raises(BadUse, match="names no evidence"):
        read_evidence([","])


def test_reports_are_written_and_replaced(line, owner, perfdash, tmp_path, monkeypatch):
    suspect(line, seen(line, owner))
    summary, comment, junit = (
        tmp_path / name for name in ("summary.md", "comment.md", "junit.xml")
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    comment.write_text("Reviewed by a person.\n")
    arguments = ("--fail-on", "suspected", "--junit", junit, "--markdown", comment)

    for _ in range(2):
        assert ci(perfdash, line, *arguments).code == 1

    text = comment.read_text()
    assert text.count(f"<!-- perfdash:line:{line.pk} -->") == 1
    assert text.startswith("Reviewed by a person.\n\n<!-- perfdash:line:")
    assert "| suspected | +6.2 % | +2.0 % … +10.5 % |" in text
    assert summary.read_text().count("<!-- perfdash:line:") == 1
    suite = fromstring(junit.read_text())[0]  # noqa: S314 - written by ourselves
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert "worse than 3.1.0" in str(suite[0][0].get("message"))


def test_names_are_no_markup_and_no_control_characters():
    odd = QUIET | {
        "text": "a <script> | @all `x` \x1b[31m",
        "suspects": [
            {
                "label": "a|b\x00",
                "evidence": "confirmed",
                "change_pct": None,
                "low_pct": None,
                "high_pct": None,
            }
        ],
    }

    text = reports.markdown(7, "<b>", odd, "https://perf.example/lines/7/")
    xml = reports.junit("<b>", odd, VerdictFailed("a"))

    assert "<script>" not in text
    assert "@all" not in text
    assert fromstring(xml)[0].get("failures") == "1"  # noqa: S314 - written by ourselves


def test_a_comparison_needs_a_build(line, perfdash):
    ran = perfdash(
        "ci", "compare", "--target", line.target.name, "--template", line.template.name, "--base", "1",
        "--candidate", "2",
    )  # fmt: skip

    assert ran.code == 2
    assert "it has none" in ran.words


def test_the_page_of_a_line_is_linked(line, owner, perfdash, tmp_path):
    seen(line, owner)
    ci(perfdash, line, "--markdown", tmp_path / "a.md")

    assert f"(http://testserver/lines/{line.pk}/)" in (tmp_path / "a.md").read_text()


def test_two_versions_are_measured_side_by_side_each_installed_anew(line, perfdash, worker):
    apply = {"way": "http", "method": "PUT", "url": "/x", "body": {"value": "{value}"}}
    read_back = {"way": "http", "method": "GET", "url": "/x", "at": "value"}
    Setting.objects.create(
        target=line.target,
        name="build",
        type="text",
        is_build=True,
        apply=apply,
        read_back=read_back,
    )

    ran = perfdash(
        "ci", "compare", "--target", line.target.name, "--template", line.template.name, "--base", "1.0",
        "--candidate", "2.0", "--pairs", "4", "--timeout", "0",
    )  # fmt: skip

    assert ran.code == 6, ran.words
    campaign = Campaign.objects.order_by("-pk")[0]
    assert (campaign.anew, campaign.order, campaign.repetitions) == (True, "interleaved", 4)
    levels = campaign.factors.get(name="build").levels
    assert list(levels.values_list("value", flat=True)) == ["1.0", "2.0"]
    assert campaign.primary_contrast
    assert campaign.primary_contrast["candidate"] == "2.0"
