"""Which resource of the target binds: of a run, of a level, of a campaign. Pure.

It says “binds”, and never why a value is what it is: that is shown only by changing the resource.
"""

from collections.abc import Iterator, Mapping, Sequence
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
)
from campaigns.stats.binding_levels import BindingRange, LevelWord, Trend

NONE_SEEN = "None seen: the limit is outside of what was watched."
NOT_WATCHED = "Unknown: the target was not watched."
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
    Resource.NETWORK: ("the network of the target", "the network card {}"),
    Resource.LISTEN_QUEUE: ("the listen queue of the target", ""),
    Resource.CONNECTIONS: ("database connections", "database connections of the pool {}"),
    Resource.LOCKS: ("database locks", ""),
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
    Resource.NETWORK: "network",
    Resource.LISTEN_QUEUE: "listen queue",
    Resource.CONNECTIONS: "database connections",
    Resource.LOCKS: "database locks",
    Resource.DATABASE_IO: "database I/O",
    Resource.DATABASE_CPU: "database CPU",
    Resource.THREADS: "application threads",
    Resource.SLOTS: "task slots",
    Resource.DESCRIPTORS: "open files",
    Resource.SOCKETS: "local ports",
    Resource.THROTTLE: "limit that was set",
}
PLURAL = (
    Resource.CONNECTIONS,
    Resource.LOCKS,
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
    Caveat.NICED: "Niced programs outside the groups used CPU; they give way, and are left out.",
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
    "connections_used": "connections used",
    "refused": "connections refused",
    "waits_for_locks": "of active session time waits for a lock",
    "waits_for_io": "of active session time waits for I/O",
    "of_commits": "of that, for commits",
    "active_sessions": "active sessions",
    "database_cpu": "CPU used by the database",
    "active_per_core": "sessions that wait for nothing, for each core",
    "queued_samples": "samples in which somebody waits",
    "full_samples": "samples in which nearly all are busy",
    "slots_used": "busy",
    "most_used": "used at most",
}
_WAITED = {
    Resource.CPU: ("some task waited for a CPU", "all tasks waited for a CPU"),
    Resource.MEMORY: ("some task waited for memory", "all tasks waited for memory"),
    Resource.DISK: ("some task waited for a disk", "all tasks waited for a disk"),
}


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
    return labelled.format(label) if label and labelled else plain


def short_name(resource: Resource, label: str = "") -> str:
    """Write a resource as the head of a row: “disk sda”."""
    return f"{_SHORT[resource]} {label}".strip()


def binds_sentence(bound: Sequence[Bound]) -> str:
    """Write what binds: “memory of the target binds”, “CPU of the target and database connections bind”."""
    names = list(dict.fromkeys(resource_name(each.resource, each.label) for each in bound))
    many = len(names) > 1 or bound[0].resource in PLURAL
    return f"{_listed(names)} {'bind' if many else 'binds'}"


def run_binding_text(run: RunBinding) -> RunBindingText:
    """Return the judgement of a run as text."""
    if run.word == RunWord.BINDS:
        sentence = f"{_capital(binds_sentence(run.strongest))}."
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
        reasons=[_reason(state.resource, figure) for figure in state.figures],
        badges=[BADGES[each] for each in state.caveats],
    )


def _reason(resource: Resource, figure: Figure) -> str:
    """Write one figure: “CPU used 99.5 % (limit 70.7 %)”."""
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
        f"{_capital(group.setting)}: {_inside(text)}" if group.setting else text
        for group in groups
        for text in group.sentences
    ]
    binds = any(level.binding.bound for group in finding.groups for level in group.cells)
    levels = [level.binding for group in finding.groups for level in group.cells]
    everywhere = set(Caveat).intersection(*(level.caveats for level in levels if level.runs))
    caveats = [
        CAVEATS[each] if each in everywhere else f"In some runs: {_small(CAVEATS[each])}"
        for each in finding.caveats
    ]
    if binds:
        caveats.insert(0, CAVEAT)
    if finding.watched < finding.runs:
        caveats.append(f"{finding.watched} of {counted(finding.runs, 'run')} were watched.")
    if finding.missing:
        caveats.append(f"In some runs {_listed(finding.missing)} gave nothing that can be judged.")
    return BindingTexts(
        sentence=" ".join(dict.fromkeys(sentences)),
        groups=groups,
        caveats=caveats,
        badges=[BADGES[each] for each in finding.caveats],
    )


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
        """Write several levels: “3, 5 and 8 workers”."""
        texts = [self._text(self.group.cells[place].value) for place in places]
        return named(self.noun, _listed(texts))

    @staticmethod
    def _text(value: Any) -> str:
        return load_text(value)

    def said(self, level: BindingLevel) -> str:
        """Write what the runs of a level say: “memory in 4 of 5 runs, none seen in 1”."""
        binding = level.binding
        if not binding.runs:
            return "no run was watched"
        parts = [
            *((short_name(each.resource, each.label), each.runs) for each in binding.said),
            ("none seen", binding.none),
            ("unknown", binding.unknown),
        ]
        told = [(name, count) for name, count in parts if count]
        if [count for _, count in told] == [binding.runs] * len(told):
            where = "in the only run" if binding.runs == 1 else f"in all {binding.runs} runs"
            return f"{_listed([name for name, _ in told])} {where}"
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
        together: dict[tuple[int, int, int | None, int | None], list[BindingRange]] = {}
        for each in self.group.ranges:
            together.setdefault((each.first, each.last, each.before, each.after), []).append(each)
        for (first, last, before, after), ranges in together.items():
            binds = binds_sentence([Bound(each.resource, each.label) for each in ranges])
            yield self._range(binds, first, last, before, after)

    def _range(
        self, binds: str, first: int, last: int, before: int | None, after: int | None
    ) -> str:
        lowest, highest = first == 0, last == len(self.group.cells) - 1
        where = f"At {self.level(first)}" if first == last else f"From {self._span(first, last)}"
        if lowest and highest:
            return f"{_capital(binds)} at every level that was watched, from {self._span(first, last)}."
        if before is not None and after is not None:
            return f"{where}, {binds}; at {self._named([before, after])} not."
        if before is not None:
            where = f"From {self.level(first)} on" if highest else where
            return f"{where}, {binds}; it begins between {self._between(before, first)}."
        if after is not None:
            where = f"Up to {self.level(last)}" if lowest else where
            return f"{where}, {binds}; it ends between {self._between(last, after)}."
        return f"{where}, {binds}."

    def _span(self, first: int, last: int) -> str:
        if is_plural(self.noun):
            return f"{self._text(self.group.cells[first].value)} to {self.level(last)}"
        return f"{self.level(first)} to {self._text(self.group.cells[last].value)}"

    def _between(self, low: int, high: int) -> str:
        return self._named([low, high])

    def _each(self) -> Iterator[str]:
        for place, each in enumerate(self.group.cells):
            if each.binding.bound:
                binds = binds_sentence(each.binding.bound)
                level = self.level(place)
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
            head = f"At {level} it is not the same" if level else "It is not the same"
            yield f"{head} in all runs: {self.said(self.group.cells[place])}."
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
