"""Post messages as signed JSON. Each connection is checked against the rules; redirects are not followed."""

import json
from datetime import datetime
from http import HTTPStatus

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from campaigns.accounts.notifications import signing
from campaigns.accounts.notifications.backoff import retry_after_seconds
from campaigns.accounts.notifications.errors import DeliveryFailed, Unwanted
from campaigns.accounts.notifications.messages import Message
from campaigns.accounts.notifications.network_rules import notification_rules
from campaigns.kit import redaction
from campaigns.kit.encryption import decrypt
from campaigns.kit.http import guarded
from campaigns.kit.http.failures import FAILURES, FileFailed
from campaigns.kit.mappings import JsonObject
from campaigns.kit.network import NetworkError
from campaigns.models import Channel, Delivery

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
TOTAL_SECONDS = 15.0
UID = "msg_{}"
BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Status codes whose Retry-After is respected."""


def send(delivery: Delivery, message: Message) -> None:
    """Post a message. Raise DeliveryFailed unless the status is 200 to 299; Unwanted for 410."""
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


def post(url: str, body: bytes, headers: dict[str, str]) -> guarded.Answer:
    """Send one request under the network rules, and return the answer. Raise DeliveryFailed without one.

    Time and memory are limited, whatever the receiver sends.
    """
    try:
        return guarded.ask(
            "POST",
            url,
            notification_rules(),
            seconds=TOTAL_SECONDS,
            sender=f"perfdash/{settings.VERSION}",
            data=body,
            headers={"Content-Type": "application/json", **headers},
            timeout=(CONNECT_SECONDS, READ_SECONDS),
            most_bytes=0,
            unread=guarded.NOTHING_READ,
        )
    except NetworkError as refused:
        raise DeliveryFailed(str(refused)) from None
    except guarded.TooLate:
        text = f"it took longer than {TOTAL_SECONDS:g} s"
    except FileFailed as failure:
        if failure.failure == "address":
            raise DeliveryFailed(str(failure)) from failure
        text = FAILURES[failure.failure]
    raise DeliveryFailed(f"The receiver could not be reached: {text}.")


def content(delivery: Delivery, message: Message) -> JsonObject:
    """Return the body, which is the same at every attempt."""
    row = delivery.announcement
    return {
        "type": row.kind,
        "timestamp": _instant(row.at),
        "data": {
            "title": message.subject,
            "what": message.what,
            "answer": message.answer,
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


def _refused(answer: guarded.Answer) -> DeliveryFailed:
    text, wait = f"The receiver answered {answer.status}", 0.0
    if answer.status in BUSY:
        wait = retry_after_seconds(answer.headers.get("Retry-After", ""), timezone.now())
    if wait:
        text += f", and asks to be left alone for {wait:.0f} s"
    return DeliveryFailed(f"{text}.", wait)


def _secrets(channel: Channel) -> list[str]:
    """Return the secret and, for a day after a change, the former one."""
    still = Channel.objects.filter(pk=channel.pk, former_until__gt=Now()).exists()
    both = [channel.secret, channel.former_secret if still else ""]
    return [decrypt(each) for each in both if each]


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
