"""Arguments of script/server, in any order."""

import pytest

from perfdash.local.__main__ import in_order


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (["serve", "--port", "1"], ["serve", "--port", "1"]),
        (["serve", "--port", "1", "--data", "d"], ["serve", "--data", "d", "--port", "1"]),
        (["manage", "--data", "d", "check"], ["manage", "--data", "d", "check"]),
        (["manage", "check", "--data", "d"], ["manage", "--data", "d", "check"]),
        (["manage", "check", "--data=d", "--x"], ["manage", "--data=d", "check", "--x"]),
        (["serve", "--data", "d", "manage", "check"], ["manage", "--data", "d", "check"]),
        (["serve", "--data=d", "status", "--json"], ["status", "--data=d", "--json"]),
        (["serve", "--data", "d", "stop"], ["stop", "--data", "d"]),
        (["manage", "check", "--", "--data", "d"], ["manage", "check", "--data", "d"]),
        (["run", "a", "--data", "d"], ["run", "a", "--data", "d"]),
        (["serve", "--data", "stop"], ["serve", "--data", "stop"]),
        (["serve", "--data"], ["serve", "--data"]),
        ([], [""]),
    ],
)
def test_the_word_and_the_directory_stand_anywhere(sent, read):
    assert in_order(sent) == read
