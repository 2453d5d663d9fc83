"""Play a scenario: every virtual host does its rounds, step by step, on a connection of its own. No Django.

Its loops are those of plain load (`load.loops`): they say when a round begins; here is what a round is. A step that fails does not
end the round: the later ones are done, unless they need a value that it should have taken.
"""

import asyncio
import random
from collections.abc import Mapping
from functools import partial
from time import perf_counter_ns
from typing import Any
from uuid import UUID, uuid5

from campaigns.kinds.http.program.compiling import (
    COOKIES,
    Compiled,
    Place,
    Values,
    compiled_steps,
    random_numbers,
)
from campaigns.kinds.http.program.judging import set_cookies
from campaigns.kinds.http.program.names import RANDOM, range_of
from campaigns.kinds.http.program.reading import Loaded
from campaigns.kinds.http.program.striking import strike
from campaigns.kinds.load.chance import MASK, chance
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.framing import ANY_SIZE, MOST_HEAD_BYTES, UNPARSABLE, Direct
from campaigns.kinds.load.loops import Closed, Open, Paced
from campaigns.kinds.load.part import NS, Part
from campaigns.kinds.load.plain import (
    ENDLESS,
    OPENED_AT_ONCE,
    PARSED_MEANWHILE,
    PAUSE_SECONDS,
    SWEEP_SECONDS,
    usual,
)
from campaigns.kinds.load.recorder import Instants
from campaigns.kinds.load.schedule import CLOSED
from campaigns.kinds.load.wire import MOST_STORED_BYTES, opened
from campaigns.kit.mappings import ProgramProgress, ProgramRequest, ProgramResult

UUIDS = UUID("5f0d3c6e-0a5b-5d0c-8b6e-6d5f0c1d9b10")
"""The namespace of `{uuid}`."""
ROWS = 1 << 20
"""A step's place for the choice of a row, beyond those of real steps."""
NO_CONNECTION = ("connect", "tls")


class Link(Direct, asyncio.Protocol):
    """A connection of a host. Headers and body are kept where the step looks at them.

    An answer with the head of one that was parsed is known without parsing, as in plain load.
    """

    def __init__(self, player: "Player") -> None:
        super().__init__()
        self.player = player
        self.headers: list[tuple[bytes, bytes]] = []
        self._action = player.action
        self._body: list[bytes] = []
        self._usual = b""

    @property
    def body(self) -> bytes:
        """The body of the answer, if the step looks at it."""
        if self._usual:
            return self._usual[len(self._action.usual_head) :]
        return b"".join(self._body)

    def request(self, action: "Action", data: bytes) -> None:
        """Send the request of a step."""
        self._action = action
        self.most_bytes = action.most_bytes
        self._usual = b""
        if self._body:
            self._body = []
        if self.headers:
            self.headers = []
        self.send(data)

    def data_received(self, data: bytes) -> None:
        """Finish at once with a usual answer, which comes in one piece."""
        action = self._action
        if self.first_byte_ns or not self.busy or action.wants_headers:
            super().data_received(data)
            return
        self.first_byte_ns = perf_counter_ns()
        # Whole, and of a known status, for the reasons that stand in `Link.data_received` of plain load; here each step has a usual head. The
        # body may be another, so it is kept for what the step checks or takes. A step that looks at headers has each answer parsed.
        if len(data) == action.usual_bytes and data.startswith(action.usual_head):
            self.busy = False
            self.status = action.usual_status
            self.received = len(data)
            self._usual = data
            self.done_ns = perf_counter_ns()
            self.player.finished(self)
            return
        try:
            self._feed(data)
        except UNPARSABLE as error:
            self.unparsable(data, error)
            return
        if self._answers == 1 and self.keep_alive:
            action.parsed += 1
            if not action.parsed % PARSED_MEANWHILE:
                action.usual_head, action.usual_bytes = usual(data)
                action.usual_status = self.status
        self.take(data)

    def on_message_begin(self) -> None:
        self.headers = []  # those of an interim answer do not count

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._action.wants_headers:
            self.headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        if self._action.wants_body:
            self._body.append(body)

    def finished(self) -> None:
        self.player.finished(self)

    def broke(self, failure: LoadFailed) -> None:
        self.player.broke(failure)


class Action:
    """A step of all hosts of a process, with what was counted of it: requests sent, failures, rounds without it.

    left_out: rounds without it, by its weight or because it lacked a value; lacking: those of the second kind.
    """

    def __init__(
        self, place: int, compiled: Compiled, instants: Instants, *, cookies: bool
    ) -> None:
        step = compiled.step
        self.place = place
        self.compiled = compiled
        self.name = compiled.name
        self.weight = step.weight
        self.needs = compiled.needs
        self.think_ns = int((step.think.seconds or 0.0) * NS) if step.think else 0
        self.think_mean = (step.think.exponential or 0.0) if step.think else 0.0
        discards = step.answer == "discard"
        self.wants_headers = compiled.judge.needs_headers or cookies
        self.wants_body = not discards  # a wrong answer is shown with the begin of its body
        self.usual_head, self.usual_bytes, self.usual_status, self.parsed = b"", 0, 200, 0
        self.most_bytes = ANY_SIZE if discards else MOST_STORED_BYTES + MOST_HEAD_BYTES
        self.sent = self.answered = self.unanswered = self.failed = 0
        self.left_out = self.lacking = 0
        self.add = (
            instants.intended.append,
            instants.sent.append,
            instants.first_byte.append,
            instants.done.append,
        )


class _Turn:
    """Sends a player's next request when the owner's rate allows it."""

    left = ENDLESS

    def __init__(self, player: "Player") -> None:
        self._player = player

    def go(self, intended_ns: int) -> None:
        self._player.transmit()


class Player:
    """A virtual host: its round, its step, and the values of both. left: how many rounds it still has to do."""

    def __init__(self, cast: "Cast", number: int, todo: int) -> None:
        self.cast = cast
        self.number = number
        self.todo = self.left = todo
        self.link: Link | None = None
        self._chance: random.Random | None = None
        self.cookies: dict[str, str] = {}
        self.values: Values = {}
        self.round = -1
        self.round_number = 0
        self.place = 0
        self.action = cast.actions[0]
        self.round_ns = self.intended_ns = 0
        self.requests = self.failures = 0
        self.sent_in_round = 0
        self.is_failed = self.timed_out = self.is_playing = self.retry = self.waits = False
        self._turn = _Turn(self)

    @property
    def chance(self) -> random.Random:
        """The host's random numbers; they take 2.5 kB, and few scenarios need them."""
        if self._chance is None:
            self._chance = random_numbers(self.cast.loaded.scenario.seed, self.number)
        return self._chance

    def go(self, intended_ns: int) -> None:
        """Begin the round that should have begun at `intended_ns`."""
        self.round += 1
        self.round_ns = intended_ns
        self.round_number = self.cast.number_of(self)
        if self.cast.forgets_cookies:
            self.cookies = {}
        self.values = self.cast.values_of(self)
        self.place = -1
        self.sent_in_round = 0
        self.is_failed = self.timed_out = False
        self.is_playing = True
        self._advance(intended_ns)

    def transmit(self) -> None:
        """Send the request of the step now."""
        action, cast = self.action, self.cast
        if cast.loop.over:
            return
        try:
            data = action.compiled.build(self.values)
        except LoadFailed as failure:
            self._failed(failure)
            self._later()
            return
        self.sent_in_round += 1
        link = self.link
        if link is not None and link.open:
            self._send(link, data)
        else:
            cast.connect(self, data)

    def connected(self, link: Link, data: bytes) -> None:
        """Send the request on a new connection."""
        self.link = link
        self._send(link, data)

    def not_connected(self, failure: LoadFailed) -> None:
        """Count a connection that failed, and go on."""
        self._failed(failure)
        self.retry = False
        self._advance(perf_counter_ns())

    def finished(self, link: Link) -> None:
        """Judge and record an answer, and go on."""
        action, cast = self.action, self.cast
        action.answered += 1
        if cast.keeps_cookies:
            self._keep_cookies(link)
        if self.intended_ns >= cast.part.from_ns:
            cast.recorder.statuses[link.status] += 1
        try:
            taken = action.compiled.judge.judged(link)
        except LoadFailed as failure:
            cast.recorder.answered_ns = max(cast.recorder.answered_ns, link.done_ns)
            self._failed(failure, answered=True)
        else:
            if taken:
                self.values.update(taken)
            intended, sent, first_byte, done = action.add
            intended(self.intended_ns)
            sent(link.sent_ns)
            first_byte(link.first_byte_ns)
            done(link.done_ns)
            cast.recorder.bytes += link.received
        self.retry = False
        if not link.keep_alive:
            self.link = None
        self._advance(link.done_ns)

    def broke(self, failure: LoadFailed) -> None:
        """Count a failure; send the request once more where a kept connection was dropped before any answer."""
        link, self.link = self.link, None
        again = (
            failure.unanswered
            and link is not None
            and bool(link.status)
            and not self.retry
            and self.action.compiled.may_repeat
        )
        if again:
            self.cast.resends += 1
            self.retry = True
            self.transmit()
            return
        self._failed(failure, link)
        self.retry = False
        if failure.kind in NO_CONNECTION:
            self._later()
        else:
            self._advance(perf_counter_ns())

    def late(self, failure: LoadFailed) -> None:
        """Count what is in flight at the end as failed, and the round as one that timed out."""
        link = self.link
        sent = link is not None and link.busy
        if link is not None:
            link.close()
        if sent or self.waits:
            self._failed(failure, link if sent else None)
        if self.is_playing:
            self.cast.late_round(self)

    def _send(self, link: Link, data: bytes) -> None:
        self.waits = False
        self.action.sent += 1
        self.requests += 1
        link.request(self.action, data)

    def _advance(self, done_ns: int) -> None:
        """Go on to the next step that is to be done, or end the round."""
        actions, values = self.cast.actions, self.values
        while True:
            self.place += 1
            if self.place == len(actions):
                self._end(done_ns)
                return
            action = actions[self.place]
            if (
                action.weight < 1
                and chance(self.cast.loaded.scenario.seed, self.round_number, self.place)
                >= action.weight
            ):
                action.left_out += 1
            elif action.needs and not action.needs <= values.keys():
                action.left_out += 1
                action.lacking += 1
            else:
                break
        self.action = action
        think = action.think_ns
        if action.think_mean:
            think = int(self.chance.expovariate(1 / action.think_mean) * NS)
        if think:
            intended = done_ns + think
            self.cast.part.alarm.at(intended, partial(self._begin, intended))
        else:
            self._begin(done_ns)

    def _begin(self, intended_ns: int) -> None:
        self.intended_ns = intended_ns
        self.waits = True
        if self.cast.paced is not None:
            self.cast.paced.go(self._turn, intended_ns)
        else:
            self.transmit()

    def _later(self) -> None:
        """Go on after a pause: the target, or we, should not turn in circles."""
        at = perf_counter_ns() + int(PAUSE_SECONDS * NS)
        self.cast.part.alarm.at(at, partial(self._advance, at))

    def _end(self, done_ns: int) -> None:
        self.is_playing = False
        self.cast.ended(self, done_ns)
        if self.sent_in_round:
            self.cast.loop.next(self, done_ns)
        else:  # nothing was done in it: no call within a call within a call
            asyncio.get_running_loop().call_soon(self.cast.loop.next, self, done_ns)

    def _failed(
        self, failure: LoadFailed, link: Link | None = None, *, answered: bool = False
    ) -> None:
        """Count a failure. link: on which the request was sent, if it was."""
        self.waits = False
        self.is_failed = True
        self.timed_out |= failure.kind == "timeout"
        self.failures += 1
        self.action.failed += 1
        self.action.unanswered += not answered
        self.cast.failed(self, failure, link)

    def _keep_cookies(self, link: Link) -> None:
        for name, text in set_cookies(link.headers):
            if text:
                self.cookies[name] = text
            else:
                self.cookies.pop(name, None)


class Cast:
    """All players of a process."""

    def __init__(self, part: Part, request: ProgramRequest, loaded: Loaded) -> None:
        schedule, job = part.job.schedule, part.job
        self.part = part
        self.loaded = loaded
        self.recorder = part.recorder
        self.place = job.pinned()
        self.tls_context = job.tls_context()
        self.keeps_cookies = loaded.scenario.cookies != "drop"
        self.forgets_cookies = loaded.scenario.cookies == "round"
        self.constant: Values = {
            **request.get("taken", {}),
            "attempt": request.get("attempt", 0),
            "target_user": request.get("user", ""),
            "target_password": request.get("password", ""),
        }
        self.kept = request.get("connections", "kept") == "kept"
        self.actions = [
            Action(
                place,
                compiled,
                self.recorder.instants_of(compiled.name),
                cookies=self.keeps_cookies,
            )
            for place, compiled in enumerate(
                compiled_of(loaded, request, self.place.host_header, self.place.scheme)
            )
        ]
        self.used = frozenset[str]().union(*(action.compiled.named for action in self.actions))
        self.uses_random = any(range_of(name) for name in self.used)
        self.closed = schedule.loop == CLOSED
        self.may_be_overloaded = bool(request.get("may_be_overloaded"))
        self.rounds = self.failed_rounds = self.warm_up_rounds = self.begun = self.resends = 0
        todo = schedule.iterations if self.closed and schedule.iterations else ENDLESS
        self.players = [Player(self, number, todo) for number in schedule.numbers]
        self.paced = Paced(part.alarm, part.pacer) if job.most_per_second else None
        self.loop: Closed | Open = (Closed if self.closed else Open)(part, self.players, None)
        self._tasks: set[asyncio.Task[None]] = set()
        self._reported = False

    def number_of(self, player: Player) -> int:
        """Return the number of a round that begins: by host and round, or of an open loop by arrival."""
        schedule = self.part.job.schedule
        self.begun += 1
        if self.closed:
            return player.number + player.round * schedule.hosts
        return schedule.shard + (self.begun - 1) * schedule.shards

    def values_of(self, player: Player) -> Values:
        """Return the values of a round that begins, as far as the scenario uses them."""
        scenario, number = self.loaded.scenario, player.round_number
        values: Values = {
            **self.constant,
            "host": player.number,
            "round": player.round,
            "number": number,
            COOKIES: player.cookies,
        }
        if self.uses_random:
            values[RANDOM] = player.chance
        if "uuid" in self.used:
            values["uuid"] = str(uuid5(UUIDS, f"{scenario.seed} {number}"))
        if self.loaded.columns:
            row = player.number
            if scenario.rows == "round":
                row = number
            elif scenario.rows == "random":
                row = int(chance(scenario.seed, number, ROWS) * MASK)
            for name, column in self.loaded.columns.items():
                values[name] = column[row % len(column)]
        return values

    async def prepare(self) -> None:
        """Open all connections that are kept, some at a time; after a failure the rest is left to the run."""
        if not self.kept:
            return
        at_once = asyncio.Semaphore(OPENED_AT_ONCE)
        failed = asyncio.Event()

        async def one(player: Player) -> None:
            async with at_once:
                if not failed.is_set():
                    try:
                        player.link = await self._open(player)
                    except LoadFailed:
                        failed.set()

        async with asyncio.TaskGroup() as group:
            for player in self.players:
                group.create_task(one(player))

    async def load(self) -> None:
        """Run the loop to its end."""
        self.recorder.from_ns = self.part.from_ns
        sweep = asyncio.create_task(self._sweep())
        self.part.first_ns = self.part.origin_ns
        try:
            await self.loop.run()
        finally:
            self.part.ended()
            self.loop.over = True
            sweep.cancel()
            for task in self._tasks:
                task.cancel()
        # Not at the time limit, which cancels this: `late` has to see what is in flight.
        for player in self.players:
            if player.link is not None:
                player.link.close()

    def connect(self, player: Player, data: bytes) -> None:
        """Open a connection for a player that has something to send."""
        task = asyncio.get_running_loop().create_task(self._connect(player, data))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def ended(self, player: Player, done_ns: int) -> None:
        """Count a round that has ended."""
        self.rounds += 1
        if player.round_ns < self.part.from_ns:
            self.warm_up_rounds += 1
        elif player.is_failed:
            self.failed_rounds += 1
            if player.timed_out:  # one, however many of its requests did
                self.recorder.censor("host_response", done_ns - player.round_ns)
        else:
            self.recorder.add("host_response", done_ns - player.round_ns)

    def late_round(self, player: Player) -> None:
        """Note how long a round had lasted at the time limit of the run."""
        if player.round_ns >= self.part.from_ns:
            self.recorder.censor("host_response", perf_counter_ns() - player.round_ns)

    def failed(self, player: Player, failure: LoadFailed, link: Link | None = None) -> None:
        """Count the failure of a player's request. link: on which it was sent, if it was."""
        if player.intended_ns < self.part.from_ns:
            self.recorder.warm_up += 1
            return
        if player.action.compiled.sends_secret:
            failure = failure.without_quotes()
        self.part.failed(failure.saying(strike(str(failure))))
        if failure.kind == "timeout":
            self.part.timed_out(player.intended_ns, link)

    def progress(self) -> ProgramProgress:
        """Return the numbers of hosts and rounds."""
        return {
            "hosts": len(self.players),
            "hosts_done": self.rounds - self.failed_rounds,
            "hosts_failed": self.failed_rounds,
        }

    def rows(self) -> Mapping[str, list[Any]]:
        """Return a row for each host, at the end."""
        if not self.loop.over or self._reported:
            return {}
        self._reported = True
        return {
            "host": [player.number for player in self.players],
            "rounds": [player.round + 1 for player in self.players],
            "requests": [player.requests for player in self.players],
            "failures": [player.failures for player in self.players],
        }

    def late(self) -> None:
        """Count the requests that wait or are in flight as timed out."""
        self.loop.over = True
        failure = LoadFailed("timeout", "the time limit of the run was over")
        for player in self.players:
            player.late(failure)
        self.part.dropped(self.loop.drop_late(perf_counter_ns()), failure)

    def figures(self) -> Mapping[str, float]:
        """Return how many rounds were offered, and how many began in time, unless overload is what is asked."""
        return {} if self.may_be_overloaded else self.loop.figures()

    def result(self) -> ProgramResult:
        """Return the numbers of rounds, and of requests by step; those of the warm-up are among these."""
        return {
            "hosts": len(self.players),
            "warm_up": self.recorder.warm_up,
            **self.loop.figures(),
            "hosts_done": self.rounds - self.failed_rounds - self.warm_up_rounds,
            "hosts_failed": self.failed_rounds,
            "rounds": sum(player.round + 1 for player in self.players),
            "resends": self.resends,
            "steps_sent": {action.name: action.sent for action in self.actions},
            "steps_answered": {action.name: action.answered for action in self.actions},
            "steps_unanswered": {action.name: action.unanswered for action in self.actions},
            "steps_failed": {action.name: action.failed for action in self.actions},
            "steps_left_out": {action.name: action.left_out for action in self.actions},
            "steps_lacking": {action.name: action.lacking for action in self.actions},
        }

    async def _connect(self, player: Player, data: bytes) -> None:
        try:
            link = await self._open(player)
        except LoadFailed as failure:
            await asyncio.sleep(PAUSE_SECONDS)
            player.not_connected(failure)
        else:
            player.connected(link, data)

    async def _open(self, player: Player) -> Link:
        job = self.part.job
        link = await opened(
            lambda: Link(player),
            self.place,
            job.rules,
            self.tls_context,
            job.connect_timeout_seconds,
            job.tls_timeout_seconds,
        )
        self.recorder.add("connect", link.connect_ns)
        if link.tls_ns:
            self.recorder.add("tls", link.tls_ns)
        return link

    async def _sweep(self) -> None:
        """End requests after their timeout, to a twentieth of a second."""
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self.part.job.timeout_seconds / 10))
            self.sweep(perf_counter_ns())

    def sweep(self, now: int) -> None:
        """End requests that have waited for an answer, and drop those that have waited for a host, for longer than the timeout."""
        seconds = self.part.job.timeout_seconds
        timeout_ns = int(seconds * NS)
        for player in self.players:
            link = player.link
            if link is not None and link.busy and now - link.sent_ns > timeout_ns:
                where = "the rest of the answer" if link.received else "the first byte"
                link.fail(
                    LoadFailed("timeout", f"{player.action.name}: waited {seconds:g} s for {where}")
                )
        late = self.loop.drop_late(now - timeout_ns)
        self.part.dropped(late, LoadFailed("timeout", f"no host was free for {seconds:g} s"))


def compiled_of(
    loaded: Loaded, request: ProgramRequest, host_header: str, scheme: str
) -> list[Compiled]:
    """Return the compiled steps of a request."""
    place = Place(
        scheme=scheme,
        host_header=host_header,
        sender=request.get("sender", "perfdash"),
        user=request.get("user", ""),
        password=request.get("password", ""),
        token=request.get("token", ""),
        signs_in=bool(request.get("signs_in")),
        close=request.get("connections", "kept") != "kept",
    )
    return compiled_steps(loaded.scenario, loaded.scenario.steps, place, request.get("taken", {}))
