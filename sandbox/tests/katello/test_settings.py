"""Settings of the machine over HTTP, and what they change."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sandbox.katello.machine import NAMES, PROFILES, Machine
from sandbox.katello.process import SimulatedKatello
from sandbox.tests.conftest import wait_until
from sandbox.tests.katello.tls import REGISTER, Client, Said, described


def ask(
    server: SimulatedKatello, method: str, path: str, body: object = None
) -> tuple[int, dict[str, Any]]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310 - ours
        f"{server.base_url}/simulator/{path}", data, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_each_setting_can_be_read_and_set_again(server: SimulatedKatello) -> None:
    status, known = ask(server, "GET", "settings")

    assert status == 200
    assert known == Machine().document()
    for name, value in known.items():
        assert ask(server, "PUT", f"settings/{name}", {"value": value}) == (
            200,
            {"name": name, "value": value},
        )
    assert set(NAMES) == known.keys()


def test_a_tuning_profile_sizes_the_machine_and_none_gives_it_back(
    server: SimulatedKatello,
) -> None:
    before = ask(server, "GET", "settings")[1]

    for name, (cpus, memory, workers, threads, connections) in PROFILES.items():
        assert ask(server, "PUT", "settings/installer_profile", {"value": name})[0] == 200
        known = ask(server, "GET", "settings")[1]
        assert known == before | {
            "installer_profile": name,
            "cpus": cpus,
            "memory_gib": memory,
            "puma_workers": workers,
            "puma_threads": threads,
            "max_connections": connections,
        }
    server.set("seed", 7)
    server.set("puma_workers", 3)
    ask(server, "PUT", "settings/installer_profile", {"value": "none"})

    assert ask(server, "GET", "settings")[1] == before | {"seed": 7}


def test_a_setting_that_was_set_is_read_back(server: SimulatedKatello) -> None:
    server.set("puma_workers", 12)

    assert ask(server, "GET", "settings/puma_workers") == (
        200,
        {"name": "puma_workers", "value": 12},
    )
    assert len(server.told()["puma"]["workers"]) == 12


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("puma_workers", {"value": 0}, "puma_workers is a whole number from 1 to 100, not 0."),
        ("puma_workers", {"value": 2.5}, "a whole number"),
        ("puma_workers", {"value": "4"}, "a whole number"),
        ("puma_threads", {"value": True}, "a whole number"),
        ("memory_gib", {"value": None}, "a number from 1 to 4096"),
        (
            "installer_profile",
            {"value": "huge"},
            "is one of none, default, medium, large, extra-large, extra-extra-large",
        ),
        ("installer_profile", {"value": 4}, "is one of none"),
        ("db_pool", {"values": 4}, "is changed with a body such as"),
        ("db_pool", [4], "is changed with a body such as"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(
    server: SimulatedKatello, name: str, body: object, words: str
) -> None:
    before = server.setting(name)

    status, answer = ask(server, "PUT", f"settings/{name}", body)

    assert status == 422
    assert words in answer["message"]
    assert server.setting(name) == before


def test_a_setting_that_there_is_not_is_told(server: SimulatedKatello) -> None:
    for method, body in (("GET", None), ("PUT", {"value": 1})):
        status, answer = ask(server, method, "settings/puma_wheels", body)

        assert status == 404
        assert "There is no setting puma_wheels; there are puma_workers, " in answer["message"]
    assert ask(server, "POST", "settings/puma_workers", {"value": 1})[0] == 405


def test_a_setting_can_be_made_to_take_no_effect(server: SimulatedKatello) -> None:
    server.behave(ignored_setting="puma_threads")

    server.set("puma_threads", 16)

    assert server.setting("puma_threads") == 5


def test_a_restart_takes_its_time_and_is_told(server: SimulatedKatello, stranger: Client) -> None:
    server.set("restart_seconds", 0.3)
    assert ask(server, "GET", "ready") == (200, {"ready": True, "seconds": 0})

    server.set("puma_workers", 2)

    status, answer = ask(server, "GET", "ready")
    assert (status, answer["ready"]) == (503, False)
    assert stranger.ask("GET", "/rhsm/").status == 503
    wait_until(lambda: ask(server, "GET", "ready")[0] == 200)
    assert stranger.ask("GET", "/rhsm/").status == 200


def test_a_start_without_setting_a_thing_is_a_restart_too(server: SimulatedKatello) -> None:
    server.set("restart_seconds", 0.2)

    ask(server, "POST", "restart")

    assert ask(server, "GET", "ready")[0] == 503


def test_a_server_that_is_emptied_keeps_its_settings(
    server: SimulatedKatello, register: Callable[..., object]
) -> None:
    server.set("puma_workers", 9)
    register()

    server.empty()

    assert (server.told()["hosts"], server.setting("puma_workers")) == (0, 9)


def registered(connect: Callable[..., Client], hosts: int) -> tuple[float, list[Said]]:
    """Let hosts register at once; give the mean time and the answers."""

    def one(number: int) -> tuple[float, Said]:
        began = time.perf_counter()
        output = connect().ask("POST", REGISTER, described(f"host{number}.example"))
        return time.perf_counter() - began, output

    with ThreadPoolExecutor(hosts) as threads:
        done = list(threads.map(one, range(hosts)))
    return sum(seconds for seconds, _ in done) / hosts, [answer for _, answer in done]


def test_registering_waits_as_the_modelled_server_would(
    server: SimulatedKatello, stranger: Client
) -> None:
    server.set("time_scale", 0.05)
    began = time.perf_counter()

    answer = stranger.ask("POST", REGISTER, described("host1.example"))

    assert answer.status == 200
    assert time.perf_counter() - began > 0.04  # three seconds of the server are 0.15 here


def test_who_is_one_too_many_for_the_server_gets_a_page(
    server: SimulatedKatello, connect: Callable[..., Client]
) -> None:
    server.set("time_scale", 0.1)
    server.set("puma_workers", 1)
    server.set("httpd_limit", 2)

    _, answers = registered(connect, 6)

    statuses = [output.status for output in answers]
    assert statuses.count(200) >= 2
    turned_away = [answer for answer in answers if answer.status == 503]
    assert turned_away
    assert turned_away[0].headers["Content-Type"].startswith("text/html")


def test_a_pool_that_is_too_small_fails_in_the_words_of_rails(
    server: SimulatedKatello, connect: Callable[..., Client]
) -> None:
    for name, value in {
        "time_scale": 0.02, "puma_workers": 1, "puma_threads": 8, "db_pool": 1,
    }.items():  # fmt: skip
        server.set(name, value)

    _, answers = registered(connect, 8)

    failed = [answer.json["displayMessage"] for answer in answers if answer.status == 500]
    assert failed
    assert failed[0].startswith("could not obtain a connection from the pool within 5.000 seconds")
