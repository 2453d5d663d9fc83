"""The rule that says which resource binds in a run. Pure. MONITORING.md 8, ANSWER.md 4; `binding.LIMITS` holds its thresholds.

Every resource that is saturated is found, and all are named: hardware and what the database waits for first, then the queues
and limits in front of it. None hides another.
"""

from collections.abc import Sequence

from campaigns.stats.binding import (
    JUDGED,
    LIMITS,
    QUEUES,
    Bound,
    Caveat,
    Observed,
    Resource,
    ResourceState,
    RunBinding,
    RunWord,
    State,
)
from campaigns.stats.binding_machine import Cpu, Io, Memory, cards
from campaigns.stats.binding_server import database, listen_queue, open_files, queues
from campaigns.stats.binding_window import Window

NEEDED = (Resource.CPU, Resource.MEMORY, Resource.DISK)
"""Without these nobody can say that nothing binds."""


def judge(observed: Observed) -> RunBinding:
    """Judge which resource binds in the observed window."""
    window = Window(observed)
    cpu, memory = Cpu(window), Memory(window)
    states = [
        *cpu.states,
        *([memory.state] if memory.state else []),
        *Io(window, memory, cpu_is_full=cpu.is_full).states,
        *cards(window),
        *listen_queue(window),
        *database(window, cpu),
        *queues(window),
        *open_files(window),
    ]
    binds = [state for state in states if state.state == State.BINDS]
    caveats: set[Caveat] = {
        caveat for state in states for caveat in state.caveats if caveat != Caveat.LOAD
    }
    if any(Caveat.LOAD in state.caveats for state in binds):
        caveats.add(Caveat.LOAD)
    if window.has_gaps():
        caveats.add(Caveat.GAPS)
    if 0 < window.samples < LIMITS.few_samples:
        caveats.add(Caveat.COARSE)
    seen = {state.resource for state in states}
    return RunBinding(
        word=_word(states, observed.missing),
        strongest=_ranked(binds),
        resources=states,
        seconds=window.samples * window.step,
        samples=window.samples,
        sources=list(observed.sources),
        missing=list(observed.missing),
        not_watched=[resource for resource in JUDGED if resource not in seen],
        caveats=[caveat for caveat in Caveat if caveat in caveats],
        load_share=cpu.load_share,
    )


def _word(states: Sequence[ResourceState], missing: Sequence[str]) -> RunWord:
    """Return the word: none only where all that was to be watched was, and the machine itself."""
    if any(state.state == State.BINDS for state in states):
        return RunWord.BINDS
    known = {state.resource for state in states if state.state != State.UNKNOWN}
    unknown = {
        state.resource
        for state in states
        if state.state == State.UNKNOWN and state.resource != Resource.NETWORK
    }
    if missing or unknown or not known.issuperset(NEEDED):
        return RunWord.UNKNOWN
    return RunWord.NONE


def _ranked(binds: Sequence[ResourceState]) -> list[Bound]:
    """Return what binds: hardware and the database in the order of resources, then the queues and limits in front of it."""
    order = list(Resource)
    ranked = sorted(
        binds,
        key=lambda state: (state.resource in QUEUES, order.index(state.resource), state.label),
    )
    return [Bound(state.resource, state.label) for state in ranked]
