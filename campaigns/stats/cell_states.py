"""States of the cells of a matrix. Imports no arithmetic, so that pages may name them."""

from enum import StrEnum


class CellState(StrEnum):
    """What a cell of the matrix shows; only `ok`, `warn` and `baseline` have a number."""

    BASELINE = "baseline"
    OK = "ok"
    WARN = "warn"
    TOO_MANY_FAILURES = "too_many_failures"
    MISSING = "missing"
