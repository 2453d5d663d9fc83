import pytest

from campaigns.targets.sizes import sizes_of


@pytest.mark.parametrize(
    ("hardware", "sizes"),
    [
        ("CPU=8, GiB=24, price=120.5", {"CPU": 8, "GiB": 24, "price": 120.5}),
        ("rack 4, CPU = 16", {"CPU": 16}),
        ("8 CPUs, 24 GiB of memory", {}),
        ("CPU=0", {}),
        ("CPU=8 CPU=16", {"CPU": 8}),
        ("kernel=6.1.0-13, url=http://a.example/?x=1", {"x": 1}),
        ("", {}),
    ],
)
def test_only_what_is_written_as_a_number_of_a_name_is_a_size(hardware, sizes):
    assert sizes_of(hardware) == sizes
