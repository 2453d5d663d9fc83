import pytest

from sandbox.pulp.behaviour import BadBehaviour, Behaviour


def test_settings_are_read_from_json() -> None:
    behaviour = Behaviour.of({"workers": 3, "plugins": ["deb/apt"], "retry_seconds": 0})

    assert (behaviour.workers, behaviour.plugins) == (3, ("deb/apt",))
    assert behaviour.retry_seconds == 0.0
    assert behaviour.user == "admin"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "a JSON object"),
        ({"worker": 1}, "no such setting: worker"),
        ({"workers": -1}, "workers: a whole number from 0"),
        ({"workers": 1.5}, "workers: a whole number"),
        ({"workers": True}, "workers: a whole number"),
        ({"database": 0}, "database: true or false"),
        ({"user": 3}, "user: a text"),
        ({"plugins": ["file"]}, "plugins: a list of REST names"),
        ({"task_seconds": "1"}, "task_seconds: a number"),
        ({"cpus": 257}, "cpus: at most 256"),
    ],
)
def test_a_bad_setting_is_refused_by_its_name(document: object, said: str) -> None:
    with pytest.raises(BadBehaviour, match=said):
        Behaviour.of(document)


def test_a_clock_may_be_behind() -> None:
    assert Behaviour.of({"clock_offset_seconds": -5}).clock_offset_seconds == -5


def test_the_password_is_not_shown() -> None:
    behaviour = Behaviour.of({"password": "secret"})

    assert "secret" not in str(behaviour.document()) + repr(behaviour)
