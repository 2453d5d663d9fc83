"""Comments on campaigns, cells, runs, charts and conclusions.

`places` identifies the subject of a thread, `mentions` finds the users that a text names, `threads` writes
threads and comments, and `queries` reads them. Each change is one transaction; pages and REST views check the rights.
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
