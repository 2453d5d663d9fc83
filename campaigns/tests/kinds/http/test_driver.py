"""The kind `http` from reset to clean-up, at an API that runs."""

import json
from base64 import b64encode
from dataclasses import replace

import pytest

from campaigns.kinds.base import Target, TargetUnavailable
from campaigns.kinds.http.driver import driver
from campaigns.kinds.http.program.reading import read_scenario
from campaigns.kinds.http.program.walking import Shown
from campaigns.kinds.http.running import try_one_host
from campaigns.kit import redaction
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.http.api import PASSWORD, TOKEN, USER
from campaigns.tests.kinds.http.conftest import parameters

pytestmark = pytest.mark.system

ITEMS = """\
name: items
data: {colour: [red, 'light blue'], big: [1, 2]}
login: target
steps:
  - name: list
    get: /items?colour={colour}
    headers: {X-Host: "host {host}"}
    expect: {status: 200, type: application/json, json: {count: {at_least: 3}, results.0.n: 0}}
    take: {href: {json: results.1.href}}
  - name: read
    get: "{href}"
    expect: {json: {n: {present: true}}, contains: '"n"', most_milliseconds: 20000}
  - name: say
    weight: 0.5
    post: /echo/{colour}/{uuid}
    json: {host: "{host}", text: "is {host}", big: "{big}", all: [1, true, null]}
prove: {get: /count, json: requests}
"""
SESSION = """\
cookies: keep
before:
  - name: make
    post: /items
    expect: {status: 201}
    take: {made: {header: Location}}
  - name: token
    post: /sign-in
    form: {user: "{target_user}", password: "{target_password}"}
    take: {token: {json: token}}
steps:
  - name: with the token
    get: /mine
    headers: {Authorisation-Of: "{token}"}
    expect: {status: [200, 401]}
  - name: sign in
    post: /sign-in
    body: user={target_user}&password={target_password}
    take: {sid: {cookie: sid}, same: {between: ['"token": "', '"']}}
  - name: mine
    get: /mine
  - name: made
    get: "{made}"
after:
  - name: remove
    delete: "{made}"
    expect: {status: 204}
"""


def run(target, keeper, values):
    """Go through all steps; give what was measured, and all proofs."""
    proofs = driver.reset(target, values, keeper.context())
    driver.apply(target, values, keeper.context())
    measured = driver.measure(target, values, keeper.context())
    if not measured.failure:
        proofs += driver.verify(target, values, keeper.context(), measured)
    driver.clean_up(target, values, keeper.context())
    return measured, proofs


def test_a_scenario_is_played_checked_and_proved(target, api, keeper):
    keeper.sender = "perfdash attempt/7"

    measured, proofs = run(target, keeper, parameters(ITEMS))

    assert not measured.failure
    assert [proof for proof in proofs if not proof.ok] == []
    said = [each for each in api.asked if each.path.startswith("/echo")]
    assert (measured.units_done, measured.units_failed) == (12 + len(said), 0)
    assert api.paths()["GET /items?colour=red"] == 3
    assert api.paths()["GET /items?colour=light%20blue"] == 3
    assert api.paths()["GET /items/1/"] == 6
    first = next(each for each in api.asked if each.path.startswith("/items?colour=light"))
    assert first.headers["X-Host"] == "host 1"
    assert first.headers["User-Agent"] == "perfdash attempt/7"
    assert first.headers["Authorization"].startswith("Basic ")
    for each in said:
        host = 1 if "/light%20blue/" in each.path else 0
        assert json.loads(each.body) == {
            "host": host, "text": f"is {host}", "big": host + 1, "all": [1, True, None],
        }  # fmt: skip
    names = {each.name for each in measured.distributions}
    assert {"response", "scenario_time", "list: response", "read: service"} <= names
    assert {proof.name for proof in proofs} >= {"rounds", "requests: say", "share: list"} - {
        "share: list"
    }
    assert next(p for p in proofs if p.name == "counted: requests").measured == 12 + len(said)


def test_before_and_after_are_done_once_with_cookies_and_names_of_the_login(target, api, keeper):
    redaction.remember(PASSWORD)

    measured, proofs = run(target, keeper, parameters(SESSION))

    assert measured.failures == {}
    assert all(proof.ok for proof in proofs)
    assert api.items == set()
    paths = api.paths()
    assert (paths["POST /items"], paths["POST /sign-in"], paths["GET /mine"]) == (1, 7, 12)
    assert sum(count for path, count in paths.items() if path.startswith("DELETE")) == 1
    assert not keeper.directory.exists()
    assert PASSWORD not in repr((measured, keeper.lines, keeper.progress, proofs))


VISITS = """\
cookies: %s
steps:
  - {name: before it, get: /mine, expect: {status: [200, 401]}}
  - name: sign in
    post: /sign-in
    form: {user: "{target_user}", password: "{target_password}"}
  - {name: mine, get: /mine, expect: {status: 200}}
"""


@pytest.mark.parametrize(("cookies", "known"), [("keep", 4), ("round", 0)])
def test_a_host_stays_signed_in_for_all_rounds_or_for_one(target, api, keeper, cookies, known):
    measured, _ = run(target, keeper, parameters(VISITS % cookies, hosts=2, iterations=3))

    assert measured.failures == {}
    asked = [each for each in api.asked if each.path == "/mine"]
    assert len(asked) == 12
    assert sum("Cookie" in each.headers for each in asked) == 6 + known


def test_after_is_done_where_the_run_was_cancelled_and_only_once(target, api, keeper):
    values = parameters(SESSION)
    driver.reset(target, values, keeper.context())
    assert len(api.items) == 1
    keeper.cancelled.set()

    driver.clean_up(target, values, keeper.context())
    driver.clean_up(target, values, keeper.context())

    assert api.items == set()
    assert sum(each.method == "DELETE" for each in api.asked) == 1


def test_answers_that_are_wrong_fail_by_class_and_hold_no_secret(target, api, keeper):
    redaction.remember(PASSWORD)
    steps = """\
steps:
  - {name: status, get: /items, expect: {status: 304}}
  - {name: value, get: /items, expect: {json: {count: {at_most: 2}}}}
  - {name: taken, get: /items, take: {x: {json: results.7.href}}}
  - {name: needs it, get: "{x}"}
  - {name: server, get: /broken}
  - {name: right, get: /items}
  - {name: sign in, post: /sign-in, form: {user: x, password: "{target_password}"}}
"""
    measured, proofs = run(target, keeper, parameters(steps, hosts=1, iterations=2))

    assert measured.failures == {"check": 4, "protocol": 2, "5xx": 2, "auth": 2}
    assert (measured.units_done, measured.units_failed) == (2, 10)
    assert all(proof.ok for proof in proofs)
    assert measured.examples["protocol"].startswith("taken: nothing at results.7.href")
    text = " ".join(keeper.lines)
    assert "status: the server answered 200, expected 304" in text
    assert "taken: nothing at results.7.href" in text
    assert PASSWORD not in text


def test_a_plain_request_takes_the_short_way_with_the_same_figures(target, api, keeper):
    plain = "steps: [{name: one, get: '/items?h={host}', expect: {status: 200}}]\nprove: {get: /count, json: requests, delta: one}"

    measured, proofs = run(target, keeper, parameters(plain, hosts=3, iterations=4))

    assert (measured.units_done, measured.units_failed) == (12, 0)
    assert [proof for proof in proofs if not proof.ok] == []
    assert api.paths() == {"GET /": 1} | {f"GET /items?h={host}": 4 for host in range(3)}
    names = {each.name for each in measured.distributions}
    assert {"response", "scenario_time", "one: response", "one: service"} <= names


def test_an_open_loop_offers_a_rate_and_counts_what_is_useful(target, api, keeper):
    scenario = "steps: [{name: a, get: /items, think: {exponential: 0.001}}, {name: b, get: '/items/{random:1-9}'}]"
    values = parameters(
        scenario,
        loop="open",
        rate=50,
        iterations=20,
        hosts=5,
        arrivals="poisson",
        success_limit_ms=30_000,
    )

    measured, proofs = run(target, keeper, values)

    assert all(proof.ok for proof in proofs)
    assert measured.units_done == 40
    assert measured.values["offered_rate"] == 50
    assert measured.values["goodput"] == pytest.approx(measured.values["request_rate"])
    assert driver.offers_rate(values)


def test_a_body_that_is_too_large_is_refused_unless_it_is_discarded(target, api, keeper):
    scenario = "steps: [{name: kept, get: /large}, {name: gone, get: /large, answer: discard}]"

    measured, _ = run(target, keeper, parameters(scenario, hosts=1, iterations=1))

    assert measured.failures == {"protocol": 1}
    assert measured.units_done == 1


def test_a_target_that_is_not_there_or_has_no_user_is_told(keeper):
    gone = Target("gone", "http", "http://127.0.0.1:9")
    with pytest.raises(TargetUnavailable, match="gave no answer"):
        driver.probe(gone, parse_rules("127.0.0.1:*"))
    with pytest.raises(TargetUnavailable, match="No host got a connection"):
        driver.measure(
            gone, parameters("steps: [{name: a, get: /}]", iterations=1), keeper.context()
        )
    assert "login: target" in driver.lacks(gone, parameters(ITEMS))


SENDING = {
    "in a body": ("", "body: 'x {target_password} y'"),
    "in JSON": ("", 'json: {word: "{target_password}"}'),
    "in a form": ("", 'form: {word: "{target_password}"}'),
    "in a header": ("", "headers: {X-Word: 'x {target_password} y'}"),
    "in a header of all": ("headers: {X-Word: 'x {target_password} y'}\n", "body: x"),
    "as the login": ("login: target\n", "body: x"),
}
PIECE = PASSWORD[3:9]


@pytest.mark.parametrize("way", SENDING)
def test_a_try_tells_nothing_of_an_answer_to_the_password(target, api, way):
    everywhere, sends = SENDING[way]
    start = PASSWORD[:3] if way != "as the login" else b64encode(f"{USER}:{PASSWORD}"[:9].encode())
    start = start if isinstance(start, str) else start.decode()
    told = []
    for text in (start, "never there"):
        steps = f"""{everywhere}steps:
  - name: reflect
    post: /reflect
    {sends}
    expect: {{contains: {text!r}, type: text/html}}
    take: {{piece: {{between: [{text!r}, {PASSWORD[9:12]!r}]}}}}
  - {{name: use it, get: "/echo/{{piece}}"}}
  - {{name: take more, get: /items, headers: {{X: "{{piece}}"}}, take: {{more: {{json: count}}}}}}
  - {{name: use that, get: "{{more}}"}}
"""
        api.asked.clear()
        walked = try_one_host(target, read_scenario(steps), parse_rules("127.0.0.1:*"), None)
        first, *others = walked.exchanges
        assert (first.failure, first.message, first.taken) == ("", "", {})
        assert first.answer == Shown("200", [], "", 0)
        assert {(each.answer, each.failure, each.withheld) for each in others} == {(None, "", True)}
        assert [each.path for each in api.asked] == ["/reflect"]
        assert PIECE not in repr(walked)
        told.append([replace(each, milliseconds=0.0) for each in walked.exchanges])
    assert told[0] == told[1]


def test_a_try_hides_what_follows_from_an_answer_to_the_password(target, api):
    steps = """\
steps:
  - {name: whole, post: /echo, json: {word: "{target_password}"}, take: {all: {json: body}}}
  - {name: nothing, post: /echo, body: "{target_password}", take: {none: {json: no.such}}}
  - {name: again, post: /echo, body: "{all}", take: {some: {between: [rrec, orse]}}}
  - {name: text, post: /echo, body: "{all}", expect: {json: {body: another, path: {is: /}}}}
  - {name: number, post: /json, json: {word: "{all}", host: "{host}"}, expect: {json: {host: 1}}}
  - {name: elsewhere, get: "{all}"}
  - {name: wrong, post: /sign-in, body: "{all}"}
  - {name: other, get: /items, take: {n: {json: count}, of: {between: ['"count": ', ',']}}}
"""
    walked = try_one_host(target, read_scenario(steps), parse_rules("127.0.0.1:*"), None)

    whole, nothing, again, text, number, elsewhere, wrong, other = walked.exchanges
    assert (whole.failure, whole.taken, again.taken) == ("", {"all": "[secret]"}, {})
    assert (text.failure, number.message) == ("", "number: host is 0, expected 1")
    assert nothing.message == "nothing: nothing at no.such"
    assert again.request is not None
    assert again.request.body == "[secret]"
    assert "cannot stand where the step puts it" in elsewhere.message
    assert wrong.message == "wrong: the server answered 403"
    assert (other.withheld, other.taken) == (False, {"n": "3", "of": "3"})
    shown = repr([each for each in walked.exchanges if each is not other])
    assert not [piece for piece in (PASSWORD, "rrect", "horse", "t-h'") if piece in shown]


@pytest.mark.parametrize("expect", ["at_most: 0.5", "is: 0.1"])
@pytest.mark.parametrize("password", ["73914", '73,"x":"y"', "73 "])
def test_a_password_is_not_found_by_checks_of_numbers(target, api, expect, password):
    target = replace(target, password=password)
    steps = f"""\
steps:
  - name: digits
    post: /json
    headers: {{Content-Type: application/json}}
    body: '{{"n": 0.{{target_password}}}}'
    expect: {{json: {{n: {{{expect}}}}}}}
"""
    (only,) = try_one_host(target, read_scenario(steps), parse_rules("127.0.0.1:*"), None).exchanges
    assert (only.failure, only.message, only.withheld) == ("", "", True)
    assert str(json.loads(api.asked[0].body)["n"]).startswith("0.73")
    assert "0.7" not in repr(replace(only, milliseconds=None))


def test_a_password_that_an_answer_holds_by_itself_is_not_taken_in_pieces(target, api):
    api.items.add(f"/items/{PASSWORD}/")
    steps = """\
steps:
  - {name: stored, get: /all, expect: {contains: zebra}, take: {x: {between: [cor, horse]}}}
  - {name: used, get: "/echo/{x}"}
"""
    walked = try_one_host(target, read_scenario(steps), parse_rules("127.0.0.1:*"), None)

    assert [each.withheld for each in walked.exchanges] == [True, True]
    assert walked.failed is None
    assert "rect" not in repr(walked)


def test_a_run_quotes_nothing_of_answers_to_the_password(target, api, keeper):
    redaction.remember(PASSWORD)
    steps = """\
steps:
  - {name: a, post: /echo, body: "%s {target_password}", expect: {status: 201}}
  - {name: b, post: /reflect, body: "{target_password}", expect: {contains: horses}}
  - {name: c, post: /echo, body: "{target_password}", expect: {json: {body: x}}}
  - {name: d, post: /reflect, body: "{target_password}", take: {p: {between: [rec, bat]}, q: {between: [x, y]}}}
  - {name: e, post: /reflect, body: "{target_password}", take: {p: {between: [rec, bat]}}}
  - {name: f, get: "{p}"}
"""
    for only in ("a", "b", "c", "d", "f"):
        lines = (steps % ("." * 160)).splitlines()
        chosen = [each for each in lines[1:] if f"name: {only}," in each]
        chosen = lines[5:] if only == "f" else chosen
        scenario = parameters("\n".join([lines[0], *chosen]), hosts=1, iterations=1)
        measured, _ = run(target, keeper, scenario)
        assert sum(measured.failures.values()) == 1, (only, measured.failures)
        (example,) = measured.examples.values()
        shown = repr((measured.examples, keeper.lines))
        assert example.startswith(f"{only}: ")
        parts = ("corr", "horse", "t-ho", "batt")
        assert not [each for each in parts if each in shown], shown
    before = (
        "before:\n" + (steps % ("." * 160)).splitlines()[2] + "\nsteps: [{name: z, get: /items}]"
    )
    proofs = driver.reset(target, parameters(before), keeper.context())
    assert "the answer is not as expected" in str(proofs[0].measured)
    assert "horses" not in str(proofs)


def test_half_a_secret_at_the_cut_of_a_message_is_not_quoted(target, api, keeper):
    redaction.remember(PASSWORD)
    api.items.add("." * (200 - 12) + PASSWORD)
    steps = "steps: [{name: a, get: /all, expect: {status: 201}}]"
    measured, _ = run(target, keeper, parameters(steps, hosts=1, iterations=1))
    assert "...[secret" in measured.examples["check"]
    assert "corr" not in str(measured.examples)


def test_one_host_shows_each_request_and_answer_without_secrets(target, api):
    redaction.remember(PASSWORD)
    loaded = read_scenario(SESSION)

    walked = try_one_host(target, loaded, parse_rules("127.0.0.1:*"), None)

    assert walked.failed is None
    assert [each.step for each in walked.exchanges] == [
        "make", "token", "with the token", "sign in", "mine", "made", "remove",
    ]  # fmt: skip
    shown = repr(walked.exchanges)
    assert PASSWORD not in shown
    assert TOKEN not in shown
    first, last = walked.exchanges[0].answer, walked.exchanges[-1].request
    assert first is not None
    assert last is not None
    assert first.line == "201"
    (removed,) = (path for path in api.paths() if path.startswith("DELETE"))
    assert last.line == f"{removed} HTTP/1.1"
