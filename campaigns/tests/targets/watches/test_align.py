"""Bring what a source read onto the clock of a run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.targets.watches.align import LONGEST_SAMPLES, _rates, align, clock_of
from campaigns.targets.watches.base import ClockReading, Event, Frame, Key, WatchFailed
from campaigns.targets.watches.recording import Recording

SENT = Key("net.sent", "eth0")
LOAD = Key("cpu.load")
AHEAD = 1_700_000_000.0


def recording(frames, *, ahead=AHEAD, uptime=True):
    result = Recording()
    for at, values in frames:
        result.frame(Frame(at + ahead, at + 0.01, values, at + 5 if uptime else None))
    result.clock(ClockReading(0.0, 0.002, ahead + 0.001))
    return result


def series(aligned, key):
    return next(each for each in aligned.series if each.key == key)


def test_a_counter_becomes_a_rate_in_equal_steps():
    aligned = align(recording([(s, {SENT: 100.0 * s}) for s in range(10)]), zero=3.0, step=1.0)
    found = series(aligned, SENT)
    assert found.start_seconds == -3.0
    assert found.values == pytest.approx([100.0] * 9)
    assert (found.first, found.last) == (0.0, 900.0)
    assert found.within(0, 2) == pytest.approx([100.0, 100.0])


def test_a_step_of_five_seconds_is_spread_over_steps_of_one():
    values = {0: 0.0, 5: 50.0, 10: 50.0}
    aligned = align(recording([(s, {SENT: v}) for s, v in values.items()]), 0.0, 1.0)
    assert series(aligned, SENT).values == pytest.approx([10.0] * 5 + [0.0] * 5)


def test_a_restart_and_a_gap_say_nothing():
    frames = [(s, {SENT: 10.0 * s}) for s in (0, 1, 2)]
    frames += [(3, {SENT: 1.0}), (4, {SENT: 11.0})]  # began anew
    frames += [(40, {SENT: 400.0}), (41, {SENT: 410.0})]
    aligned = align(recording(frames), 0.0, 1.0)
    found = series(aligned, SENT).values
    assert found[[0, 1, 3, 40]] == pytest.approx([10.0] * 4)
    assert np.isnan(found[2])
    assert np.all(np.isnan(found[4:40]))
    assert aligned.gaps == [(4.0, 40.0)]


def test_a_gauge_is_held_for_a_while():
    frames = [(s, {LOAD: float(s)}) for s in (0, 1, 2, 3, 30)]
    found = series(align(recording(frames), 0.0, 1.0), LOAD).values
    assert found[:6] == pytest.approx([0, 1, 2, 3, 3, 3])
    assert np.isnan(found[10])


def test_the_quickest_reading_of_each_batch_counts():
    readings = [ClockReading(0.0, 1.0, 100.2), ClockReading(2.0, 2.1, 102.05)]
    readings += [ClockReading(60.0, 60.02, 160.11)]
    clock = clock_of(readings)
    assert clock is not None
    assert clock.offset == pytest.approx(100.0)
    assert clock.drift == pytest.approx(0.1)
    assert clock.uncertainty == pytest.approx(0.05)
    assert clock_of([]) is None


def test_a_spike_appears_in_its_step_whatever_the_clock():
    frames = [(s / 2, {LOAD: 9.0 if s == 11 else 1.0}) for s in range(40)]
    aligned = align(recording(frames, ahead=-12345.6), zero=2.0, step=0.5)
    found = series(aligned, LOAD)
    spike = found.start_seconds + np.argmax(found.values) * 0.5
    assert spike <= 5.5 - 2.0 < spike + 0.5


def test_a_clock_that_was_set_judges_nothing():
    result = Recording()
    for second in range(10):
        jump = 30.0 if second > 5 else 0.0
        result.frame(Frame(AHEAD + second + jump, second + 0.01, {LOAD: 1.0}, 100.0 + second))
    result.clock(ClockReading(0.0, 0.002, AHEAD))
    aligned = align(result, 0.0, 1.0)
    assert not aligned.is_certain(1.0)
    assert series(aligned, LOAD).values == pytest.approx([1.0] * 10)


def test_a_machine_that_starts_again_has_set_no_clock():
    result = Recording()
    for second in range(10):
        uptime = 100.0 + second if second < 4 else second - 3.5
        result.frame(Frame(AHEAD + second, second + 0.01, {LOAD: 1.0}, uptime))
    result.clock(ClockReading(0.0, 0.002, AHEAD))

    assert align(result, 0.0, 1.0).is_certain(1.0)


def test_a_clock_that_leaves_the_workers_was_set_even_where_no_uptime_is_told():
    def was_set(jump):
        clock = clock_of(
            [
                ClockReading(60.0 * n, 60.0 * n + 0.002, AHEAD + 60 * n + each)
                for n, each in enumerate([0.0, 0.0, jump, jump])
            ]
        )
        return clock and clock.was_set

    assert was_set(0.02) is False
    assert was_set(-30.0) is True


def test_events_are_moved_to_the_runs_clock():
    result = recording([(s, {LOAD: 1.0}) for s in range(10)])
    result.event(Event("oom", "killed java", AHEAD + 4.5, AHEAD + 5.0))
    (event,) = align(result, 2.0, 1.0).events
    assert event.at == pytest.approx(2.5, abs=0.01)
    assert event.until == pytest.approx(3.0, abs=0.01)


def test_a_long_series_has_longer_steps():
    frames = [(float(s), {SENT: 7.0 * s}) for s in range(0, 2 * LONGEST_SAMPLES, 3)]
    found = series(align(recording(frames), 0.0, 1.0), SENT)
    assert found.step_seconds == 2.0
    assert len(found.values) <= LONGEST_SAMPLES
    assert np.nanmean(found.values) == pytest.approx(7.0)


@given(
    st.lists(
        st.tuples(st.floats(0.01, 40), st.floats(0, 1e12) | st.just(float("nan"))),
        min_size=1,
        max_size=40,
    ),
    st.floats(-50, 50),
)
def test_no_rate_is_negative(readings, zero):
    at, frames = 0.0, []
    for apart, value in readings:
        at += apart
        frames.append((at, {SENT: value, LOAD: value}))
    aligned = align(recording(frames), zero, 1.0)
    for each in aligned.series:
        known = each.values[~np.isnan(each.values)]
        assert np.all(known >= 0)


def test_a_source_that_gives_too_much_is_ended(monkeypatch):
    monkeypatch.setattr("campaigns.targets.watches.recording.MOST_VALUES", 3)
    result = recording([(s, {LOAD: 1.0}) for s in range(3)])
    with pytest.raises(WatchFailed, match="more than 3 values"):
        result.frame(Frame(3.0, 3.0, {LOAD: 1.0}))
    result.close()
    with pytest.raises(WatchFailed, match="ended"):
        result.frame(Frame(3.0, 3.0, {LOAD: 1.0}))


def test_a_wrong_clock_makes_no_grid_of_years():
    frames = [(s, {SENT: 10.0 * s, LOAD: 1.0}) for s in range(10)]
    aligned = align(recording([*frames, (9.9e11, {SENT: 1.0, LOAD: 1.0})]), 0.0, 1.0, (0.0, 10.0))
    assert (aligned.frames, aligned.gaps) == (10, [])
    assert max(len(each.values) for each in aligned.series) < 20


def test_what_is_no_number_or_text_is_not_taken():
    result = recording([(0, {LOAD: 1.0}), (float("inf"), {LOAD: 2.0})])
    result.clock(ClockReading(0.0, 0.1, float("nan")))
    result.fact("cores", float("nan"))
    result.event(Event("oom", "x", float("inf")))
    result.frame(Frame(AHEAD + 1, 1.0, {Key("net.sent", "eth\0" + 200 * "x"): 1.0}))
    for value in (1e300, -1e39, float("inf"), float("nan")):
        result.frame(Frame(AHEAD + 2, 2.0, {Key("cpu.load"): value}))
    assert (result.count, len(result.readings), result.facts, result.events) == (6, 1, {}, [])
    assert result.columns()[LOAD][1].tolist() == [1.0]
    (label,) = [key.label for key in result.columns() if key.label]
    assert len(label) == 100
    assert "\0" not in label


def test_a_coarser_grid_takes_means_and_a_finer_one_holds():
    frames = [(s, {LOAD: float(s == 13)}) for s in range(30)]
    found = series(align(recording(frames), 0.0, 1.0), LOAD)
    assert found.on_grid(10, 2.0, 5)[1] == pytest.approx(0.5)
    assert found.on_grid(12, 0.5, 4) == pytest.approx([0.0, 0.0, 1.0, 1.0])


def test_many_readings_have_one_rate():
    count = 4 * LONGEST_SAMPLES
    at = np.arange(count, dtype=float)
    cells = _rates(at, 3 * at, 3.0, 0.0, 1.0, count - 1)
    assert len(cells) == count - 1
    assert cells == pytest.approx(3.0)
