"""States of the cells of a matrix. Imports no arithmetic, so that pages can import them."""

from enum import StrEnum


class CellState(StrEnum):
    """The state of a cell of the matrix; only `ok`, `warn` and `baseline` have a number."""

    BASELINE = "baseline"
    OK = "ok"
    WARN = "warn"
    TOO_MANY_FAILURES = "too_many_failures"
    MISSING = "missing"
