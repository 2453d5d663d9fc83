"""Comments on campaigns, cells, runs, charts and conclusions.

`places` says what a thread is on, `mentions` whom a text names, `threads` what may be written and what
can be done. Each deed is one transaction; whether somebody may is asked by the faces.
"""

from campaigns.reviews.comments.places import Place, page_of, place_on, place_text
from campaigns.reviews.comments.threads import (
    Written,
    begin,
    delete,
    edit,
    reopen,
    reply,
    resolve,
    revised,
    see_all_mentions,
    see_mentions,
)

__all__ = [
    "Place",
    "Written",
    "begin",
    "delete",
    "edit",
    "page_of",
    "place_on",
    "place_text",
    "reopen",
    "reply",
    "resolve",
    "revised",
    "see_all_mentions",
    "see_mentions",
]
