"""Little's law: whether reported response times hold all of the waiting. Pure. STATISTICS 4, 8.7."""

from dataclasses import dataclass

TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class LittleCheck:
    """effective: X R, how many were really being served. ratio: of it to the N that were there."""

    effective: float
    ratio: float

    @property
    def consistent(self) -> bool:
        """Whether all N are accounted for, within 5 %; if not, some waited where nobody timed them."""
        return abs(self.ratio - 1) <= TOLERANCE


def check_little(n: float, throughput: float, response_seconds: float) -> LittleCheck:
    """Compare X R with N; only for a closed loop in steady state. throughput: 1/s."""
    if n <= 0:
        raise ValueError("N has to be above 0.")
    effective = throughput * response_seconds
    return LittleCheck(effective, effective / n)
