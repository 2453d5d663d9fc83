import pytest

from campaigns.targets.sizes import class_of, sizes_of


@pytest.mark.parametrize(
    ("hardware", "sizes"),
    [
        ("CPU=8, GiB=24, price=120.5", {"CPU": 8, "GiB": 24, "price": 120.5}),
        ("rack 4, CPU = 16", {"CPU": 16}),
        ("8 CPUs, 24 GiB of memory", {}),
        ("CPU=0", {}),
        ("CPU=8 CPU=16", {"CPU": 8}),
        ("kernel=6.1.0-13, url=http://a.example/?x=1", {"x": 1}),
        ("class=8, CPU=8", {"CPU": 8}),
        ("", {}),
    ],
)
def test_only_what_is_written_as_a_number_of_a_name_is_a_size(hardware, sizes):
    assert sizes_of(hardware) == sizes


@pytest.mark.parametrize(
    ("hardware", "name"),
    [
        ("class=proxy-8, CPU=8", "proxy-8"),
        ("CPU=8, Class = small.", "small"),
        ("first class, subclass=9", ""),
        ("", ""),
    ],
)
def test_a_class_is_what_is_written_as_one(hardware, name):
    assert class_of(hardware) == name


def test_a_number_with_a_comma_inside_is_no_size():
    assert sizes_of("price=1,200 CPU=1,5 GiB=24,workers=8") == {"GiB": 24, "workers": 8}
