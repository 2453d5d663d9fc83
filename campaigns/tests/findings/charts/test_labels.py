"""Long labels."""

from campaigns.kit.charts.labels import short_labels


def test_short_labels_stay_as_they_are():
    assert short_labels(["asyncio", "futures"]) == {"asyncio": "asyncio", "futures": "futures"}


def test_long_paths_keep_what_tells_them_apart():
    paths = [
        "/repo/files=500,size=20kB/latency=20/PULP_MANIFEST",
        "/repo/files=50,size=4MB/latency=20/PULP_MANIFEST",
    ]

    assert list(short_labels(paths).values()) == ["files=500,size=20kB", "files=50,size=4MB"]


def test_one_long_label_is_clipped_in_the_middle():
    (short,) = short_labels(["x" * 100 + "end"]).values()

    assert len(short) < 60
    assert short.endswith("end")
