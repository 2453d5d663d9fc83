import pytest
from django.core.exceptions import ValidationError

from campaigns.models import Setting
from campaigns.targets.variables import as_read, cleaned


@pytest.mark.parametrize("type", ["choice", "text"])
def test_what_json_calls_true_is_read_as_it_is_written(type):
    setting = Setting(name="keepalive", type=type, choices=["true", "false"])
    assert as_read(setting, True) == "true" == cleaned(setting, "true")
    assert as_read(setting, False) == "false"


def test_a_whole_number_is_within_bounds_that_are_none():
    setting = Setting(name="workers", type="integer", minimum=1.5, maximum=3.5)
    assert cleaned(setting, "2") == 2
    for outside in ("1", "4"):
        with pytest.raises(ValidationError):
            cleaned(setting, outside)


@pytest.mark.parametrize("type", ["choice", "text", "integer", "number"])
@pytest.mark.parametrize("raw", ["", " \n", None])
def test_what_reads_back_as_nothing_is_no_value(type, raw):
    with pytest.raises(ValueError, match="It reads back"):
        as_read(Setting(name="profile", type=type, choices=["a", "b"]), raw)
