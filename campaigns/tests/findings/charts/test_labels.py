"""Long labels."""

import pytest

from campaigns.kit.charts.labels import as_asked, called, inside, short_labels, words_of


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


@pytest.mark.parametrize(
    ("name", "words", "label"),
    [
        ("mqtt_rate_limit", "MQTT rate limit", "MQTT rate limit"),
        ("mqtt_ttl", "MQTT TTL", "MQTT TTL"),
        ("puma_workers", "puma workers", "Puma workers"),
        ("cpus", "CPUs", "CPUs"),
        ("memory_gib", "memory in GiB", "Memory in GiB"),
        ("timeout_seconds", "timeout in seconds", "Timeout in seconds"),
        ("seconds", "seconds", "Seconds"),
        ("warm_up_seconds", "warm-up in seconds", "Warm-up in seconds"),
        ("http_version", "HTTP version", "HTTP version"),
        ("Kernel of the VM", "Kernel of the VM", "Kernel of the VM"),
    ],
)
def test_a_name_of_code_is_one_in_words(name, words, label):
    assert (words_of(name), called(name)) == (words, label)
    assert inside(called(name)) == words or name[:1].isupper()


@pytest.mark.parametrize(
    ("question", "label", "said"),
    [
        ("How many users does my API carry?", "Hosts", "Users"),
        ("How many Clients register at once?", "Hosts", "Clients"),
        ("How many hosts?", "Clients", "Hosts"),
        ("How many hosts do 20 users bring?", "Clients", "Clients"),
        ("What does it carry?", "Hosts", "Hosts"),
        ("How many users?", "Rate", "Rate"),
        ("Which superusers?", "Hosts", "Hosts"),
    ],
)
def test_a_load_is_called_as_the_question_calls_it(question, label, said):
    assert as_asked(label, question) == said
