"""Work in a process of its own: what it returns, and what becomes of the worst."""

from io import BytesIO
from threading import BoundedSemaphore

import pytest

from campaigns.kit import apart
from campaigns.kit.apart import Limits, TookTooMuch, work
from campaigns.tests.kit import hostile_work

pytestmark = pytest.mark.system

LIMITS = Limits(memory_mb=300, seconds=10)


def test_the_function_gets_the_file_and_the_arguments():
    file = BytesIO(b"head and rest")
    file.read(9)

    assert (
        work(hostile_work.echoes, file, {"a": [1, None]}, LIMITS) == b"(b'rest', {'a': [1, None]})"
    )
    assert work(hostile_work.echoes, b"whole", "x", LIMITS) == b"(b'whole', 'x')"


@pytest.mark.parametrize(
    ("function", "arguments", "limits", "words"),
    [
        ("takes_memory", 400, LIMITS, "more than 300 MB of memory. Send a part of it"),
        ("takes_memory", 129, LIMITS, "more than 134,217,728 bytes"),
        ("goes_on_for_ever", 0, Limits(300, 1), "more than 1 s of a processor. Send a part of it"),
        ("is_killed", 0, LIMITS, r"It broke the program that reads it \(-11\)"),
        ("errs", 0, LIMITS, r"It broke the program that reads it \(1\)"),
    ],
)
def test_the_worst_ends_in_words(function, arguments, limits, words):
    with pytest.raises(TookTooMuch, match=words):
        work(getattr(hostile_work, function), b"", arguments, limits)

    assert work(hostile_work.errs, b"", 1, LIMITS) == b"1"


def test_an_error_of_the_function_is_logged(caplog):
    with pytest.raises(TookTooMuch):
        work(hostile_work.errs, b"", 0, LIMITS)

    assert "ZeroDivisionError" in caplog.text


def test_the_child_has_none_of_our_environment(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of perfdash")

    told = work(hostile_work.tells_its_environment, b"", None, LIMITS).decode()

    assert "SECRET_KEY" not in told
    assert "DATABASE_URL" not in told


def test_who_finds_no_place_is_told_when_to_come_again(monkeypatch):
    monkeypatch.setattr(apart, "_PLACES", BoundedSemaphore(1))
    with apart._PLACES, pytest.raises(TookTooMuch, match="Send it again in a minute"):
        work(hostile_work.echoes, b"", None, Limits(300, 0))
