"""Who got answers in a closed loop. Pure."""

from campaigns.findings.values import Answer
from campaigns.findings.wording.loads import setting_name
from campaigns.kit.charts.labels import words_of
from campaigns.kit.numbers import amount, counted, number


def served_text(answer: Answer) -> str:
    """Return how many were served where the share is smallest, and how long each waits if all take turns.

    Empty where all were served.
    """
    if not answer.unserved:
        return ""
    worst = min(answer.unserved, key=lambda each: (each.most / each.number, -each.number))
    names = {cell.cell: setting_name(cell.levels) for cell in answer.cells}
    who = words_of(worst.parameter)
    ends = dict.fromkeys(number(each) for each in (worst.fewest, worst.most))
    text = f"{' to '.join(ends)} of {number(worst.number)} {who} were served"
    if name := names.get(worst.cell):
        text = f"At {name}, {text}"
    if worst.response is not None:
        text += f"; their response time is {amount(worst.response, worst.unit)} on average"
    if worst.end_to_end is not None:
        wait = amount(worst.end_to_end, worst.unit)
        text += f". If all take turns, each waits {wait} for an answer ({who} ÷ throughput)"
    if len(names) == 1:
        return f"{text}."
    count = f"{len(answer.unserved)} of {counted(len(names), 'cell')}"
    return f"Not all {who} were served in {count}. {text}."
