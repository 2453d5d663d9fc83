import io
import os
import re

import pytest

from perfdash.local import journal
from perfdash.local.journal import Journal
from perfdash.tests.conftest import fill


def test_lines_are_written_whole_whatever_pieces_they_come_in(tmp_path):
    terminal = io.StringIO()
    book = Journal(tmp_path, terminal)

    book.take("web", b"first li")
    book.take("web", b"ne\nsecond")
    book.take("web", b"")

    assert (tmp_path / "web.log").read_text() == "first line\nsecond\n"
    assert terminal.getvalue() == "web      | first line\nweb      | second\n"


def test_a_secret_is_given_and_not_written(tmp_path):
    terminal = io.StringIO()
    book = Journal(tmp_path, terminal)

    assert book.take("prepare", b"http://127.0.0.1/token\n", secret=True) == [
        "http://127.0.0.1/token"
    ]

    assert terminal.getvalue() == ""
    assert not (tmp_path / "prepare.log").exists()


def test_a_line_cannot_steer_the_terminal(tmp_path):
    terminal = io.StringIO()

    Journal(tmp_path, terminal).take("measure", b"name \x1b]0;title\x07 \xff\n")

    assert terminal.getvalue() == "measure  | name \ufffd]0;title\ufffd \ufffd\n"


def test_logs_stay_bounded_and_keep_several_generations(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "LIMIT_BYTES", 100)
    monkeypatch.setattr(journal, "GENERATIONS", 3)
    book = Journal(tmp_path, None)

    for number in range(200):
        book.take("web", f"line {number:03}\n".encode())

    files = sorted(tmp_path.glob("web.log*"))
    assert [file.name for file in files] == ["web.log", "web.log.1", "web.log.2"]
    assert (tmp_path / "combined.log.2").exists()
    assert not (tmp_path / "combined.log.3").exists()
    assert all(file.stat().st_size <= 200 for file in tmp_path.iterdir())
    remaining = "".join(file.read_text() for file in reversed(files)).splitlines()
    assert remaining == [f"line {number:03}" for number in range(200 - len(remaining), 200)]


def test_the_combined_log_says_when_and_who(tmp_path):
    book = Journal(tmp_path, None)

    book.take("web", b"one\n")
    book.say("web ended")

    first, second = (tmp_path / "combined.log").read_text().splitlines()
    assert re.fullmatch(r"20\S+T\S+\+00:00 web        \| one", first)
    assert second.endswith(" supervisor | web ended")


@pytest.mark.system
def test_a_full_disk_ends_nobody_and_is_told_once(small_disk):
    terminal = io.StringIO()
    book = Journal(small_disk, terminal)
    book.take("web", b"before\n")
    filler = fill(small_disk)

    for number in range(2000):  # some still fit into the last block of the file
        book.take("web", f"line {number}\n".encode())
    filler.unlink()
    book.take("web", b"after\n")
    book.take("web", b"later\n")

    shown = terminal.getvalue().splitlines()
    messages = [line for line in shown if "cannot be written (No space left on device)" in line]
    assert len(messages) == 1
    assert all(f"web      | line {number}" in shown for number in range(2000))
    again = [
        line for line in shown if re.fullmatch(r"The log is written again; \d+ lines .*", line)
    ]
    assert len(again) == 1
    lines = (small_disk / "web.log").read_text().splitlines()
    assert lines[0] == "before"
    assert lines[-2:] == ["after", "later"]


def test_a_log_that_takes_nothing_is_told_and_the_terminal_still_gets_the_lines(tmp_path):
    terminal = io.StringIO()
    (tmp_path / "web.log").symlink_to("/dev/full")
    book = Journal(tmp_path, terminal)

    book.take("web", b"one\n")
    book.take("web", b"two\n")
    (tmp_path / "web.log").unlink()
    book.take("web", b"three\n")

    assert terminal.getvalue().splitlines() == [
        f"The log {tmp_path / 'web.log'} cannot be written (No space left on device): make room"
        " there. Until then lines are on the terminal only; perfdash goes on.",
        "web      | one",
        "web      | two",
        "The log is written again; 2 lines are not in it.",
        "web      | three",
    ]
    assert (tmp_path / "web.log").read_text() == "three\n"


def test_one_log_that_takes_nothing_is_told_once_while_others_are_written(tmp_path):
    terminal = io.StringIO()
    (tmp_path / "web.log").symlink_to("/dev/full")
    book = Journal(tmp_path, terminal)

    for _ in range(3):
        book.take("web", b"lost\n")
        book.take("beat", b"kept\n")

    assert terminal.getvalue().count("cannot be written") == 1
    assert "again" not in terminal.getvalue()
    assert (tmp_path / "beat.log").read_text() == "kept\n" * 3
    assert (tmp_path / "combined.log").read_text().count("| lost\n") == 3


def test_a_line_that_was_torn_by_an_end_is_closed_before_the_next(tmp_path):
    (tmp_path / "web.log").write_text("half a li")

    Journal(tmp_path, None).take("web", b"whole\n")

    assert (tmp_path / "web.log").read_text() == "half a li\nwhole\n"


def test_a_terminal_that_takes_nothing_holds_nobody_up_and_is_told_what_it_missed(tmp_path):
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as terminal:
        book = Journal(tmp_path, terminal)
        for number in range(20_000):  # far more than a pipe holds
            book.take("web", f"line {number}\n".encode())
        shown = os.read(reader, 1_000_000).decode()
        book.take("web", b"last\n")
        after = os.read(reader, 1_000_000).decode().splitlines()
    os.close(reader)

    missing = 20_000 - shown.count("\n")
    assert missing > 0
    assert after == [f"({missing} lines are missing here; the log has them.)", "web      | last"]
    assert (tmp_path / "web.log").read_text().count("\n") == 20_001


@pytest.mark.system
def test_a_terminal_on_a_full_disk_is_tried_again(small_disk, tmp_path):
    with (small_disk / "terminal").open("w") as terminal:
        book = Journal(tmp_path, terminal)
        book.take("web", b"one\n")
        filler = fill(small_disk)
        for number in range(1000):
            book.take("web", f"line {number}\n".encode())
        filler.unlink()
        book.take("web", b"last\n")

    assert "web      | last" in (small_disk / "terminal").read_text()


def test_a_terminal_that_went_away_is_no_reason_to_end(tmp_path):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    book = Journal(tmp_path, Gone())

    book.take("web", b"one\n")
    book.take("web", b"two\n")

    assert (tmp_path / "web.log").read_text() == "one\ntwo\n"
