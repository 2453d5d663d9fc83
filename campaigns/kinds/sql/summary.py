"""Turn what the engine counted into the values of a run. No I/O."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from campaigns.kinds.base import Distribution, Health, Parameters
from campaigns.kinds.base.load_fields import KEPT
from campaigns.kinds.load.schedule import OPEN
from campaigns.kinds.programs.health import verdict_of
from campaigns.kinds.sql.form import APART
from campaigns.kit import histogram
from campaigns.kit.mappings import Json

PERCENTILES = {"response_p50": 0.5, "response_p95": 0.95, "response_p99": 0.99}
THREAD_SATURATES = 0.8
"""Cores that a thread of pgbench used; its own queue then counts as the database's."""
COUNTED = ("serialization", "deadlock")
"""Classes of failures that pgbench's summary has."""
ACHIEVED_SATURATES = 0.95
"""Share of an offered rate that has to be begun."""
CONNECT, TIMED_OUT = "connect", "timeout"


@dataclass(frozen=True)
class Transactions:
    """The outcome of a run. result: of the engine; parameters: of the run."""

    parameters: Parameters
    result: Json

    @property
    def log(self) -> Json:
        """What the log counted."""
        log: Json = self.result.get("log") or {}
        return log

    @property
    def is_sample(self) -> bool:
        """Whether the log has a part of the transactions alone."""
        return bool(self.result.get("sampling_rate"))

    @property
    def sampled(self) -> float:
        """The share of transactions that the log has: of those that pgbench has counted, where it has a sample."""
        processed = self.result.get("processed")
        if not (self.is_sample and processed and self.logged):
            return 1.0
        return self.logged / float(processed)

    @property
    def logged(self) -> int:
        """How many transactions in the log were done, before and after the warm-up."""
        log = self.log
        return int(log["lines"] - log["all_skipped"] - sum(log["all_failures"].values()))

    @property
    def is_open(self) -> bool:
        """Whether transactions begin at a rate."""
        return bool(self.parameters["loop"] == OPEN)

    @property
    def done(self) -> int:
        """How many transactions were done after the warm-up."""
        return round(float(self.log.get("measured", 0)) / self.sampled)

    @property
    def skipped(self) -> int:
        """How many were not begun since they would have been late."""
        return round(float(self.log.get("skipped", 0)) / self.sampled)

    @property
    def unfinished(self) -> int:
        """How many were under way when the time to finish them was over."""
        return int(self.result.get("unfinished") or 0)

    @property
    def taken_up(self) -> int:
        """How many clients have come to: those that were done, that failed, that are unfinished, and that were skipped."""
        failed = sum(self._failed_transactions().values())
        return self.done + self.skipped + failed + self.unfinished

    @property
    def offered(self) -> float:
        """How many arrivals an open loop has after the warm-up: on the average where it lasts for a time."""
        if each := self.parameters.get("transactions"):
            return float(each) * int(self.parameters["clients"])
        return float(self.parameters["rate"]) * self.seconds

    @property
    def due(self) -> float:
        """How many should have begun after the warm-up.

        In an open loop those that nobody took up, too: pgbench neither logs nor skips what clients that wait, or were not let in,
        never came to. By chance alone arrivals are fewer than their average by up to three times its square root.
        """
        if not self.is_open:
            return self.taken_up
        found = self.taken_up + self.offered * self.never_let_in / int(self.parameters["clients"])
        chance = 0.0 if self.parameters.get("transactions") else 3 * sqrt(self.offered)
        return self.offered if found < self.offered - chance else found

    @property
    def seconds(self) -> float:
        """The seconds that they took."""
        return float(self.log.get("seconds") or 0.0)

    @property
    def clients(self) -> list[int]:
        """The transactions of each client."""
        return list(self.log.get("of_clients") or [0] * int(self.parameters["clients"]))

    @property
    def served(self) -> int:
        """How many clients had a transaction done."""
        return sum(1 for count in self.clients if count)

    @property
    def ended(self) -> list[tuple[str, str, str]]:
        """Why processes ended early: class, SQLSTATE and message of each."""
        return [tuple(each) for each in self.result.get("failures") or ()]

    @property
    def never_let_in(self) -> int:
        """How many clients, each a process of its own, got no connection, and offered nothing."""
        if self.parameters["client_processes"] != APART:
            return 0
        without = sum(1 for failure, _, _ in self.ended if failure == CONNECT)
        return min(without, len(self.clients) - self.served)

    @property
    def failures(self) -> dict[str, int]:
        """The failures by class: of transactions, and of clients that were not let in."""
        found = Counter(self._failed_transactions())
        found.update(failure for failure, _, _ in self.ended)
        found[TIMED_OUT] += self.unfinished
        return {name: count for name, count in found.items() if count}

    def _failed_transactions(self) -> dict[str, int]:
        seen: Mapping[str, int] = self.log.get("failures") or {}
        if not self.is_sample:
            return dict(seen)
        return {name: round(n / self.sampled) for name, n in seen.items()} | {
            name: self._counted(name) for name in COUNTED
        }

    def _counted(self, name: str) -> int:
        """Return how many pgbench itself has counted, less those of the warm-up: a sample may lack what is rare."""
        count = int((self.result.get("counts") or {}).get(name, 0))
        return ceil(count * float(self.log["measured"]) / self.logged) if self.logged else count

    @property
    def failed(self) -> int:
        """How many transactions and clients failed."""
        return sum(self.failures.values())

    def values(self) -> dict[str, float]:
        """Return the metrics that were observed."""
        values = {
            "failed": float(self.failed),
            "retried": float(
                self._counted("retried") if self.is_sample else self.log.get("retried", 0)
            ),
        }
        # A client without a line in a sample, or whose lines are lost, may have been served all the same.
        lacks = self.is_sample or bool(self.result.get("unheard"))
        each_is_seen = not lacks or self.served == int(self.parameters["clients"])
        if each_is_seen:
            values["clients_served"] = float(self.served)
            values["served"] = 100 * self.served / int(self.parameters["clients"])
        if connect := self._connect_ms():
            values["connect_time"] = connect
        if not self.done or not self.seconds:
            return values
        tps = values["tps"] = self.done / self.seconds
        counts = self.clients
        squares = len(counts) * sum(count * count for count in counts)
        if each_is_seen:
            values["fairness"] = sum(counts) ** 2 / squares if squares else 0.0
        if self.is_open:
            rate = float(self.parameters["rate"])
            values["achieved"] = 100 * tps / rate
            values["skipped"] = float(self.skipped)
        else:
            values["end_to_end_time"] = 1000 * int(self.parameters["clients"]) / tps
        if self.parameters["late_after_ms"]:
            good = self.log["good"] / self.sampled
            values["goodput"] = good / self.seconds
            values["in_time"] = 100 * good / self.due
        return values | self._times()

    def _times(self) -> dict[str, float]:
        histograms: Mapping[str, Json] = self.log["histograms"]
        response = histograms["response"]
        counts = histogram.counts_of(response["encoded"].encode())
        values = {"response_mean": response["mean_us"] / 1000}
        if not self.is_sample:  # which most likely lacks the longest
            values["response_max"] = max(response["max_us"] / 1000, self._waited_ms)
        values |= {name: value for name, (value, _) in self._percentiles(counts).items()}
        if lag := histograms.get("lag"):
            lags = histogram.counts_of(lag["encoded"].encode())
            if not histogram.needs(lags.total, 0.99):
                values["lag_p99"] = lags.at([0.99])[0] / 1000
        return values

    @property
    def _waited_ms(self) -> float:
        """What each unfinished transaction took at the least; 0 where there is none."""
        return 1000 * float(self.result.get("waited_seconds") or 0.0)

    def censored(self) -> frozenset[str]:
        """Return the metrics that are lower limits, as transactions were not finished."""
        response = (self.log.get("histograms") or {}).get("response")
        if not self.unfinished or response is None:
            return frozenset()
        counts = histogram.counts_of(response["encoded"].encode())
        found = {name for name, (_, above) in self._percentiles(counts).items() if above}
        return frozenset(found if self.is_sample else found | {"response_max"})

    def _percentiles(self, counts: histogram.Counts) -> dict[str, tuple[float, bool]]:
        """Return each percentile for which there are enough transactions, and whether it is only a lower limit.

        An unfinished transaction ranks where it would if it had ended when it was given up; it may rank higher.
        """
        unfinished = round(self.unfinished * self.sampled)
        every = counts.total + unfinished
        longer = counts.above(1000 * self._waited_ms) if unfinished else 0
        percentiles: dict[str, tuple[float, bool]] = {}
        for name, share in PERCENTILES.items():
            if histogram.needs(every, share):
                continue
            rank = max(1, int(every * share + 0.5))
            if not unfinished:
                percentiles[name] = counts.at([share])[0] / 1000, False
            elif rank <= counts.total - longer:
                percentiles[name] = counts.at([rank / counts.total])[0] / 1000, False
            elif rank <= every - longer:
                percentiles[name] = self._waited_ms, True
            else:
                percentiles[name] = counts.at([(rank - unfinished) / counts.total])[0] / 1000, True
        return percentiles

    def _connect_ms(self) -> float | None:
        """Return the mean time to connect one client."""
        times: Sequence[float] = self.result.get("connect_ms") or ()
        if not times:
            return None
        mean = sum(times) / len(times)
        together = self.parameters["client_processes"] != APART
        if together and self.parameters["connections"] == KEPT:
            # Each thread connects its clients one after the other.
            threads = int(self.result.get("threads") or 1)
            return mean / ceil(int(self.parameters["clients"]) / threads)
        return mean

    def distributions(self) -> list[Distribution]:
        """Return the histograms."""
        return [
            Distribution(name, each["encoded"].encode(), each["count"], each["dropped"])
            for name, each in (self.log.get("histograms") or {}).items()
        ]

    def rates(self) -> list[float]:
        """Return the transactions of each whole second after the warm-up."""
        counts = [count / self.sampled for count in self.log.get("per_second") or ()]
        whole = int(self.seconds)
        if not whole or not counts:
            return counts
        return [*counts[:whole], *([0.0] * (whole - len(counts)))]

    def health(self, *, target_is_here: bool) -> Health:
        """Judge whether the generator set the values."""
        figures: dict[str, Any] = dict(self.result.get("figures") or {})
        figures["target_is_here"] = float(target_is_here)
        threads = int(self.result.get("threads") or 1) * int(self.result.get("processes") or 1)
        seconds = figures.get("seconds") or 0.0
        thread = figures.get("pgbench_cpu_seconds", 0.0) / seconds / threads if seconds else 0.0
        figures["cores_of_a_thread"] = thread
        bounds = []
        if thread > THREAD_SATURATES:
            bounds.append(
                f"Each thread of pgbench used {thread:.0%} of a core: its own speed bounds the values. Raise "
                "threads, or take a larger generator."
            )
        if self.is_open and self.seconds and not self.parameters["late_after_ms"]:
            offered = float(self.parameters["rate"]) * self.seconds
            share = figures["achieved_share"] = self.taken_up / offered
            # pgbench's arrivals are random: where 200 are offered, one run in three has 186 or fewer, or 214 or more.
            if self.taken_up < ACHIEVED_SATURATES * offered - 3 * sqrt(offered):
                bounds.append(self._why_fewer(share))
        verdict = verdict_of(figures, bounds, ())
        return Health(verdict.word, verdict.reasons, figures)

    def _why_fewer(self, share: float) -> str:
        only = f"Only {share:.0%} of the offered transactions began"
        if outside := self.never_let_in:
            clients = len(self.clients)
            return (
                f"{only}: {outside} of {clients} clients, with their share of the rate, were not let in, and the others may "
                "have waited for answers. Let in more clients, or give a lower rate."
            )
        return f"{only}: all clients were waiting for answers. Give more clients, or a lower rate."
