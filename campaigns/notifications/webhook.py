"""Posts messages as signed JSON. Each connection is checked against the rules; redirects are not followed."""

import json
import ssl
import threading
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from campaigns import redaction
from campaigns.credentials import decrypt
from campaigns.engines.checked_requests import (
    EXPECTED,
    FAILURE_CLASSES,
    Opened,
    checked_session,
)
from campaigns.engines.downloading import classified
from campaigns.engines.transfers import FAILURES
from campaigns.models import Channel, Delivery
from campaigns.network import NetworkError, check_url
from campaigns.notifications import signing
from campaigns.notifications.backoff import asked_seconds
from campaigns.notifications.errors import DeliveryFailed, Unwanted
from campaigns.notifications.messages import Message
from campaigns.notifications.rules import notification_rules

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
TOTAL_SECONDS = 15.0
UID = "msg_{}"
BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Answers whose Retry-After is heeded."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered, as far as it is read. retry_after: that header, or nothing."""

    status: int
    retry_after: str


def send(delivery: Delivery, message: Message) -> None:
    """Post it. Raise DeliveryFailed unless the answer is of 200 to 299; Unwanted for 410."""
    channel = delivery.channel
    body = json.dumps(content(delivery, message), ensure_ascii=False).encode()
    uid = UID.format(delivery.uid.hex)
    signed = signing.headers(uid, int(timezone.now().timestamp()), body, _secrets(channel))
    url = decrypt(channel.address)
    redaction.remember(url.partition("://")[2].partition("/")[2])
    answer = post(url, body, signed)
    status = answer.status
    if status == HTTPStatus.GONE:
        raise Unwanted("The receiver answered 410 (Gone): it wants no more.")
    if 300 <= status < 400:
        raise DeliveryFailed(
            f"The receiver answered {status}; redirects are not followed. Give the address that it "
            "redirects to."
        )
    if not 200 <= status < 300:
        raise _refused(answer)


def post(url: str, body: bytes, headers: dict[str, str]) -> Answer:
    """Send one request under the rules; give the answer. Raise DeliveryFailed where none came.

    Whatever the receiver does, it takes no longer than TOTAL_SECONDS, and little memory.
    """
    opened, late = Opened(), threading.Event()

    def break_off() -> None:
        late.set()
        opened.break_off()

    timer = threading.Timer(TOTAL_SECONDS, break_off)
    timer.daemon = True
    timer.start()
    sender = f"perfdash/{settings.VERSION}"
    sent = {"Content-Type": "application/json", **headers}
    try:
        rules = notification_rules()
        check_url(url, rules)
        tls = ssl.create_default_context()
        with (
            checked_session(rules, tls, opened, sender) as session,
            session.post(
                url,
                data=body,
                headers=sent,
                stream=True,
                allow_redirects=False,
                timeout=(CONNECT_SECONDS, READ_SECONDS),
            ) as response,
        ):
            # What it says beside that is not read.
            answer = Answer(int(response.status_code), response.headers.get("Retry-After", ""))
    except NetworkError as refused:
        raise DeliveryFailed(str(refused)) from None
    except EXPECTED as error:
        raise DeliveryFailed(_words(error, late=late.is_set())) from error
    finally:
        timer.cancel()
        opened.break_off()
    if late.is_set():  # to http.client, headers that are broken off have ended
        raise DeliveryFailed(f"The receiver could not be reached: {_too_late()}.")
    return answer


def content(delivery: Delivery, message: Message) -> dict[str, Any]:
    """What is posted. It is the same at every try."""
    row = delivery.announcement
    return {
        "type": row.kind,
        "timestamp": _instant(row.at),
        "data": {
            "title": message.subject,
            "what": message.what,
            "words": message.words,
            "to_do": message.to_do,
            "url": message.url,
            "team": row.team and {"id": row.team.pk, "name": row.team.name},
            "campaign": row.campaign and {"id": row.campaign.pk, "name": str(row.campaign)},
            "conclusion": row.conclusion
            and {"id": row.conclusion.pk, "claim": row.conclusion.claim},
            "by": row.by and row.by.get_username(),
        },
    }


def _refused(answer: Answer) -> DeliveryFailed:
    words, wait = f"The receiver answered {answer.status}", 0.0
    if answer.status in BUSY:
        wait = asked_seconds(answer.retry_after, timezone.now())
    if wait:
        words += f", and asks to be left alone for {wait:.0f} s"
    return DeliveryFailed(f"{words}.", wait)


def _words(error: BaseException, *, late: bool) -> str:
    failure = classified(error, FAILURE_CLASSES)
    if failure.failure == "address":
        return str(failure)
    words = _too_late() if late else FAILURES[failure.failure]
    return f"The receiver could not be reached: {words}."


def _too_late() -> str:
    return f"it took longer than {TOTAL_SECONDS:g} s"


def _secrets(channel: Channel) -> list[str]:
    """The secret, and for a day the one before."""
    still = Channel.objects.filter(pk=channel.pk, former_until__gt=Now()).exists()
    both = [channel.secret, channel.former_secret if still else ""]
    return [decrypt(each) for each in both if each]


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
