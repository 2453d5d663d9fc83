"""Remove secrets from every text of a bundle."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from campaigns.kit import encryption, redaction
from campaigns.models import (
    ApiToken,
    Campaign,
    Channel,
    Credential,
    Invitation,
    Population,
    Program,
    PublicLink,
    SignInLink,
    SshLogin,
    Target,
    Watch,
)

KEYS = "activation_keys"
TOKEN = re.compile(r"(?<![\w-])[\w-]{43}(?![\w-])", re.ASCII)
PATTERNS = (
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"(?<=\bBearer )[\w.~+/=-]{8,}|(?<=\bBasic )[\w+/=-]{8,}"),
    re.compile(
        r"https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks"
        r"|[\w.-]*\.?webhook\.office\.com|chat\.googleapis\.com/v1/spaces)/\S+"
    ),
)
"""Private keys, logins in URLs and headers, and URLs that are secret themselves."""
CACHED = 20_000


class Redactor:
    """Removes the secrets that this installation stores, and the activation keys of some campaigns.

    `changed`: the number of changed texts by file; `reading`: the current file.
    """

    def __init__(self, campaigns: Iterable[Campaign]) -> None:
        """Read the secrets; the logs of this process omit them, too."""
        for secret in _stored_secrets():
            redaction.remember(secret)
        hashes = (ApiToken, SignInLink, Invitation, PublicLink)
        self._hashes = {h for model in hashes for h in model.objects.values_list("hash", flat=True)}
        self._keys = _activation_keys(campaigns)
        longer = [re.escape(key) for key in self._keys if not key.isdigit() and len(key) > 1]
        self._in_texts = re.compile(rf"(?<!\w)(?:{'|'.join(longer)})(?!\w)") if longer else None
        self.changed: dict[str, int] = {}
        self.reading = ""
        self._text = lru_cache(maxsize=CACHED)(self._cleaned)

    def clean(self, value: Any, *, of_keys: bool = False) -> Any:
        """Return JSON without secrets. of_keys: every text in it is a list of activation keys."""
        if isinstance(value, str):
            cleaned = self._named(value) if of_keys else self._text(value)
            if cleaned != value:
                self.changed[self.reading] = self.changed.get(self.reading, 0) + 1
            return cleaned
        if isinstance(value, Mapping):
            about_keys = value.get("name") == KEYS or value.get("field") == KEYS
            return {
                self.clean(str(name)): self.clean(
                    inner,
                    of_keys=of_keys
                    or name == KEYS
                    or (about_keys and name not in ("name", "field", "unit")),
                )
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [
                each
                if isinstance(each, int | float) or each is None
                else self.clean(each, of_keys=of_keys)
                for each in value
            ]
        return value

    def _named(self, text: str) -> str:
        """Replace each key by its name, so that different keys stay distinguishable."""
        return ",".join(
            self._keys[part.strip()] if part.strip() in self._keys else self._text(part)
            for part in text.split(",")
        )

    def _cleaned(self, text: str) -> str:
        if self._keys and all(part.strip() in self._keys for part in text.split(",")):
            return self._named(text)
        text = redaction.redact(text)
        if self._in_texts:
            text = self._in_texts.sub(lambda result: self._keys[result.group()], text)
        for pattern in PATTERNS:
            text = pattern.sub(redaction.REDACTED, text)
        return TOKEN.sub(self._unless_token, text) if len(text) >= 43 else text

    def _unless_token(self, match: re.Match[str]) -> str:
        known = encryption.token_hash(match.group()) in self._hashes
        return redaction.REDACTED if known else match.group()


def _stored_secrets() -> Iterator[str]:
    """Yield the stored secrets. Those that no key decrypts cannot have been used either."""
    stored = (
        *Target.objects.values_list("password", "client_key"),
        *SshLogin.objects.values_list("password", "key"),
        *Watch.objects.values_list("password", "key"),
        *Population.objects.values_list("key"),
        *Credential.objects.values_list("password", "token", "certificate", "key"),
        *Channel.objects.values_list("address", "secret", "former_secret"),
        *(row.values() for row in Program.objects.values_list("secrets", flat=True)),
    )
    for row in stored:
        for each in filter(None, row):
            try:
                yield encryption.decrypt(each)
            except encryption.SecretUnreadable:
                continue


def _activation_keys(campaigns: Iterable[Campaign]) -> dict[str, str]:
    """Return the names of activation keys, the longest key first, since one may begin with another."""
    written: list[str] = []
    for campaign in campaigns:
        levels = campaign.factors.filter(name=KEYS).values_list("levels__value", flat=True)
        written += [str(value) for value in (campaign.parameters.get(KEYS), *levels) if value]
    names = dict.fromkeys(
        part.strip() for text in written for part in text.split(",") if part.strip()
    )
    named = {key: f"[activation key {number}]" for number, key in enumerate(names, 1)}
    return dict(sorted(named.items(), key=lambda each: -len(each[0])))
