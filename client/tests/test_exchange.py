import json
from pathlib import Path

import pytest

from campaigns.models import Campaign, Submission
from campaigns.results.importing import waiting
from perfdash_client.commands import exchange

pytestmark = pytest.mark.django_db

DATA = Path(__file__).resolve().parents[2] / "campaigns/tests/results/readers/data"
SUBMISSION = {
    "id": "nightly-1",
    "campaign": {"question": "Which parser is the fastest?", "primary_metric": "duration"},
    "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
    "runs": [
        {"tags": {"parser": "old"}, "values": {"duration": [1.52, 1.5, 1.49]}},
        {"tags": {"parser": "new"}, "values": {"duration": [1.21, 1.19, 1.2]}},
    ],
}
IN_YAML = """\
campaign: {question: Which parser is the fastest?, primary_metric: duration}
metrics:
  duration: {unit: s, lower_is_better: true}
runs:
  - tags: {parser: old}
    values: {duration: [1.5, 1.52]}
  - tags: {parser: new}
    values: {duration: fast}
"""


def test_runs_are_submitted_once_and_further_ones_added(perfdash, written):
    file = written(json.dumps(SUBMISSION), "results.json")
    more = written(
        json.dumps({"runs": [{"tags": {"parser": "new"}, "values": {"duration": 1.2}}]}), "m.json"
    )

    dry = perfdash("submit", file, "--dry-run")
    first = perfdash("submit", file, "--json")
    again = perfdash("submit", file)
    number = first.data["submission"]["campaign"]["id"]
    added = perfdash("submit", more, "--to", number)

    assert [ran.code for ran in (dry, first, again, added)] == [0, 0, 0, 0], dry.err
    assert "Would store “Which parser is the fastest?”: 6 runs, 6 values" in dry.words
    assert "varying parser" in dry.words
    assert f"Campaign {number} has exactly these already" in again.words
    assert f"http://testserver/campaigns/{number}/" in again.words
    assert "Added 1 runs, 1 values." in added.words
    assert Campaign.objects.get().runs.count() == 7


def test_another_content_under_the_same_id_is_refused(perfdash, written):
    perfdash("submit", written(json.dumps(SUBMISSION), "results.json"))
    other = SUBMISSION | {"info": {"commit": "b"}}

    ran = perfdash("submit", written(json.dumps(other), "other.json"))

    assert ran.code == 3
    assert "refused (409)" in ran.words


def test_a_submission_in_yaml_is_taken_and_its_errors_have_lines(perfdash, written):
    wrong = perfdash("submit", written(IN_YAML, "results.yaml"))
    right = perfdash("submit", written(IN_YAML.replace("fast}", "1.2}"), "results.yaml"))

    assert wrong.code == 3
    assert "results.yaml:8: runs.1.values.duration" in wrong.words
    assert (right.code, Campaign.objects.count()) == (0, 1), right.err


@pytest.mark.parametrize("name", ["results.yaml", "results.json"])
def test_a_mistyped_name_is_named_without_its_value(perfdash, written, name):
    run = {"tags": {"parser": "old"}, "values": {"duration": 1.5}, "passwordy": "hunter2"}
    text = json.dumps(SUBMISSION | {"passwordx": "hunter2", "runs": [run]})

    ran = perfdash("submit", written(text, name))

    assert ran.code == 3
    assert "passwordx: There is no field" in ran.words
    assert "runs.0.passwordy: There is no field" in ran.words
    assert "hunter2" not in ran.words


def test_a_large_submission_is_sent_compressed(perfdash, written):
    runs = [
        {"tags": {"size": size}, "values": {"duration": [float(n + 1) for n in range(100)]}}
        for size in range(1, 41)
    ]

    ran = perfdash("submit", written(json.dumps(SUBMISSION | {"runs": runs}), "r.json"), "--json")

    assert ran.code == 0, ran.err
    assert ran.data["values"] == 4000


def test_broken_json_is_not_sent(call, written):
    ran = call("submit", written('{"runs": [1,]}', "results.json"))

    assert ran.code == 2
    assert "results.json:1: column" in ran.words


@pytest.mark.parametrize(
    "name",
    [
        *(
            "hyperfine-1.20.json",
            "pytest-benchmark.json",
            "jmeter.jtl",
            "oha.json",
            "pgbench-15.txt",
        ),
        *("fio-depths.json", "go-bench.txt", "vegeta-results.ndjson.gz"),
    ],
)
def test_files_of_other_tools_are_imported(perfdash, name):
    dry = perfdash("import", DATA / name, "--dry-run", "--json")
    ran = perfdash("import", DATA / name, "--question", "Is it fast?", "--tag", "ci", "--tag", "x")

    assert (dry.code, ran.code) == (0, 0), ran.err
    assert dry.data["dry_run"] is True
    again = perfdash(
        "import", DATA / name, "--question", "Is it fast?", "--tag", "ci", "--tag", "x", "--dry-run"
    )
    assert "has exactly these already" in again.words
    assert "Nothing would be stored." in again.words
    campaign = Campaign.objects.get()
    assert (campaign.question, campaign.tags) == ("Is it fast?", ["ci", "x"])
    assert f"/campaigns/{campaign.pk}/" in ran.words


def test_columns_of_a_csv_are_mapped_by_a_file(perfdash, written):
    file = written("size,seconds\n1,2.5\n1,2.4\n2,4.5\n2,4.4\n", "runs.csv")
    mapping = written(
        "factors: [size]\nmetrics: {seconds: {unit: s, lower_is_better: true}}\n", "map.yaml"
    )

    ran = perfdash(
        *("import", file, "--mapping", mapping),
        *("--question", "Does size matter?", "--fact", "disk=SSD"),
    )

    assert ran.code == 0, ran.err
    assert "Stored 4 runs, 4 values" in ran.words


def test_what_nobody_can_read_is_refused(perfdash, written):
    ran = perfdash("import", written("what is this\n", "notes.txt"))
    format_name = perfdash("import", written("a\n", "n.txt"), "--format", "telepathy")
    fact = perfdash("import", written("a\n", "n.txt"), "--fact", "disk=SSD", "--fact", "disk")

    both = perfdash("import", written("a\n", "n.txt"), "--load", "n", "--setting", "n")
    assert [ran.code, format_name.code, fact.code] == [3, 3, 2]
    assert both.code == 2
    assert "--setting n: it is given as --load, too; give it once." in both.words
    assert "--fact, number 2: it is not written as NAME=VALUE." in fact.words
    assert 'format: "telepathy" is not a valid choice' in format_name.words


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [("hyperfine-1.20.json", 0, "as campaign"), ("notes.txt", 5, "Nothing was imported: ")],
)
def test_a_large_file_is_waited_for(perfdash, monkeypatch, written, name, code, told):
    monkeypatch.setattr(waiting, "READ_AT_ONCE", 10)
    monkeypatch.setattr(
        exchange, "sleep", lambda seconds: waiting.read_waiting(Submission.objects.get().pk)
    )
    content = (DATA / name).read_bytes() if (DATA / name).exists() else b"what is this at all\n"

    ran = perfdash("import", written(content, name), "--question", "Q?")

    assert ran.code == code, ran.err
    assert "a worker reads it" in ran.words
    assert told in ran.words


def test_a_large_file_is_not_waited_for_longer_than_that(perfdash, monkeypatch):
    monkeypatch.setattr(waiting, "READ_AT_ONCE", 10)

    ran = perfdash("import", DATA / "hyperfine-1.20.json", "--question", "Q?", "--timeout", 0)

    assert ran.code == 6
    assert "was not read within 0 s" in ran.words


def test_formats_are_told(perfdash):
    ran = perfdash("formats")

    assert ran.code == 0
    assert "hyperfine" in ran.words
