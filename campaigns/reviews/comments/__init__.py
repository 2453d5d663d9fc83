"""People talk about campaigns, cells, runs, charts and conclusions.

`places` says what a thread is on, `mentions` whom a text names, `threads` what may be written and what
can be done. Each deed is one transaction; whether somebody may is asked by the faces.
"""

from campaigns.reviews.comments.places import Place, page_of, place_on, words_of
from campaigns.reviews.comments.threads import (
    Said,
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
    "Said",
    "begin",
    "delete",
    "edit",
    "page_of",
    "place_on",
    "reopen",
    "reply",
    "resolve",
    "revised",
    "see_all_mentions",
    "see_mentions",
    "words_of",
]
