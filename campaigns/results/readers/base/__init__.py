"""What all readers share: the contract (`values`), the bounded file (`source`), and the parts.

`documents` reads JSON, `building` gathers runs, `streams` summarizes single requests, `metrics` names
common metrics.
"""

from campaigns.kit.errors import BadFile
from campaigns.results.readers.base.building import MOST_CELLS, Builder, some, varying
from campaigns.results.readers.base.documents import (
    MOST_VALUES,
    Node,
    begins_document,
    documents,
    from_document,
    json_lines,
    parsed,
)
from campaigns.results.readers.base.problems import refuse
from campaigns.results.readers.base.source import (
    MOST_BYTES,
    MOST_DOCUMENT_BYTES,
    MOST_LINE_BYTES,
    Source,
)
from campaigns.results.readers.base.values import (
    NOT_SET,
    UNKNOWN_UNIT,
    Fidelity,
    Options,
    Read,
    Reader,
    ReadMetric,
    ReadRun,
    Scalar,
    State,
)

__all__ = [
    "MOST_BYTES",
    "MOST_CELLS",
    "MOST_DOCUMENT_BYTES",
    "MOST_LINE_BYTES",
    "MOST_VALUES",
    "NOT_SET",
    "UNKNOWN_UNIT",
    "BadFile",
    "Builder",
    "Fidelity",
    "Node",
    "Options",
    "Read",
    "ReadMetric",
    "ReadRun",
    "Reader",
    "Scalar",
    "Source",
    "State",
    "begins_document",
    "documents",
    "from_document",
    "json_lines",
    "parsed",
    "refuse",
    "some",
    "varying",
]
