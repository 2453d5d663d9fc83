from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from campaigns.findings.values import (
    CampaignComparison,
    Cell,
    ComparedCampaign,
    ComparedCandidate,
    ComparedCells,
    Difference,
    Differs,
    RunsOfCell,
    Terms,
)
from campaigns.findings.wording.answer_text import Fact, is_short
from campaigns.findings.wording.compare import (
    advice_of_row,
    answer_of,
    confirmation_text,
    texts_of_carried,
)
from campaigns.stats.between_campaigns import OverCells
from campaigns.stats.cell_summary import CellSummary
from campaigns.stats.compared import Comparison, Model
from campaigns.stats.interval import Interval
from campaigns.stats.verdict import Verdict, Word

SECONDS = Terms(metric="duration", label="Duration", unit="s", lower_is_better=True)
RATE = Terms(metric="rate", label="Rate", unit="files/s", lower_is_better=False)
UNPAIRED = (
    "Runs of different campaigns are not paired, so the change includes whatever else differed at the "
    "time."
)
NO_DIFFERENCE = "No difference in settings or environment is recorded, except the time."
PATH = Differs("path", "/a", "/b")
LONG_PATH = Differs("path", f"/{'a' * 40}", f"/{'b' * 40}")


def verdict(word, change=None, low=None, high=None, **more):
    interval = None if low is None else Interval(low, high)
    return Verdict(word, n=more.pop("n", 8), pct_change=change, ci_pct=interval, **more)


FASTER = verdict(Word.BETTER, -20.04, -21.2, -18.8)
SLOWER = verdict(Word.WORSE, 12.5, 8.1, 17.0)
EQUIVALENT = verdict(Word.EQUIVALENT, 0.31, -0.9, 1.5)
OPEN = verdict(Word.NOT_ENOUGH_DATA, -3.0, -9.0, 3.4, n=4, n_to_decide=12)
REFUSED = verdict(Word.NOT_COMPARABLE)
FAILING = verdict(Word.TOO_MANY_FAILURES, reason="failed_runs", side="candidate", share=0.5)
OVER = OverCells(2, -15.0, Interval(-17.0, -13.0), None, -20.0, -10.0)


def cell(key=1, timed_out=0, failed=0):
    summary = CellSummary(
        n_total=8, n_ok=8 - timed_out - failed, n_failed=timed_out + failed, n_lost=0, n_missing=0,
        n_censored=timed_out, n_saturated=0, confidence=0.95,
    )  # fmt: skip
    counts = RunsOfCell(8, {}, 60.0, 60.0, 22.9, 0, 0, bool(failed))
    return Cell(cell=key, levels={"workers": 4}, summary=summary, counts=counts, runs=[])


def row(judged, side=1, name="workers 4", **more):
    title = f"campaign {side + 1}: workers {4 + side}"
    values = {
        "side": side,
        "name": name,
        "titles": ("campaign 1: workers 4", title),
        "baseline": cell(1),
        "candidate": cell(side + 1),
        "comparison": Comparison(0, 1, Model.WELCH, judged),
        "means": (25.2, 20.1),
        "sessions": (1, 1),
        "between": False,
    }
    return ComparedCells(**(values | more))


def chosen(*rows, **more):
    """Cells that were chosen one by one."""
    sides = 1 + max(each.side for each in rows)
    campaigns = [
        ComparedCampaign(name=f"campaign {place + 1}", unit="s", simulators=(), checked=True)
        for place in range(sides)
    ]
    values: dict[str, Any] = {
        "terms": SECONDS,
        "campaigns": campaigns,
        "candidates": [],
        "rows": rows,
        "differences": [],
    }
    return CampaignComparison(**(values | more))


def whole(*rows, refused=(), over=None, **more):
    """Two whole campaigns."""
    candidate = ComparedCandidate(side=1, refused=refused, over=over)
    if rows:
        return chosen(*rows, candidates=[candidate], **more)
    campaigns = chosen(row(FASTER)).campaigns
    return chosen(row(FASTER), rows=[], campaigns=campaigns, candidates=[candidate])


def three(*rows, **of_candidates):
    """Three whole campaigns. of_candidates: fields of each, as `refused_2` or `over_1`."""
    candidates = [
        ComparedCandidate(
            side=side,
            refused=of_candidates.get(f"refused_{side}", ()),
            over=of_candidates.get(f"over_{side}"),
        )
        for side in (1, 2)
    ]
    campaigns = chosen(row(FASTER, side=2)).campaigns
    return chosen(row(FASTER), rows=rows, campaigns=campaigns, candidates=candidates)


def with_campaigns(compared, **fields):
    campaigns = [structs.replace(each, **fields) for each in compared.campaigns]
    return structs.replace(compared, campaigns=campaigns)


def differing(number, changed=()):
    facts = ("Pulp", "kernel", "workers", "RAM", "disk")[:number]
    return [Difference("target", name, ("1", "2"), (False, True)) for name in facts] + [
        Difference("target", "load", ("1, 2", "1, 2"), (False, False), changed=changed)
    ] * bool(changed)


SENTENCES = [
    (
        whole(row(FASTER)),
        (
            "“campaign 2” is 20.0 % faster than “campaign 1” at workers 4.",
            "18.8 to 21.2 % (95 %), 8 and 8 runs.",
        ),
    ),
    (
        whole(row(SLOWER)),
        (
            "“campaign 2” is 12.5 % slower than “campaign 1” at workers 4.",
            "8.1 to 17.0 % (95 %), 8 and 8 runs.",
        ),
    ),
    (
        whole(row(FASTER, name="")),
        (
            "“campaign 2” is 20.0 % faster than “campaign 1”.",
            "18.8 to 21.2 % (95 %), 8 and 8 runs.",
        ),
    ),
    (
        whole(row(EQUIVALENT)),
        (
            "“campaign 2” and “campaign 1” are equivalent within 2 % at workers 4.",
            "−0.9 to +1.5 % (95 %), 8 and 8 runs.",
        ),
    ),
    (
        whole(row(OPEN)),
        (
            "No difference is shown between “campaign 2” and “campaign 1” at workers 4: not enough data.",
            "−9.0 to +3.4 % (95 %), 8 and 8 runs. Run about 8 runs more of each side to tell 0 from 5 %.",
        ),
    ),
    (
        whole(row(verdict(Word.NOT_ENOUGH_DATA, n=1))),
        (
            "No difference is shown between “campaign 2” and “campaign 1” at workers 4: not enough data.",
            "8 and 8 runs.",
        ),
    ),
    (
        whole(row(verdict(Word.BETTER, 25.0, 20.0, 30.0)), terms=RATE),
        (
            "“campaign 2” has 25.0 % higher throughput than “campaign 1” at workers 4.",
            "20.0 to 30.0 % (95 %), 8 and 8 runs.",
        ),
    ),
    (
        whole(row(FASTER), row(SLOWER), over=OVER),
        (
            "“campaign 2” vs. “campaign 1”, 2 cells: faster in 1, slower in 1.",
            "−15.0 % (95 % −17.0 … −13.0 %) as geometric mean over 2 cells, from −20.0 % to −10.0 %.",
        ),
    ),
    (
        whole(row(FASTER), row(OPEN), row(FAILING), over=replace(OVER, ci_pct=None)),
        (
            "“campaign 2” vs. “campaign 1”, 3 cells: faster in 1, not enough data in 1, too many failures in 1.",
            "−15.0 % as geometric mean over 2 cells, from −20.0 % to −10.0 %.",
        ),
    ),
    (
        whole(row(FAILING), row(FAILING)),
        (
            "“campaign 2” vs. “campaign 1”, 2 cells: too many failures in 2.",
            "2 comparisons in the tables.",
        ),
    ),
    (whole(), ("“campaign 2” and “campaign 1” have no cell with the same levels.", "")),
    (
        whole(refused=[PATH]),
        ("“campaign 2” is not comparable with “campaign 1” (path: /a vs. /b).", ""),
    ),
    (
        whole(refused=[LONG_PATH, Differs("unit", "s", "MB")]),
        ("“campaign 2” is not comparable with “campaign 1” (another path; unit: s vs. MB).", ""),
    ),
    (
        whole(row(REFUSED, refused=[Differs("files processed", "500", "520")])),
        (
            "“campaign 2” at workers 4 is not comparable with “campaign 1” (files processed: 500 vs. 520).",
            "1 comparison in the tables.",
        ),
    ),
    (
        three(row(FASTER), row(SLOWER, side=2)),
        (
            "Against “campaign 1”: “campaign 2” −20.0 % (faster); “campaign 3” +12.5 % (slower).",
            "2 comparisons in the tables.",
        ),
    ),
    (
        three(row(FASTER), row(FASTER), over_1=OVER, refused_2=[PATH]),
        (
            "Against “campaign 1”: “campaign 2” −15.0 % (95 % −17.0 … −13.0 %, 2 cells); “campaign 3” is not comparable (path).",
            "2 comparisons in the tables.",
        ),
    ),
    (
        three(row(FAILING), row(FAILING)),
        (
            "Against “campaign 1”: “campaign 2” has no mean change over its 2 cells; “campaign 3” has no cell with the same levels.",
            "2 comparisons in the tables.",
        ),
    ),
    (
        chosen(row(FASTER, name="")),
        (
            "campaign 2: workers 5 is 20.0 % faster than campaign 1: workers 4.",
            "18.8 to 21.2 % (95 %), 8 and 8 runs.",
        ),
    ),
    (
        chosen(row(FASTER, name=""), row(FAILING, side=2, name="")),
        (
            "Against campaign 1: workers 4: campaign 2: workers 5 −20.0 % (faster); campaign 3: workers 6 (too many failures).",
            "2 comparisons in the tables.",
        ),
    ),
    (
        chosen(row(REFUSED, name="", refused=[PATH]), row(SLOWER, side=2, name="")),
        (
            "Against campaign 1: workers 4: campaign 2: workers 5 is not comparable (path); campaign 3: workers 6 +12.5 % (slower).",
            "2 comparisons in the tables.",
        ),
    ),
    (
        whole(row(FAILING, candidate=cell(2, timed_out=1))),
        (
            "“campaign 2” and “campaign 1” are not compared: too many failures at workers 4.",
            "8 and 7 runs.",
        ),
    ),
    (
        whole(row(FAILING, candidate=cell(2, failed=4))),
        (
            "“campaign 2” and “campaign 1” are not compared: too many failures at workers 4.",
            "8 and 4 runs.",
        ),
    ),
]


@pytest.mark.parametrize(("compared", "lines"), SENTENCES)
def test_the_sentence_says_what_was_compared_and_by_how_much(compared, lines):
    text = answer_of(compared)

    assert (text.sentence, text.certainty) == lines
    assert is_short(text.sentence)
    assert is_short(text.certainty)


CAVEATS = [
    (
        whole(row(FASTER)),
        [
            "No difference in settings or environment is recorded, except the time.",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (
        whole(row(FASTER), differences=differing(1)),
        [
            "The only recorded difference of “campaign 2” is Pulp (1 → 2).",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (
        whole(row(FASTER), differences=differing(2)),
        [
            "2 things differ for “campaign 2”: Pulp (1 → 2), kernel (1 → 2); the change cannot be attributed to one of them alone.",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (
        whole(row(FASTER), differences=differing(5)),
        [
            "5 things differ for “campaign 2”: Pulp (1 → 2), kernel (1 → 2), workers (1 → 2) and 2 more; the change cannot be attributed to one of them alone.",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (
        whole(row(FASTER), differences=differing(0, changed=(True, False))),
        [
            "No difference in settings or environment is recorded, except the time.",
            "The environment of “campaign 1” changed while it was measured.",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (
        with_campaigns(whole(row(FASTER)), simulators=("simulated Pulp",)),
        [
            "Measured on a simulated Pulp, not on a real server.",
            "No difference in settings or environment is recorded, except the time.",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (
        with_campaigns(whole(row(FASTER)), checked=False),
        [
            "No difference in settings or environment is recorded, except the time.",
            "perfdash did not check what work the imported runs did.",
            "Runs of different campaigns are not paired, so the change includes whatever else differed at the time.",
        ],
    ),
    (whole(refused=[PATH]), []),
    (whole(row(REFUSED, refused=[PATH])), []),
]


@pytest.mark.parametrize(("compared", "caveats"), CAVEATS)
def test_the_caveats_name_what_else_may_be_the_cause(compared, caveats):
    text = answer_of(compared)

    assert [*filter(None, (text.caveat, *text.further))] == caveats


@pytest.mark.parametrize(
    ("judged", "sessions", "text"),
    [
        (FASTER, (1, 1), "one session each"),
        (FASTER, (2, 3), "2 and 3 sessions: too few to confirm"),
        (FASTER, (3, 3), "confirmed over 3 and 3 sessions"),
        (OPEN, (3, 4), "not confirmed over 3 and 4 sessions"),
        (FAILING, (3, 3), ""),
        (OPEN, (0, 3), ""),
    ],
)
def test_sessions_confirm_a_verdict_from_three_on_both_sides(judged, sessions, text):
    assert confirmation_text(row(judged, sessions=sessions, between=min(sessions) > 2)) == text


@pytest.mark.parametrize(
    ("judged", "between", "advice"),
    [
        (FASTER, False, ""),
        (OPEN, False, "Run about 8 runs more of each side to tell 0 from 5 %."),
        (OPEN, True, "Run about 8 sessions more of each side to tell 0 from 5 %."),
        (
            verdict(Word.NO_DIFFERENCE_SHOWN, 0.5, -2.0, 3.0),
            False,
            "A change of 5 % or more is excluded with 95 % confidence.",
        ),
    ],
)
def test_the_advice_counts_runs_or_sessions_of_each_side(judged, between, advice):
    compared = whole(row(judged, between=between))

    assert advice_of_row(compared, compared.rows[0]) == advice


def test_badges_count_words_and_the_refused_and_warn_of_the_environment():
    words = [each.word for each in answer_of(whole(row(FASTER), differences=differing(1))).badges]
    assert words == ["faster", "environment differs"]
    compared = three(row(FASTER), row(SLOWER), refused_2=[PATH])
    words = [each.word for each in answer_of(compared).badges]
    assert words == ["faster: 1 of 2", "slower: 1 of 2", "not comparable: 1 campaign"]


@pytest.mark.parametrize(
    ("rows", "tone"),
    [
        ([row(FASTER), row(FASTER)], "better"),
        ([row(FASTER), row(SLOWER)], "info"),
        ([row(REFUSED, refused=[PATH])], "thin"),
    ],
)
def test_the_tone_is_that_of_all_verdicts_or_neutral(rows, tone):
    assert answer_of(whole(*rows)).tone == tone


def test_numbers_are_those_of_few_cells_or_the_extremes_of_many():
    few = answer_of(whole(row(FASTER), row(SLOWER, name="workers 8"), over=OVER))
    changes = [row(verdict(Word.BETTER, -n), name=f"workers {n}") for n in range(1, 6)]

    assert list(few.facts) == [
        Fact("campaign 2", "−15.0 %", "−17.0 … −13.0 %"),
        Fact("workers 4", "−20.0 %", "−21.2 … −18.8 %"),
        Fact("workers 8", "+12.5 %", "+8.1 … +17.0 %"),
    ]
    assert [each.label for each in answer_of(whole(*changes)).facts] == ["workers 5", "workers 1"]
    assert not answer_of(whole(row(FAILING))).facts


def test_the_numbers_of_several_candidates_are_those_over_their_cells():
    compared = three(row(FASTER), row(FASTER, side=2), over_1=OVER, over_2=OVER)

    assert [each.label for each in answer_of(compared).facts] == ["campaign 2", "campaign 3"]


def test_what_is_carried_and_too_long_is_left_to_the_table_by_the_number_of_campaigns():
    long = ["x" * 200]

    assert "What both campaigns carry is in the table." in texts_of_carried(whole(), long)
    assert "What 2 campaigns carry against “campaign 1” is in the table." in texts_of_carried(
        three(), long
    )
