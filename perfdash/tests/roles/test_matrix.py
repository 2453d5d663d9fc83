"""Every address, by every method, as everybody, at rows of the own and of another team: as the table says."""

import json
import logging
import re
from functools import cache
from itertools import combinations

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client, override_settings

from campaigns.accounts.access import make_token
from campaigns.kinds.registry import all_kinds
from campaigns.kit.rights import RIGHTS, Right
from campaigns.models import (
    Comment,
    Conclusion,
    Membership,
    Role,
    Submission,
    Team,
    Template,
)
from campaigns.models.teams import default_team
from campaigns.planning.pages import forms
from campaigns.templatetags import comments
from campaigns.tests.people import somebody
from campaigns.tests.toy import Toy, toy
from perfdash.tests.roles import table
from perfdash.tests.roles.driving import (
    METHODS,
    NAMING,
    addresses,
    allowed_by,
    answer,
    answer_unless_admitted,
    filled,
    is_named,
    of_which,
    word_of,
)
from perfdash.tests.roles.rows import own_of, rows_of

__all__ = ["toy"]

pytestmark = pytest.mark.django_db
IN_TEAM = tuple(map(str, Role))
LEAST_AND_MOST = (str(Role.VIEWER), str(Role.ADMIN))
"""Who asks for rows of another team. Rights decide, and those of all other roles are between theirs."""
EVERYBODY = (*IN_TEAM, "owner", "no team", "anonymous")
WHOLE = 10
"""Each tenth address is asked whole by day: at the others a request ends where its view admits the one who asks."""
SESSIONS = "django.contrib.sessions.backends.cached_db"
"""Whoever asks has signed in for all requests: one query of each would read that again."""
WHATEVER = re.compile(rb'[0-9a-f]{16}|X-CSRFToken": "\w+"|name="csrfmiddlewaretoken" value="\w+"')
"""What differs from one answer to the next: the request's id, tokens of forms."""


NAMED, HERE, OURS = "(the row)", "(a target of the own team)", "(a campaign of the own team)"
OUTSIDE = {"kind": "external", "question": "Is it?", "repetitions": 1}
CLAIM = {"claim": "a", "evidence": [{"campaign": OURS}]}


class House:
    """Two teams with rows, somebody of each kind who is signed in, and what belongs to each."""

    def __init__(self) -> None:
        other = Team.objects.create(name="Others")
        self.home = rows_of(Team.objects.get(pk=default_team()), 9001)
        self.other = rows_of(other, 9002)
        people = {role: somebody(role, role) for role in IN_TEAM}
        people["owner"] = User.objects.create_superuser("root")
        people["no team"] = User.objects.create_user("lost")
        self.clients = {"anonymous": Client()}
        self.own = {"anonymous": {"tokens": 1, "channels": 1, "sessions": 1, "keys": 1}}
        for name, person in people.items():
            self.clients[name] = Client()
            self.clients[name].force_login(person)
            self.clients[name].get("/account/tokens/")  # refused, and notes the session
            session = UserSession.objects.get(user=person).pk
            self.own[name] = {**own_of(person), "sessions": session}

    def path(self, address, who, *, other=False):
        rows = self.other if other else self.home
        return filled(address, {"token": "x", **rows.named, **self.own[who]})


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    """A house that is made once, in a transaction that nobody stores: each test has a savepoint in it."""
    with django_db_blocker.unblock(), transaction.atomic():
        with (
            pytest.MonkeyPatch.context() as patch,
            override_settings(OWNER_CONFIRMS=True, SESSION_ENGINE=SESSIONS),
        ):
            patch.setitem(all_kinds(), "toy", Toy())
            house = House()
        yield house
        transaction.set_rollback(True)


@pytest.fixture
def house(made, db, toy, settings, monkeypatch):
    settings.OWNER_CONFIRMS, settings.SESSION_ENGINE = True, SESSIONS
    settings.MFA_RATE_LIMITS = False  # everybody asks from one address
    monkeypatch.setattr(comments, "count", lambda *_: 0)  # in the head of every page; it costs most
    logging.disable(logging.CRITICAL)
    try:
        yield made
    finally:
        logging.disable(logging.NOTSET)


def test_every_address_stands_in_the_table_and_no_other():
    written = table.by_address()

    missing = sorted(set(addresses()) - set(written))
    assert missing == [], "Add a line for each to docs/reference/roles.md."
    assert sorted(set(written) - set(addresses())) == []


def test_whoever_tells_two_lines_of_the_table_apart_gets_what_it_says(house, subtests):
    examples = first_of_each_kind()
    for number, address in enumerate(sorted(addresses())):
        asking, whole = {}, set()
        for method, words in table.by_address()[address].items():
            if (address, method) in examples:
                asking[method] = who_asks(method, words)
                whole.add(method)
            elif method != "HEAD":
                asking[method] = fewest(tuple(words.items()))
        if number % WHOLE == 0:
            whole |= set(asking)
        with subtests.test(address):
            different = [
                *differing_from(house, address, asking, ["admin"], whole),
                *refusal_differing(house, address, "owner"),
            ]
            assert different == []


@pytest.mark.nightly
def test_everybody_gets_what_the_table_says(house, subtests):
    for address in sorted(addresses()):
        written = table.by_address()[address]
        asking = {method: who_asks(method, words) for method, words in written.items()}
        with subtests.test(address):
            different = [
                *differing_from(house, address, asking, LEAST_AND_MOST, set(asking)),
                *refused_by_method(house, address, ["owner", "no team"]),
            ]
            assert different == []


def test_a_line_of_the_table_is_told_from_every_other_by_few():
    asked = {
        right: set(fewest(tuple(words.items())))
        for right in Right
        for methods in table.by_address().values()
        for words in methods.values()
        if words["no team"] == "404" != words["admin"]
        and all((words[role] == "yes") == (right in RIGHTS[Role(role)]) for role in IN_TEAM)
    }

    assert asked == {
        Right.SEE: {"viewer", "anonymous"},
        Right.COMMENT: {"viewer", "anonymous"},
        Right.WRITE: {"viewer", "author", "anonymous"},
        Right.OPERATE: {"author", "operator", "anonymous"},
        Right.REVIEW: {"viewer", "reviewer", "anonymous"},
        Right.MANAGE: {"operator", "reviewer", "admin", "anonymous"},
    }


@cache
def fewest(line):
    """Anonymous, and the fewest people whose answers tell a line, (who, word) of each, from all others of the table.

    What an admin of another team gets tells lines apart, too: that is asked wherever a line says it.
    """
    words = dict(line)
    others = [
        other
        for methods in table.by_address().values()
        for other in methods.values()
        if any(words[who] != other[who] for who in EVERYBODY)
    ]
    for count in range(len(EVERYBODY)):
        for who in combinations(EVERYBODY[:-1], count):
            asked = (*who, "anonymous")
            telling = (*asked, "elsewhere")
            if all(any(words[each] != other[each] for each in telling) for other in others):
                return asked
    raise AssertionError(words)


def first_of_each_kind():
    """The first address and method of each kind of line: there everybody asks."""
    firsts: dict[tuple[str | bool, ...], tuple[str, str]] = {}
    for address, methods in sorted(table.by_address().items()):
        for method, words in methods.items():
            firsts.setdefault((*words.values(), method == "HEAD"), (address, method))
    return set(firsts.values())


def differing_from(house, address, asking, elsewhere, whole):
    """What each method of an address gives beside what the table says.

    asking: who sends each method of the table; elsewhere: who sends it to rows of the other team;
    whole: methods that are asked to their end where somebody is admitted.
    """
    written = table.by_address()[address]
    for method, asked in asking.items():
        yield from differing(house, address, method, written[method], asked, method in whole)
        yield from differing_elsewhere(house, address, method, written[method], elsewhere)


def test_the_rights_of_every_role_are_between_those_of_the_least_and_the_most():
    least, most = (RIGHTS[Role(role)] for role in LEAST_AND_MOST)

    assert all(least <= rights <= most for rights in RIGHTS.values())


def unwritten(address):
    """The methods that no line names."""
    return [method for method in METHODS if method not in table.by_address()[address]]


def refused_by_method(house, address, asking):
    """A method that no line names is refused, whoever asks."""
    for method in unwritten(address):
        for who in asking:
            word = word_of(answer(house.clients[who], method, house.path(address, who)))
            if word != "405":
                yield f"{method} {address}, {who}: {word}, and the table has no line for it"


def refusal_differing(house, address, who):
    """One method that no line names is refused, and the refusal allows the methods of the table alone."""
    for method in unwritten(address)[-1:]:
        response = answer(house.clients[who], method, house.path(address, who))
        written = table.by_address()[address]
        if word_of(response) != "405":
            yield f"{method} {address}, {who}: {word_of(response)}, and the table has no line for it"
        elif (allowed := allowed_by(response)) is None:
            yield from refused_by_method(house, address, [who])
        elif allowed != (
            named := {method for method in written if "405" not in written[method].values()}
        ):
            yield f"{address} allows {sorted(allowed)}, and the table has lines for {sorted(named)}"


def differing(house, address, method, words, asking, whole):
    """What an address gives beside what the table says, at rows of the own team."""
    for who in asking:
        send = answer if whole or words[who] != "yes" else answer_unless_admitted
        response = send(house.clients[who], method, house.path(address, who))
        word = word_of(response)
        if word != words[who]:
            yield f"{method} {address}, {who}: {word}, not {words[who]}"
        elif response is None:
            continue
        elif word == "yes" and method in ("GET", "HEAD") and response.status_code not in ALLOWED:
            yield f"{method} {address}, {who}: {response.status_code}; give it what it needs"


def differing_elsewhere(house, address, method, words, asking):
    """What an address gives beside what the table says, at rows of another team and of nobody."""
    if not is_named(address, house.home.named):
        if words["elsewhere"] != "–":
            yield f"{address} names no row of a team: write – under “elsewhere”"
        return
    for who in asking:
        path = house.path(address, who, other=True)
        response = answer(house.clients[who], method, path)
        word = word_of(response)
        if word != words["elsewhere"]:
            yield f"{method} {address} of another team, {who}: {word}, not {words['elsewhere']}"
    if words["elsewhere"] == "404":
        before, part = of_which(address)
        nobodys = filled(address, {"token": "x", **house.other.named, before: NAMING[part]})
        status, told = bare(answer(house.clients[who], method, nobodys), nobodys)
        if bare(response, path) != (status, renamed(told, NAMING[part], house.other.named[before])):
            yield f"{method} {address} of another team is answered unlike one of nobody"


def who_asks(method, words):
    """Everybody. HEAD is GET without a body: for each word only the first one who gets it."""
    first = {words[who]: who for who in reversed(EVERYBODY)}
    return [who for who in EVERYBODY if method != "HEAD" or who in first.values()]


ALLOWED = {200, 204, 286, 301, 302, 400, 422}
"""Of reading: 400 and 422 where the query names nothing yet."""


def bare(response, path):
    """Status and body, without the address that was asked for and what differs every time."""
    return response.status_code, WHATEVER.sub(b"", response.told).replace(path.encode(), b"")


def renamed(told, nobodys, name):
    """A body that quotes a name that no row has, with another in its place."""
    return told.replace(str(nobodys).encode(), str(name).encode())


REFERENCES = (
    # What is named besides the address: by which method and address, in which body or query, a row of what.
    ("POST", "/api/v1/campaigns", {"kind": "toy", "target": NAMED}, "targets"),
    ("POST", "/api/v1/campaigns", {"kind": "toy", "targets": [NAMED]}, "targets"),
    ("POST", "/api/v1/campaigns", {"kind": NAMED, "target": HERE}, "kinds"),
    ("POST", "/api/v1/campaigns", OUTSIDE | {"team": NAMED}, "teams"),
    ("POST", "/api/v1/campaigns/preview", {"kind": "toy", "target": NAMED}, "targets"),
    ("POST", "/api/v1/campaigns/preview", {"kind": NAMED, "target": HERE}, "kinds"),
    ("PUT", "/api/v1/campaigns/<drafts>", {"kind": "toy", "target": NAMED}, "targets"),
    ("PUT", "/api/v1/campaigns/<drafts>", {"kind": NAMED, "target": HERE}, "kinds"),
    ("PATCH", "/api/v1/campaigns/<drafts>", {"target": NAMED}, "targets"),
    ("PATCH", "/api/v1/campaigns/<drafts>", {"kind": NAMED}, "kinds"),
    ("POST", "/api/v1/campaigns/<campaigns>/clone", {"target": NAMED}, "targets"),
    ("POST", "/api/v1/campaigns/<campaigns>/clone", {"kind": NAMED}, "kinds"),
    ("POST", "/api/v1/templates/<templates>/campaigns", {"target": NAMED}, "targets"),
    ("POST", "/api/v1/templates/<templates>/campaigns", {"kind": NAMED, "target": HERE}, "kinds"),
    ("POST", "/api/v1/programs", {"team": NAMED, "definition": {"name": "a"}}, "teams"),
    ("POST", "/api/v1/programs/<programs>/try", {"target": NAMED}, "targets"),
    ("POST", "/api/v1/targets", {"team": NAMED}, "teams"),
    ("POST", "/api/v1/conclusions", {"claim": "a", "evidence": [{"campaign": NAMED}]}, "campaigns"),
    ("POST", "/api/v1/conclusions", CLAIM | {"supersedes": NAMED}, "conclusions"),
    ("POST", "/api/v1/notifications/channels", {"name": "a", "kind": "email", "teams": [NAMED]}, "teams"),
    ("GET", "/api/v1/compare?campaign=<campaigns>&campaign=?", None, "campaigns"),
    ("GET", "/api/v1/campaigns?target=?", None, "targets"),
    ("GET", "/api/v1/launch-requests?campaign=?", None, "drafts"),
    ("GET", "/campaigns/?target=?", None, "targets"),
    ("GET", "/campaigns/?kind=?", None, "kinds"),
    ("GET", "/campaigns/new/?kind=toy&calibrate=1&target=?", None, "targets"),
    ("GET", "/campaigns/new/?kind=?", None, "kinds"),
    ("GET", "/conclusions/new/?campaign=?", None, "campaigns"),
    ("GET", "/conclusions/new/?campaign=<campaigns>&supersedes=?", None, "conclusions"),
    ("GET", "/compare/?c=<campaigns>&c=?", None, "campaigns"),
)  # fmt: skip


def test_a_row_of_another_team_is_named_in_vain_in_bodies_and_queries(house, subtests, monkeypatch):
    monkeypatch.setattr(forms, "new_seed", lambda: 7)  # it stands on the page
    for method, address, body, of in REFERENCES:
        with subtests.test(f"{method} {address} {body}"):
            theirs, nobodys = house.other.named[of], NAMING["<kind>" if of == "kinds" else "<pk>"]
            status, told = referring(house, method, address, body, nobodys)
            assert referring(house, method, address, body, theirs) == (
                status,
                renamed(told, nobodys, theirs),
            )
            ours = house.home.named[of]
            assert referring(house, method, address, body, ours) != (
                status,
                renamed(told, nobodys, ours),
            )


def referring(house, method, address, body, name):
    """The bare answer of an address whose body or query refers to a name."""

    def filled_in(value):
        if isinstance(value, dict):
            return {key: filled_in(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [filled_in(inner) for inner in value]
        return {NAMED: name, HERE: house.home.named["targets"], OURS: house.home.campaign.pk}.get(
            value, value
        )

    path = re.sub(r"<(\w+)>", lambda match: str(house.home.named[match[1]]), address)
    path = path.replace("=?", f"={name}")
    response = answer(house.clients["admin"], method, path, filled_in(body))
    assert response.status_code in {*ALLOWED, 201, 202, 404}, response.told
    return bare(response, path)


def test_what_belongs_to_one_person_does_not_exist_for_another(house, subtests):
    for address, methods in table.by_address().items():
        if not re.search("/(tokens|channels|sessions)/<pk>", address):
            continue
        path = filled(address, house.own["author"])
        for method in methods:
            with subtests.test(address, method=method):
                response = answer(house.clients["owner"], method, path)
                assert response.status_code == 404


@pytest.mark.slow
def test_a_post_of_a_browser_without_the_token_of_its_page_is_refused_everywhere(house):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="root"))
    let_through = []
    for address, methods in table.by_address().items():
        for method in set(methods) - {"GET", "HEAD"}:
            response = answer(browser, method, house.path(address, "owner"))
            if response.status_code != 403:
                let_through.append(f"{method} {address}: {response.status_code}")

    # No page sends it: a signed message of another server.
    assert let_through == ["POST /hooks/<token>/: 404"]


@pytest.mark.slow
def test_no_list_of_a_team_names_what_another_team_has(house):
    word = "zebra"
    house.other.campaign.name = house.other.campaign.question = f"Does the {word} run?"
    house.other.campaign.tags = [word]
    house.other.campaign.save()
    target = house.other.campaign.target
    target.name = f"{word} server"
    target.save()
    program = house.other.named["kinds"]
    for rows, column in ((Template, "name"), (Conclusion, "claim"), (Submission, "filename")):
        rows.objects.filter(team=house.other.team).update(**{column: f"A {word}"})
    Comment.objects.filter(thread__team=house.other.team).update(text=f"A {word}")
    messages = []
    for address, methods in table.by_address().items():
        if "GET" not in methods or is_named(address, house.home.named) or "<" in address:
            continue
        response = answer(house.clients["admin"], "GET", address)
        if word.encode() in response.told or program.encode() in response.told:
            messages.append(address)
    assert program in str(house.clients["owner"].get("/api/v1/kinds").json())
    for query in (f"?q={word}", f"?tag={word}", f"?target={target.pk}"):
        page = house.clients["admin"].get(f"/campaigns/{query}").content.decode()
        assert f"{word} server" not in page
        assert "Does the" not in page

    assert messages == []


def test_a_role_that_is_taken_away_counts_at_the_next_click_and_for_tokens(house):
    person = User.objects.get(username="operator")
    bearer = {"Authorization": f"Bearer {make_token(person, 'ci')[1]}"}
    campaign = house.home.named["campaigns"]
    client = house.clients["operator"]
    assert client.get(f"/campaigns/{campaign}/edit/").status_code == 302

    Membership.objects.filter(user=person).update(roles=["viewer"])
    assert client.post(f"/campaigns/{campaign}/launch/").status_code == 403
    refused = Client(headers=bearer).post(f"/api/v1/campaigns/{campaign}/launch")
    assert refused.status_code == 403
    assert "operator or admin" in json.loads(refused.content)["detail"]

    Membership.objects.filter(user=person).delete()
    assert client.post(f"/campaigns/{campaign}/launch/").status_code == 404
    assert Client(headers=bearer).get(f"/api/v1/campaigns/{campaign}").status_code == 404
