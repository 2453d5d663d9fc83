"""Numbers with their units, as the schema of a finding describes them. Pure."""

from typing import Annotated

from msgspec import Meta

from campaigns.stats.interval import Interval

Percent = Annotated[float, Meta(description="%")]
PercentInterval = Annotated[Interval, Meta(description="%, low first")]
Points = Annotated[float, Meta(description="percentage points")]
Share = Annotated[float, Meta(description="share of 1")]
ShareInterval = Annotated[Interval, Meta(description="share of 1, low first")]
Probability = Annotated[float, Meta(description="probability")]

InMetric = Annotated[float, Meta(description="in the unit of the metric")]
InMetricInterval = Annotated[Interval, Meta(description="in the unit of the metric, low first")]
OnLogs = Annotated[float, Meta(description="on the scale of natural logarithms")]
OnLogsInterval = Annotated[
    Interval, Meta(description="on the scale of natural logarithms, low first")
]
SquaredLogs = Annotated[float, Meta(description="variance on the scale of natural logarithms")]
OnAxis = Annotated[float, Meta(description="in the unit of the factor's levels")]
OnAxisInterval = Annotated[
    Interval, Meta(description="in the unit of the factor's levels, low first")
]

Seconds = Annotated[float, Meta(description="s")]
Hours = Annotated[float, Meta(description="h")]
PerSecond = Annotated[float, Meta(description="1/s")]

Number = Annotated[float, Meta(description="without unit")]
NumberInterval = Annotated[Interval, Meta(description="without unit, low first")]
Degrees = Annotated[float, Meta(description="degrees of freedom")]
WholeDegrees = Annotated[int, Meta(description="degrees of freedom")]
Count = Annotated[int, Meta(description="count")]
Key = Annotated[int, Meta(description="key of a row")]
Position = Annotated[int, Meta(description="position of a run in the plan")]
Block = Annotated[int, Meta(description="number of a block")]
SessionNumber = Annotated[int, Meta(description="number of a session")]
PositionOrBlock = Annotated[
    int, Meta(description="position of a run in the plan, or number of a block")
]
Place = Annotated[int, Meta(description="place in the list of values, from 0")]
