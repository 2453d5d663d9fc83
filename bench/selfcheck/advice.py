"""What a reader should do about a figure that is off its nominal value."""

import re
from typing import NamedTuple

from bench.selfcheck.tally import Figure

UNSAID = "Take it as it stands in the table, not as the nominal value."


class Rule(NamedTuple):
    """Prefixes of a figure's section, quantity and column, and the comment on it."""

    section: str
    quantity: str
    column: str
    off: str
    text: str


WIDE = "The interval is wider than it has to be: what it excludes is excluded all the more."
CAREFUL = "The word is said a little too often there: ask for a second session before acting on it."
RULES = (
    Rule(
        "What is said",
        "headline",
        "sessions differ",
        "high",
        "One session cannot tell what the day did from the change, and two tell little. Nothing of this is"
        " confirmed: run a third session, from which on the interval is that between sessions.",
    ),
    Rule(
        "What is said",
        "“confirmed”",
        "sessions differ",
        "high",
        "Two sessions that differ as much as their noise may agree by chance: run a third one.",
    ),
    Rule(
        "What is said",
        "level after level",
        "drift",
        "high",
        "A drift that is weak beside the noise is not seen within levels, and makes up a difference between"
        " those measured one after the other. The answer says that this order cannot tell it: interleave.",
    ),
    Rule(
        "Coverage",
        "cell: ",
        "autocorrelated",
        "low",
        "Runs that follow one another are alike, and count for fewer than they are. Compare levels that are"
        " interleaved instead of reading one cell's own interval; heed the check of neighbours.",
    ),
    Rule(
        "Coverage",
        "cell: ",
        "drift",
        "high",
        "The drift is taken for noise. Read the interval as that of the whole time of the campaign.",
    ),
    Rule(
        "Coverage",
        "cell: |.*(pairs|BCa)",
        "two modes",
        "low",
        "Few runs may miss a mode altogether. Look at the single runs; make 20 or more and compare mode by"
        " mode where there are two.",
    ),
    Rule(
        "Coverage",
        "cell: ",
        "",
        "low",
        "The interval of few runs that are not log-normal is too narrow: make 10 runs, or read the"
        " comparison, which it does not concern.",
    ),
    Rule(
        "Coverage",
        "one campaign against another",
        "autocorrelated",
        "low",
        "Nothing pairs the runs of two campaigns, and blocks that follow one another are alike: vary both in one"
        " campaign, or measure each in three sessions.",
    ),
    Rule(
        "Coverage",
        "one campaign against another",
        "",
        "high",
        "What an hour did to all its runs is taken for noise, since nothing pairs them: "
        + WIDE[0].lower()
        + WIDE[1:],
    ),
    Rule(
        "Coverage|Words",
        "pooled, cell after cell",
        "",
        "low|high",
        "Level and time are confounded, and no arithmetic undoes that. Interleave the levels (the default);"
        " do not act on a campaign of that order alone. The check of interleaving warns of it.",
    ),
    Rule(
        "Coverage",
        "pairs: change of means",
        "",
        "low",
        "Bootstraps of few pairs are too narrow (a limit of the method). Read the t interval of the pairs,"
        " which decides; BCa is a second opinion from 20 pairs on.",
    ),
    Rule(
        "Coverage",
        "Hodges-Lehmann",
        "",
        "low",
        "Ranks ask for independent differences around one centre. Take the t interval, which decides.",
    ),
    Rule("Coverage", "", "", "high", WIDE),
    Rule(
        "Coverage",
        "split plot, other",
        "autocorrelated",
        "low",
        "Runs inside a whole plot are alike: shuffle them, or set the plot more often.",
    ),
    Rule(
        "Coverage",
        "",
        "",
        "low",
        "The interval is a little too narrow there: add repeats, and look at the single runs before acting"
        " on a bound that is near.",
    ),
    Rule(
        "Words",
        "one noisy level",
        "",
        "high",
        "A level whose runs vary two to four times as much as the others' is not always seen in few runs:"
        " make five or more, or ask for a second session before acting on what is said of it.",
    ),
    Rule("Words", "", "", "high", CAREFUL),
    Rule(
        "Power",
        "pooled|Welch",
        "drift|block effects",
        "low",
        "Drift and blocks are noise without blocks in the plan. Interleave: the plan of blocks keeps its power.",
    ),
    Rule(
        "Power",
        "Welch",
        "",
        "low",
        "The formula takes the noise of both cells for one; Welch's test does not, and finds less with few"
        " runs. Make one or two runs more than planned, or more cells: then noise is pooled.",
    ),
    Rule(
        "Power",
        "",
        "drift",
        "low",
        "Drift inside a block is noise: make blocks shorter (fewer levels, shorter runs) or more of them.",
    ),
    Rule(
        "Power",
        "",
        "",
        "low",
        "The plan promises too much there: add a quarter to the repeats that it asks for.",
    ),
    Rule("Power", "", "", "high", "More is found than planned: nothing to do."),
    Rule(
        "Checks",
        "",
        "",
        "high",
        "It warns too often where nothing is wrong: look at its chart before believing it.",
    ),
    Rule(
        "Best",
        "",
        "",
        "low|high",
        "The bounds hold less often than promised there: repeat the campaign before publishing the setting.",
    ),
    Rule(
        "Sessions",
        "false|interval of these|confirmed",
        "",
        "low|high",
        "One session cannot see how sessions differ, and two see it badly. Ask for three; from then on the"
        " interval between sessions decides.",
    ),
    Rule("Sessions", "interval between", "", "high", WIDE),
    Rule(
        "Failed shares",
        "",
        "",
        "low",
        "Rare failures that come in clumps may be in none of few runs. Read first how many runs had"
        " failures (the badge `clumped_failures`), and make more runs, not longer ones.",
    ),
    Rule(
        "Curves",
        "USL",
        "",
        "low",
        "Bootstraps of few runs are too narrow (a limit of the method): keep a fifth of distance from the"
        " bounds of a throttle, or make 10 runs a level.",
    ),
    Rule(
        "Curves",
        "break",
        "",
        "low",
        "The interval of the break is too narrow: read it as one of about the share in the table, and"
        " measure more levels around the knee.",
    ),
    Rule("Curves", "break|USL", "", "high", WIDE),
    Rule("Curves", "", "", "high", "A knee is claimed too often: ask for more levels around it."),
    Rule(
        "Noise floor",
        "",
        "",
        "low",
        "Where single runs are far off now and then, 7 % of further pairs lie beyond the floor instead of 5 %:"
        " look at the differences themselves before a single run convinces you.",
    ),
    Rule(
        "Capacity",
        "sessions differ",
        "",
        "low",
        "One session says what was carried on that day. Ask for three: from then on the interval is that between sessions.",
    ),
    Rule(
        "Capacity",
        "“more” or “fewer”",
        "",
        "high",
        CAREFUL,
    ),
    Rule(
        "Capacity",
        "",
        "",
        "low",
        "The interval is a little too narrow there: make five blocks, or measure a load between those around the"
        " capacity.",
    ),
    Rule(
        "Search",
        "on the bend",
        "",
        "low",
        "Where the curve bends at its limit, a little noise moves the crossing far: rely on the interval, which is wide"
        " there for that reason, and not on the estimate.",
    ),
    Rule(
        "Search",
        "",
        "",
        "low",
        "Rely on the interval of the runs that confirm, not on the estimate alone.",
    ),
    Rule(
        "Stop rule",
        "",
        "",
        "low",
        "A stop at the first narrow interval favours small noise: where a decision hangs on the bound, plan"
        " a fixed number of blocks instead.",
    ),
)


def advice_for(figure: Figure) -> str:
    """Find the first rule that applies."""
    for rule in RULES:
        pairs = (
            (rule.section, figure.section),
            (rule.quantity, figure.quantity),
            (rule.column, figure.column),
            (rule.off, figure.off),
        )
        if all(re.match(pattern, text) for pattern, text in pairs):
            return rule.text
    return UNSAID
