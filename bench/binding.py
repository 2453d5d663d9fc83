"""Count how often the rule names what binds in machines whose limit is known: script/bench binding --times 20.

It wants a machine that does nothing else: the load before each case is told beside the words. Each case takes about
fifteen seconds, and loads the machine for ten of them.
"""

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
django.setup()

from campaigns.findings.wording.binding import run_binding_text, short_name  # noqa: E402
from campaigns.stats.binding import State  # noqa: E402
from e2e.watches.known_cases import CASES, CannotBeMade, counted  # noqa: E402

PAUSE = 2.0


def main() -> int:
    """Print a line for each case; exit code 1 where one was not named rightly each time."""
    parser = argparse.ArgumentParser(prog="script/bench binding", description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="how often each case is made")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these cases")
    parser.add_argument("--figures", action="store_true", help="the figures of each resource")
    options = parser.parse_args()
    print("| case | must say | right | said | load before |\n|---|---|--:|---|--:|")
    wrong = False
    for name in options.case or CASES:
        right, words, loads = 0, Counter[str](), []
        for _ in range(options.times):
            time.sleep(PAUSE)
            loads.append(os.getloadavg()[0])
            try:
                named, strongest, run = counted(name)
            except CannotBeMade as why:
                words[f"cannot be made: {why}"] += 1
                continue
            right += named
            text = " and ".join(short_name(each.resource, each.label) for each in strongest)
            words[text or run.word] += 1
            if options.figures:
                for resource in run_binding_text(run).resources:
                    mark = "▲" if resource.state.word == State.BINDS else " "
                    print(
                        f"  {mark} {resource.short}: {'; '.join(resource.reasons)}", file=sys.stderr
                    )
        wrong |= right < options.times
        said = ", ".join(f"{word} ({count})" for word, count in words.most_common())
        load = f"{min(loads):.1f} to {max(loads):.1f}"
        print(
            f"| {name} | {CASES[name].must_say} | {right} of {options.times} | {said} | {load} |",
            flush=True,
        )
    print(
        f"\n{os.cpu_count()} cores, Linux {os.uname().release}, PSI {'there' if Path('/proc/pressure/cpu').exists() else 'absent'}"
    )
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
