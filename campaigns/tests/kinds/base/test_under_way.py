"""A clean-up by list looks again, for a time that comes from how long requests took."""

from campaigns.kinds.base import under_way
from campaigns.kinds.base.under_way import Patience, note, patience_of, remove_until_quiet


class Server:
    """Makes things at instants of a clock of its own, which only waiting moves on."""

    def __init__(self, *instants):
        self.now, self.instants, self.looks = 0.0, sorted(instants), 0

    def clock(self):
        return self.now

    def rest(self, gone):
        self.now += 0.5

    def remove(self):
        self.looks += 1
        there = [instant for instant in self.instants if instant <= self.now]
        self.instants = self.instants[len(there) :]
        return len(there)

    def clean(self, seconds, most_later=None, **expected):
        patience = Patience(seconds, most_later)
        return remove_until_quiet(self.remove, patience, self.rest, clock=self.clock, **expected)


def test_where_nothing_was_under_way_one_look_is_enough(keeper):
    server = Server(0.0, 3.0)

    removed = server.clean(patience_of(keeper.context()).seconds)

    assert (removed.count, server.looks) == (1, 1)
    assert removed.text("hosts") == "1 hosts removed"


def test_what_appears_after_the_first_look_is_removed_too():
    server = Server(0.0, 1.2, 2.8)

    removed = server.clean(2.0)

    assert (removed.at_first, removed.later, server.instants) == (1, 2, [])
    assert removed.last_seconds == 3.0
    assert removed.text("hosts") == (
        "3 hosts removed, 2 of them appeared up to 3.0 s after the first look; "
        "nothing more appeared for 3.0 s"
    )


def test_what_appears_late_has_others_waited_for_as_long():
    server = Server(4.0, 8.0)

    assert server.clean(5.0).count == 2
    assert Server(4.0, 10.0).clean(5.0).count == 1


def test_it_ends_at_once_when_all_that_can_appear_is_removed():
    server = Server(1.0, 1.5)

    assert server.clean(100.0, expected=2).count == 2
    assert server.now == 1.5
    server = Server(0.0, 1.0)
    assert server.clean(100.0, most_later=1).count == 2
    assert server.now == 1.0


def test_what_goes_on_appearing_ends_some_time_and_may_be_left():
    server = Server(*range(1000))

    removed = server.clean(2.0)

    assert server.now == under_way.MOST_SECONDS
    assert removed.text("tasks").endswith("they still appeared then, so some may be left")


def test_the_time_comes_from_the_longest_request_and_from_a_constant_without_any(keeper):
    context = keeper.context()

    note(context, None)
    assert patience_of(context) == Patience(under_way.UNMEASURED_SECONDS, 1)
    note(context, 0.1)
    assert patience_of(context) == Patience(under_way.LEAST_SECONDS, 2)
    note(context, 3.0)
    note(context, 2.0)
    assert patience_of(context) == Patience(3.0 * under_way.MARGIN, 4)
