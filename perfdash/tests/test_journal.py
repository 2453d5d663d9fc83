import io

from perfdash.local import journal
from perfdash.local.journal import Journal


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


def test_a_file_stays_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "LIMIT_BYTES", 100)
    book = Journal(tmp_path, None)

    for number in range(50):
        book.take("web", f"line {number:03}\n".encode())

    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["web.log", "web.log.1"]
    assert all(file.stat().st_size <= 120 for file in files)


def test_a_terminal_that_went_away_is_no_reason_to_end(tmp_path):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    book = Journal(tmp_path, Gone())

    book.take("web", b"one\n")
    book.take("web", b"two\n")

    assert (tmp_path / "web.log").read_text() == "one\ntwo\n"
