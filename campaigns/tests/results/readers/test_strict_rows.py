from datetime import UTC, datetime
from pathlib import Path

import pytest

from campaigns.results import importing
from campaigns.results.readers.plain_csv.strict import MOST_ROWS, BadRows, read_rows

HEADER = "concurrency,avg duration,duration,start,finish\n"
GOOD = "3,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18\n"
PUBLISHED = Path(importing.__file__).with_name("published_sync_runs.csv")


def problems_of(text: str | bytes) -> tuple[tuple[int, str], ...]:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(BadRows) as caught:
        read_rows(content)
    return caught.value.problems


def test_the_published_runs_are_read_as_they_were_published():
    rows = read_rows(PUBLISHED.read_bytes())

    assert len(rows) == 18
    assert rows[0].concurrency == 3
    assert rows[0].seconds == 1747
    assert rows[0].started_at == datetime(2020, 7, 25, 16, 48, 11, tzinfo=UTC)
    assert rows[2].mean_seconds == 29 * 60 + 12
    assert {row.concurrency for row in rows} == {3, 5, 7, 10, 15, 20}


def test_spreadsheet_habits_are_understood():
    text = "\ufeff" + HEADER.replace("\n", "\r\n") + GOOD.replace("\n", "\r\n") + ",,,,\r\n\r\n"

    rows = read_rows(text.encode())

    assert [row.line for row in rows] == [2]


def test_offsets_and_fractions_are_kept():
    line = "3,,0:00:10.5,2020-07-25T9:00:00.250+02:00,2020-07-25T09:00:10.750+02:00\n"

    (row,) = read_rows((HEADER + line).encode())

    assert row.seconds == 10.5
    assert row.started_at == datetime(2020, 7, 25, 7, 0, 0, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "concurrency 'x'"),
        ("0,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "concurrency '0'"),
        ("-3,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "concurrency '-3'"),
        ("1e3,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "concurrency '1e3'"),
        ("9999999,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "concurrency '9999999'"),
        ("\u0663,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "concurrency"),
        ("3,,,2020-07-25 16:48:11,2020-07-25 17:17:18", "duration ''"),
        ("3,,29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "duration '29:07'"),
        ("3,,0:61:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "duration '0:61:07'"),
        ("3,,0:00:00,2020-07-25 16:48:11,2020-07-25 17:17:18", "duration is 0"),
        ("3,,NaN,2020-07-25 16:48:11,2020-07-25 17:17:18", "duration 'NaN'"),
        ("3,x,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "avg duration 'x'"),
        ("3,,0:29:07,25.07.2020 16:48:11,2020-07-25 17:17:18", "start '25.07.2020"),
        ("3,,0:29:07,2020-02-30 16:48:11,2020-07-25 17:17:18", "is no date and time"),
        ("3,,0:29:07,0001-01-01 00:00:00+12:00,2020-07-25 17:17:18", "is no date and time"),
        ("3,,0:29:07,2020-07-25 16:48:11+99:99,2020-07-25 17:17:18", "is no date and time"),
        ("3,,0:29:07,2020-07-25 16:48:11,2020-07-25 16:00:00", "is not after start"),
        ("3,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:00:00", "longer than from start"),
        ("3,,0:29:07,2020-07-25 16:48:11", "4 fields"),
        ("3,,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18,more", "6 fields"),
        ("3,\x00,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "avg duration"),
        ('3,,"0:29"07,2020-07-25 16:48:11,2020-07-25 17:17:18', "not CSV"),
        ("3,1:00:00,0:29:07,2020-07-25 16:48:11,2020-07-25 17:17:18", "give 1747 s"),
    ],
)
def test_a_bad_line_is_named_with_its_number(line, message):
    found = problems_of(HEADER + line + "\n")

    assert found[0][0] == 2
    assert message in found[0][1]


def test_every_bad_line_is_named_not_only_the_first():
    found = problems_of(HEADER + "x,,y\n" + GOOD + "3,,bad,a,b\n")

    assert [line for line, _ in found] == [2, 4]


def test_a_run_that_is_there_twice_is_refused():
    found = problems_of(HEADER + GOOD + GOOD)

    assert found == ((3, "This run starts at the same instant as that of line 2."),)


def test_a_mean_without_its_rows_tells_that_rows_are_missing():
    published = PUBLISHED.read_text().splitlines(keepends=True)

    found = problems_of("".join([*published[:1], *published[2:]]))

    assert "the 2 runs at concurrency 3" in found[0][1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "columns are ''"),
        (b"\n", "columns are ''"),
        (b"duration,start\n1,2\n", "must be concurrency,avg duration"),
        (HEADER.encode(), "holds no run"),
        (b"\x89PNG\x00\xff", "UTF-8"),
        (HEADER.encode() + b"3,,\xff\n", "UTF-8"),
        (b"x" * 2_000_001, "larger than 2 MB"),
        (HEADER.encode() + b"\n" + b"7" * 200_000, "not CSV"),
    ],
)
def test_a_file_of_another_kind_is_refused(content, message):
    assert message in problems_of(content)[0][1]


def test_too_many_runs_are_refused():
    lines = (
        f"3,,0:00:01,2020-07-{1 + i // 1440:02} {i // 60 % 24:02}:{i % 60:02}:00,"
        f"2020-07-{1 + i // 1440:02} {i // 60 % 24:02}:{i % 60:02}:02\n"
        for i in range(MOST_ROWS + 1)
    )

    assert "More than 5,000 runs" in problems_of(HEADER + "".join(lines))[0][1]


def test_a_long_list_of_problems_is_cut_in_its_text():
    with pytest.raises(BadRows, match="and 80 more problems"):
        read_rows((HEADER + "x,,,,\n" * 100).encode())
