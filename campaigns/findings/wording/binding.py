"""Which resource of the target binds: of a run, of a level, of a campaign. Pure. ANSWER.md 3 and 4.

It says “binds”, and never why a value is what it is: that is shown only by changing the resource. Queues and limits in front of
what binds are told behind it: “CPU binds; requests queue at Puma's threads”.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from campaigns.findings.values import BindingFinding, BindingGroup, BindingLevel
from campaigns.findings.wording.loads import is_plural, load_text, named, setting_name
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.charts.labels import inside
from campaigns.kit.numbers import coefficient, counted, duration, number, share
from campaigns.stats.binding import (
    Bound,
    Caveat,
    Figure,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    State,
    Unit,
    in_front,
)
from campaigns.stats.binding_levels import BindingRange, LevelBinding, LevelWord, Trend

NONE_SEEN = "None seen: the limit is outside of what was watched."
NOT_WATCHED = "Unknown: the target was not watched."
NICED_SHARE = 0.1
"""Of the CPU: niced work that is told in the sentence of a run."""
CAVEAT = "What binds goes together with the level; only changing it shows what it limits."
"""Stands beside each resource that binds."""
MACHINE = (Resource.CPU, Resource.MEMORY, Resource.DISK)

WORDS: Mapping[RunWord, Display] = {
    RunWord.BINDS: Display("binds", "info", "up", "solid"),
    RunWord.NONE: Display("none seen", "thin", "ring", "outline"),
    RunWord.UNKNOWN: Display("unknown", "thin", "dots", "open"),
}
LEVEL_WORDS: Mapping[LevelWord, Display] = {
    LevelWord.BINDS: WORDS[RunWord.BINDS],
    LevelWord.NONE: WORDS[RunWord.NONE],
    LevelWord.UNKNOWN: WORDS[RunWord.UNKNOWN],
    LevelWord.MIXED: Display("not the same in all runs", "warn", "warn", "outline"),
}
STATES: Mapping[State, Display] = {
    State.BINDS: WORDS[RunWord.BINDS],
    State.FREE: Display("free", "thin", "ring", "outline"),
    State.UNKNOWN: WORDS[RunWord.UNKNOWN],
}
_NAMES: Mapping[Resource, tuple[str, str]] = {
    Resource.CPU: ("CPU of the target", ""),
    Resource.CORE: ("one core of the target", "one thread of {}"),
    Resource.QUOTA: ("the CPU quota", "the CPU quota of {}"),
    Resource.STEAL: ("CPU that the host of the target takes", ""),
    Resource.MEMORY: ("memory of the target", ""),
    Resource.DISK: ("the disk of the target", "the disk {} of the target"),
    Resource.STORAGE: ("storage of the target", ""),
    Resource.NETWORK: ("the network of the target", "the network card {}"),
    Resource.LISTEN_QUEUE: ("the listen queue of the target", ""),
    Resource.CONNECTIONS: ("database connections", "database connections of the pool {}"),
    Resource.LOCKS: ("database locks", ""),
    Resource.DATABASE_WAITS: ("waits of the database", "{} waits of the database"),
    Resource.DATABASE_IO: ("database I/O", ""),
    Resource.DATABASE_CPU: ("CPU of the database", ""),
    Resource.THREADS: ("application threads", "application threads of {}"),
    Resource.SLOTS: ("task slots", "task slots of {}"),
    Resource.DESCRIPTORS: ("open files of the target", "open files of {}"),
    Resource.SOCKETS: ("local ports of the target", ""),
    Resource.THROTTLE: ("a limit that was set", "a limit that was set, {},"),
}
_SHORT: Mapping[Resource, str] = {
    Resource.CPU: "CPU",
    Resource.CORE: "one core",
    Resource.QUOTA: "CPU quota",
    Resource.STEAL: "CPU, stolen",
    Resource.MEMORY: "memory",
    Resource.DISK: "disk",
    Resource.STORAGE: "storage",
    Resource.NETWORK: "network",
    Resource.LISTEN_QUEUE: "listen queue",
    Resource.CONNECTIONS: "database connections",
    Resource.LOCKS: "database locks",
    Resource.DATABASE_WAITS: "database waits",
    Resource.DATABASE_IO: "database I/O",
    Resource.DATABASE_CPU: "database CPU",
    Resource.THREADS: "application threads",
    Resource.SLOTS: "task slots",
    Resource.DESCRIPTORS: "open files",
    Resource.SOCKETS: "local ports",
    Resource.THROTTLE: "limit that was set",
}
_QUEUES: Mapping[Resource, tuple[str, str]] = {
    Resource.LISTEN_QUEUE: ("connections overflow the listen queue", ""),
    Resource.CONNECTIONS: ("database connections run out", "sessions wait in the pool {}"),
    Resource.THREADS: ("requests queue at the application's threads", "requests queue at {}'s threads"),
    Resource.SLOTS: ("tasks queue for a slot", "tasks queue at {}'s slots"),
    Resource.DESCRIPTORS: ("open files run out", "open files of {} run out"),
    Resource.SOCKETS: ("local ports run out", ""),
    Resource.THROTTLE: ("requests queue at a limit that was set", "requests queue at the limit of {}"),
}  # fmt: skip
"""What happens at a queue or limit in front of what binds."""
PRODUCTS = {each.lower(): each for each in ("Puma", "Tomcat", "Apache", "Gunicorn", "Celery", "Pulp", "Sidekiq")}  # fmt: skip
"""Queues that are named as their programs."""
OF_TARGET = " of the target"
PART = "for part of the run"
MOST_NAMED = 3
"""Resources, and levels, that a sentence lists."""
LONGEST_LABEL = 40
PLURAL = (
    Resource.CONNECTIONS,
    Resource.LOCKS,
    Resource.DATABASE_WAITS,
    Resource.THREADS,
    Resource.SLOTS,
    Resource.DESCRIPTORS,
    Resource.SOCKETS,
)
CAVEATS: Mapping[Caveat, str] = {
    Caveat.NO_PRESSURE: "No pressure information: judged by utilisation and queues.",
    Caveat.SPEED_UNKNOWN: "The speed of a network card is unknown, so that nothing is said of it.",
    Caveat.CORES_UNKNOWN: "The number of cores is unknown, so that nothing is said of the CPU.",
    Caveat.GAPS: "A part of the time was not observed.",
    Caveat.COARSE: "There are fewer than ten samples in a run: too coarse for short waits.",
    Caveat.LOAD: "The load generator's own processes use so much of what binds there that it would not bind without them.",
    Caveat.NICED: "Niced programs use a part of the CPU that binds, and give way to others.",
}
BADGES: Mapping[Caveat, Display] = {
    Caveat.NO_PRESSURE: Display("no pressure information", "warn", "info", "outline"),
    Caveat.SPEED_UNKNOWN: Display("speed unknown", "thin", "info", "outline"),
    Caveat.CORES_UNKNOWN: Display("cores unknown", "warn", "info", "outline"),
    Caveat.GAPS: Display("gaps", "warn", "info", "outline"),
    Caveat.COARSE: Display("coarse", "warn", "info", "outline"),
    Caveat.LOAD: Display("by the load generator", "warn", "warn", "outline"),
    Caveat.NICED: Display("niced programs", "thin", "info", "outline"),
}
_FIGURES: Mapping[str, str] = {
    "cpu_used": "CPU used",
    "cpu_niced": "CPU of niced programs",
    "running_per_core": "tasks that run or want to, for each core",
    "load_generator": "of the used CPU, by the load generator",
    "core_busy": "busiest core",
    "thread_busy": "busiest thread",
    "throttled_periods": "periods in which the quota was used up",
    "stolen": "CPU stolen",
    "oom_kills": "processes killed for memory",
    "swapped_in": "pages swapped in",
    "refaults": "refaults of the working set",
    "disk_busy": "busy",
    "disk_queue": "requests at a time",
    "blocked_tasks": "tasks blocked by a disk",
    "disk_wait": "time of a request",
    "of_speed": "of the card's speed",
    "retransmitted": "segments sent again",
    "overflow_samples": "samples in which it overflowed",
    "drops_of_segments": "drops against the segments sent",
    "connections_used": "connections used",
    "refused_samples": "samples in which a connection was refused",
    "waits_for_locks": "of active session time waits for a lock",
    "waits_for_io": "of active session time waits for I/O",
    "waits": "of active session time waits for it",
    "of_commits": "of that, for commits",
    "active_sessions": "active sessions",
    "database_cpu": "CPU used by the database",
    "active_per_core": "sessions that wait for nothing, for each core",
    "queued_samples": "samples in which somebody waits",
    "queue_length": "who wait, on average",
    "full_samples": "samples in which nearly all are busy",
    "slots_used": "busy",
    "most_used": "used at most",
}
_WAITED = {
    Resource.CPU: ("some task waited for a CPU", "all tasks waited for a CPU"),
    Resource.MEMORY: ("some task waited for memory", "all tasks waited for memory"),
    Resource.DISK: ("some task waited for a disk", "all tasks waited for a disk"),
    Resource.STORAGE: ("some task waited for storage", "all tasks waited for storage"),
}
_JUDGED_BY: Mapping[str, str] = {
    "cpu_used": "used",
    "pressure_some": "waits",
    "pressure_full": "all wait",
    "running_per_core": "runnable",
    "core_busy": "busy",
    "thread_busy": "busy",
    "throttled_periods": "throttled",
    "stolen": "stolen",
    "oom_kills": "killed",
    "swapped_in": "pages",
    "blocked_tasks": "blocked",
    "of_speed": "used",
    "retransmitted": "sent again",
    "overflow_samples": "overflows",
    "connections_used": "used",
    "refused_samples": "refused",
    "waits_for_locks": "wait",
    "waits_for_io": "wait",
    "waits": "wait",
    "database_cpu": "used",
    "queued_samples": "queued",
    "full_samples": "full",
    "most_used": "used",
}
"""What the figure of a cell is, in a word or two."""


@dataclass(frozen=True, slots=True)
class ResourceText:
    """One resource of one run. reasons: its figures in words, each with its limit where it has one."""

    name: str
    short: str
    state: Display
    reasons: Sequence[str]
    badges: Sequence[Display] = ()


@dataclass(frozen=True, slots=True)
class RunBindingText:
    """The judgement of one run. caveats: what a reader has to know besides."""

    sentence: str
    word: Display
    resources: Sequence[ResourceText]
    caveats: Sequence[str]
    badges: Sequence[Display]


@dataclass(frozen=True, slots=True)
class BindingLevelText:
    """The word of one level. text: what its runs say, in numbers of runs."""

    level: str
    word: Display
    text: str


@dataclass(frozen=True, slots=True)
class TrendText:
    """Whether the utilisation of a resource rises with the level. interval: of Kendall's tau; empty where it has none."""

    resource: str
    tau: str
    interval: str
    text: str


@dataclass(frozen=True, slots=True)
class BindingGroupText:
    """The words of one setting; `setting` is empty where there is only one."""

    setting: str
    sentences: Sequence[str]
    levels: Sequence[BindingLevelText]
    trends: Sequence[TrendText] = ()


@dataclass(frozen=True, slots=True)
class BindingTexts:
    """The word of a campaign. sentence: of all settings; caveats: whole sentences."""

    sentence: str
    groups: Sequence[BindingGroupText]
    caveats: Sequence[str] = ()
    badges: Sequence[Display] = field(default_factory=tuple)


def resource_name(resource: Resource, label: str = "") -> str:
    """Write what a resource is called inside a sentence."""
    plain, labelled = _NAMES[resource]
    if resource == Resource.DESCRIPTORS and not label:
        return plain
    return labelled.format(_label(label)) if label and labelled else plain


def short_name(resource: Resource, label: str = "") -> str:
    """Write a resource as the head of a row: “disk sda”."""
    return f"{_SHORT[resource]} {label}".strip()


def judged_by_text(figure: Figure) -> str:
    """Write the figure by which a resource was judged, for a cell: “used 98 %”, “all wait 40 %”."""
    return f"{_JUDGED_BY.get(figure.name, '')} {_value(figure.value, figure.unit)}".strip()


def binds_sentence(bound: Sequence[Bound], partly: Collection[Bound] = (), sure: str = "") -> str:
    """Write what binds, without a stop: “memory of the target binds”, “CPU of the target binds; requests queue at Puma's threads”.

    partly: those that do for a part of the run alone, which must be all of those that bind, or none. sure: in how many runs.
    """
    binds, queues = in_front(bound)
    names = _names(binds)
    many = len(names) > 1 or binds[0].resource in PLURAL
    verb = "bind" if many else "binds"
    when = f" {PART}" if binds[0] in partly else ""
    text = f"{_listed(names)} {verb}{when}{f' {sure}' if sure else ''}"
    return f"{text}; {_queued(queues)}" if queues else text


def _names(bound: Sequence[Bound]) -> list[str]:
    """Return at most MOST_NAMED names: the target stands behind the last alone."""
    names = list(dict.fromkeys(resource_name(each.resource, each.label) for each in bound))
    if len(names) > MOST_NAMED:
        more = len(names) - MOST_NAMED + 1
        names = [*names[: MOST_NAMED - 1], f"{more} more resources{OF_TARGET}"]
    last = max((n for n, name in enumerate(names) if name.endswith(OF_TARGET)), default=0)
    return [name if n == last else name.removesuffix(OF_TARGET) for n, name in enumerate(names)]


def _queued(queues: Sequence[Bound]) -> str:
    """Write what happens in front of what binds: of many queues the first two."""
    texts = []
    for each in queues[:2]:
        plain, labelled = _QUEUES[each.resource]
        texts.append(labelled.format(_label(each.label)) if each.label and labelled else plain)
    return _listed(texts)


def _label(label: str) -> str:
    text = PRODUCTS.get(label, label)
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _apart(bound: Sequence[Bound], partly: Collection[Bound]) -> list[list[Bound]]:
    """Return what is said in one sentence: what binds all the time with the queues in front of it, and what does for a part."""
    binds, queues = in_front(bound)
    whole = [each for each in binds if each not in partly]
    rest = [each for each in binds if each in partly]
    first, *others = [each for each in (whole, rest) if each]
    return [[*first, *queues], *others]


def run_binding_text(run: RunBinding) -> RunBindingText:
    """Return the judgement of a run as text."""
    if run.word == RunWord.BINDS:
        partly = {Bound(s.resource, s.label) for s in run.resources if s.is_partly}
        told = [_capital(binds_sentence(each, partly)) for each in _apart(run.strongest, partly)]
        sentence = f"{'. '.join([*told, *_niced_share(run)])}."
    elif run.word == RunWord.NONE:
        sentence = NONE_SEEN
    else:
        sentence = _unknown(run.resources, run.not_watched, run.missing)
    caveats = [CAVEATS[each] for each in run.caveats]
    if run.word == RunWord.BINDS:
        caveats.insert(0, CAVEAT)
    return RunBindingText(
        sentence=sentence,
        word=WORDS[run.word],
        resources=[_resource(state) for state in _told(run.resources)],
        caveats=caveats,
        badges=[BADGES[each] for each in run.caveats],
    )


def _niced_share(run: RunBinding) -> Iterator[str]:
    """Yield whose the niced work is, where it is a good part of a CPU that binds."""
    for state in run.resources:
        if state.resource == Resource.CPU and Caveat.NICED in state.caveats:
            for figure in state.figures:
                if figure.name == "cpu_niced" and figure.value >= NICED_SHARE:
                    whose = f" ({_label(figure.label)})" if figure.label else ""
                    yield f"Niced programs{whose} use {share(figure.value)} of the CPU"


def _told(resources: Sequence[ResourceState]) -> Iterator[ResourceState]:
    """Yield the resources; of the open files of many groups that do not bind the most used alone."""
    files = [
        each
        for each in resources
        if each.resource == Resource.DESCRIPTORS and each.state == State.FREE
    ]
    most = max(files, key=lambda each: each.utilisation or 0.0, default=None)
    for each in resources:
        if each is most or each not in files:
            yield each


def _resource(state: ResourceState) -> ResourceText:
    return ResourceText(
        name=resource_name(state.resource, state.label),
        short=short_name(state.resource, state.label),
        state=STATES[state.state],
        reasons=[
            *(reason_text(state.resource, figure) for figure in state.figures),
            *([f"at its limit for {share(state.at_limit)} of the run"] if state.is_partly else []),
        ],
        badges=[BADGES[each] for each in state.caveats],
    )


def reason_text(resource: Resource, figure: Figure) -> str:
    """Write one figure: “CPU used 99.5 %, limit 90 %”."""
    if figure.name in ("pressure_some", "pressure_full"):
        text = _WAITED[resource][figure.name == "pressure_full"]
        value = f"{text} {_value(figure.value, figure.unit)} of the time"
    else:
        value = f"{_FIGURES[figure.name]} {_value(figure.value, figure.unit)}"
    whose = f" ({figure.label})" if figure.label else ""
    limit = f", limit {_value(figure.limit, figure.unit)}" if figure.limit is not None else ""
    return f"{value}{whose}{limit}"


def _value(value: float, unit: Unit) -> str:
    if unit == Unit.SHARE:
        return share(value)
    if unit == Unit.SECONDS:
        return duration(value)
    return f"{number(value)}/s" if unit == Unit.PER_SECOND else number(value)


def _unknown(
    resources: Sequence[ResourceState], not_watched: Sequence[Resource], missing: Sequence[str]
) -> str:
    """Say why nothing can be said."""
    if not resources:
        return _missing(missing) or NOT_WATCHED
    unseen = [
        short_name(each)
        for each in MACHINE
        if each in not_watched
        or all(state.state == State.UNKNOWN for state in resources if state.resource == each)
    ]
    if unseen:
        verb = "was" if len(unseen) == 1 else "were"
        return f"Unknown: {_listed(unseen)} {verb} not watched."
    if missing:
        return _missing(missing)
    gaps = [short_name(s.resource, s.label) for s in resources if s.state == State.UNKNOWN]
    return f"Unknown: {_listed(gaps)} could not be judged." if gaps else NOT_WATCHED


def _missing(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    word = "watch" if len(missing) == 1 else "watches"
    return f"Unknown: the {word} {_listed(missing)} of the target gave nothing that can be judged."


def binding_texts(finding: BindingFinding) -> BindingTexts:
    """Return which resource binds from which level on, as text."""
    several = len(finding.groups) > 1
    groups = [_group(finding, group, several=several) for group in finding.groups]
    sentences = [
        f"{_capital(group.setting)}: {_inside(text)}" if group.setting and not place else text
        for group in groups
        for place, text in enumerate(group.sentences)
    ]
    binds = any(level.binding.bound for group in finding.groups for level in group.cells)
    levels = [level.binding for group in finding.groups for level in group.cells]
    everywhere = set(Caveat).intersection(*(level.caveats for level in levels if level.runs))
    caveats = [
        _caveat(finding, each) if each in everywhere else f"In some runs: {_small(_caveat(finding, each))}"
        for each in finding.caveats
    ]  # fmt: skip
    if binds:
        caveats.insert(0, CAVEAT)
    if finding.watched < finding.runs:
        caveats.append(f"{finding.watched} of {counted(finding.runs, 'run')} were watched.")
    if finding.missing:
        caveats.append(f"In some runs {_listed(finding.missing)} gave nothing that can be judged.")
    return BindingTexts(
        sentence=" ".join(sentences),
        groups=groups,
        caveats=caveats,
        badges=[BADGES[each] for each in finding.caveats],
    )


def _caveat(finding: BindingFinding, caveat: Caveat) -> str:
    text = CAVEATS[caveat]
    names = finding.niced[:MOST_NAMED] if caveat == Caveat.NICED else ()
    return f"{text} They are {_listed(names)}." if names else text


def binding_sentence(finding: BindingFinding) -> str:
    """Return the sentence alone."""
    return binding_texts(finding).sentence


def _group(finding: BindingFinding, group: BindingGroup, *, several: bool) -> BindingGroupText:
    words = _Levels(finding, group)
    return BindingGroupText(
        setting=setting_name(group.levels) if several else "",
        sentences=list(words.sentences()),
        levels=[
            BindingLevelText(words.level(place), LEVEL_WORDS[each.binding.word], words.said(each))
            for place, each in enumerate(group.cells)
        ],
        trends=[_trend(trend, words) for trend in group.trends],
    )


class _Levels:
    """Writes the levels of one setting."""

    def __init__(self, finding: BindingFinding, group: BindingGroup) -> None:
        self.finding, self.group = finding, group
        self.noun = inside(finding.label.replace("_", " ").strip())

    def level(self, place: int) -> str:
        """Write one level: “12 workers”; empty where nothing varies."""
        return self._named([place]) if self.finding.factor else ""

    def _named(self, places: Sequence[int]) -> str:
        """Write several levels: “3, 5 and 8 workers”; of many, the span or the first."""
        if len(places) > MOST_NAMED:
            if places[-1] - places[0] == len(places) - 1:
                return self._span(places[0], places[-1])
            first = self._named(places[: MOST_NAMED - 1])
            return f"{first}, and {len(places) - MOST_NAMED + 1} more levels"
        texts = [self._text(self.group.cells[place].value) for place in places]
        return named(self.noun, _listed(texts))

    @staticmethod
    def _text(value: Any) -> str:
        return load_text(value)

    def said(self, level: BindingLevel, most: int = MOST_NAMED) -> str:
        """Write what the runs of a level say: “memory in 4 of 5 runs, none seen in 1”. most: how much of it."""
        binding = level.binding
        if not binding.runs:
            return "no run was watched"
        parts = [
            *((short_name(each.resource, each.label), each.runs) for each in binding.said),
            ("none seen", binding.none),
            ("unknown", binding.unknown),
        ]
        told = [(name, count) for name, count in parts if count]
        if len(told) > most:
            told = sorted(told, key=lambda each: -each[1])[:most]
        if [count for _, count in told] == [binding.runs] * len(told):
            return f"{_listed([name for name, _ in told])} {_all_runs(binding.runs)}"
        first, *rest = (f"{name} in {count}" for name, count in told)
        return ", ".join([f"{first} of {counted(binding.runs, 'run')}", *rest])

    def sentences(self) -> Iterator[str]:
        """Yield the word of the setting: what binds from which level on, then levels without, and those that differ."""
        if self.finding.numeric and len(self.group.cells) > 1:
            yield from self._ranges()
        else:
            yield from self._each()
        yield from self._others()

    def _ranges(self) -> Iterator[str]:
        """Yield from which level on what binds, with the queues in front of it, and where that begins and ends."""
        together: dict[tuple[int, int, int | None, int | None, bool], list[BindingRange]] = {}
        for each in self.group.ranges:
            partly = self._is_partly(range(each.first, each.last + 1), _bound(each))
            key = (each.first, each.last, each.before, each.after, partly)
            together.setdefault(key, []).append(each)
        for (first, last, before, after, partly), ranges in together.items():
            places = range(first, last + 1)
            bound = [_bound(each) for each in ranges]
            binds = self._binds(places, bound, bound if partly else ())
            if first == 0 and last == len(self.group.cells) - 1:
                yield f"At every level, from {self._span(first, last)}, {binds}."
                continue
            where = (
                f"At {self.level(first)}" if first == last else f"From {self._span(first, last)}"
            )
            if before is None and after is not None and first == 0:
                where = f"Up to {self.level(last)}"
            if before is not None and last == len(self.group.cells) - 1:
                where = f"From {self.level(first)} on"
            yield f"{where}, {binds}."
            yield from self._ends(first, last, before, after)

    def _ends(self, first: int, last: int, before: int | None, after: int | None) -> Iterator[str]:
        """Yield between which levels a range begins and ends."""
        if before is not None and after is not None:
            yield f"This begins above {self.level(before)} and ends below {self.level(after)}."
        elif before is not None:
            yield f"This begins between {self._named([before, first])}."
        elif after is not None:
            yield f"This ends between {self._named([last, after])}."

    def _binds(
        self, places: Iterable[int], bound: Sequence[Bound], partly: Collection[Bound]
    ) -> str:
        """Write what binds at some levels, in how many of their runs, and the queues in front of it at all of them."""
        levels = [self.group.cells[place].binding for place in places]
        queues = [in_front(level.bound)[1] for level in levels]
        common = [each for each in queues[0] if all(each in others for others in queues)]
        return binds_sentence([*bound, *common], partly, _in_runs(levels, in_front(bound)[0]))

    def _is_partly(self, places: Iterable[int], bound: Bound) -> bool:
        """Return whether a resource binds for a part of the run at most of some levels."""
        found = [_partly_of(self.group.cells[place].binding) for place in places]
        return 2 * sum(bound in each for each in found) > len(found)

    def _span(self, first: int, last: int) -> str:
        if is_plural(self.noun):
            return f"{self._text(self.group.cells[first].value)} to {self.level(last)}"
        return f"{self.level(first)} to {self._text(self.group.cells[last].value)}"

    def _each(self) -> Iterator[str]:
        for place, each in enumerate(self.group.cells):
            if each.binding.bound:
                level, partly = self.level(place), _partly_of(each.binding)
                for bound in _apart(each.binding.bound, partly):
                    binds = binds_sentence(
                        bound, partly, _in_runs([each.binding], in_front(bound)[0])
                    )
                    yield f"At {level}, {binds}." if level else f"{_capital(binds)}."

    def _others(self) -> Iterator[str]:
        """Yield the levels at which nothing was seen, that are unknown, or whose runs differ."""
        by_word: dict[LevelWord, list[int]] = {}
        for place, each in enumerate(self.group.cells):
            by_word.setdefault(each.binding.word, []).append(place)
        every = len(self.group.cells)
        if none := by_word.get(LevelWord.NONE):
            where = "" if len(none) == every or not self.noun else f" at {self._named(none)}"
            yield NONE_SEEN.replace(":", f"{where}:", 1)
        for place in by_word.get(LevelWord.MIXED, ()):
            level = self.level(place)
            head = f"At {level} the runs differ" if level else "The runs differ"
            yield f"{head}: {self.said(self.group.cells[place], MOST_NAMED - 1)}."
        if unknown := by_word.get(LevelWord.UNKNOWN):
            where = "" if len(unknown) == every or not self.noun else f" at {self._named(unknown)}"
            yield self._unknown(unknown).replace(":", f"{where}:", 1)

    def _unknown(self, places: Sequence[int]) -> str:
        levels = [self.group.cells[place].binding for place in places]
        if not any(level.runs for level in levels):
            return NOT_WATCHED
        unseen = [
            short_name(resource)
            for resource in MACHINE
            if all(
                each.state == State.UNKNOWN
                for level in levels
                for each in level.resources
                if each.resource == resource
            )
        ]
        if len(unseen) == len(MACHINE) and not any(level.resources for level in levels):
            return _missing(self.finding.missing) or NOT_WATCHED
        if unseen:
            verb = "was" if len(unseen) == 1 else "were"
            return f"Unknown: {_listed(unseen)} {verb} not watched."
        return _missing(self.finding.missing) or "Unknown: too little was observed."


def _bound(found: BindingRange) -> Bound:
    return Bound(found.resource, found.label)


def _partly_of(level: LevelBinding) -> set[Bound]:
    """Return what binds for a part of the run in most runs of a level."""
    return {Bound(each.resource, each.label) for each in level.resources if each.is_partly}


def _in_runs(levels: Sequence[LevelBinding], bound: Sequence[Bound]) -> str:
    """Write in how many of the watched runs all of this binds: what is said is as sure as that."""
    runs = sum(level.runs for level in levels)
    said = min(
        sum(
            each.binds
            for level in levels
            for each in level.resources
            if Bound(each.resource, each.label) == one
        )
        for one in bound
    )
    return _all_runs(runs) if said >= runs else f"in {said} of {runs} runs"


def _all_runs(runs: int) -> str:
    """Write “in all 3 runs”."""
    return {1: "in the only run", 2: "in both runs"}.get(runs, f"in all {runs} runs")


def _trend(trend: Trend, words: _Levels) -> TrendText:
    tau = trend.tau
    name = short_name(trend.resource, trend.label)
    noun = words.noun or "the level"
    ends = tau.interval or (tau.tau, tau.tau)
    shown = tau.p <= words.finding.alpha
    if shown and min(ends) > 0:
        text = f"Utilisation of {name} rises with {noun}."
    elif shown and max(ends) < 0:
        text = f"Utilisation of {name} falls with {noun}."
    else:
        text = f"That utilisation of {name} changes with {noun} is not shown."
    interval = " … ".join(coefficient(each) for each in tau.interval or ())
    return TrendText(name, coefficient(tau.tau), interval, text)


def _listed(names: Sequence[str]) -> str:
    """Write several names: “a, b and c”."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _inside(text: str) -> str:
    """Write a sentence after a colon; abbreviations keep their capitals."""
    return inside(text)
