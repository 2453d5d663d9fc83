import pytest

from sandbox.katello.behaviour import BadKatello, KatelloBehaviour


def test_settings_are_read_from_json() -> None:
    behaviour = KatelloBehaviour.of({"sync_seconds": 3, "outcome": "pause", "duration": False})

    assert (behaviour.sync_seconds, behaviour.outcome, behaviour.duration) == (3.0, "pause", False)
    assert behaviour.user == "admin"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "a JSON object"),
        ({"seconds": 1}, "no such setting: seconds"),
        ({"sync_seconds": -1}, "sync_seconds: a number"),
        ({"sync_seconds": 1e9}, "up to 3600"),
        ({"added": True}, "added: a number"),
        ({"duration": 0}, "duration: true or false"),
        ({"user": 3}, "user: a text"),
        ({"outcome": "fine"}, "outcome: one of success"),
    ],
)
def test_a_bad_setting_is_refused_by_its_name(document: object, said: str) -> None:
    with pytest.raises(BadKatello, match=said):
        KatelloBehaviour.of(document)


def test_the_password_is_not_shown() -> None:
    behaviour = KatelloBehaviour.of({"password": "secret"})

    assert "secret" not in str(behaviour.document()) + repr(behaviour)
