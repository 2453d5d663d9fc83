"""The login of the remotes: a credential of the team, as fields of Pulp.

Pulp keeps `client_key`, `username` and `password` encrypted, and never shows them; `headers`, in which a token is sent, it shows to
whoever may see the remote. So remotes with a login are deleted when the attempt ends.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from campaigns.kinds.base import Context, Credential, EffectiveSetting, Parameters, Target
from campaigns.kinds.base.feed import ask_feed
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.sync.form import feeds_of, feeds_read
from campaigns.kit.http.errors import Answered
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.network import Rules

NAME = "credential"
OF_A_LOGIN = ("client_cert", "client_key", "ca_cert", "username", "password", "headers")
SHOWN = ("client_cert", "ca_cert", "headers")
"""Fields that Pulp shows as they were sent; of the others it says whether they are set."""
OF_LOGINS = frozenset({"feed refuses", "feed 4xx", "feed unreachable"})
"""Classes of failed syncs that a login may be the reason of."""


def credential_in(target: Target, parameters: Parameters) -> Credential | None:
    """Return the credential that the remotes sign in by; None without one. Raise CredentialRefused."""
    name = parameters.get(NAME)
    return (
        target.credential_of(str(name), [*feeds_of(parameters), target.base_url]) if name else None
    )


def fields_of(credential: Credential | None) -> JsonObject:
    """Return the fields of a remote that signs in by a credential."""
    if credential is None:
        return {}
    fields = {
        "client_cert": credential.certificate,
        "client_key": credential.key,
        "ca_cert": credential.ca,
        "username": credential.username,
        "password": credential.password,
        "headers": [credential.headers] if credential.token else [],
    }
    return {name: value for name, value in fields.items() if value}


def read_back(credential: Credential | None, remotes: Sequence[Json]) -> Iterator[EffectiveSetting]:
    """Yield which fields of the credential are set in Pulp, by name alone."""
    if credential is None:
        return
    sent = fields_of(credential)
    lacking = sorted(
        {name for remote in remotes for name in sent if not _is_set(remote, name, sent)}
    )
    set_ = [name for name in sent if name not in lacking]
    why = f"Pulp does not have {', '.join(lacking)} as it was sent." if lacking else ""
    yield EffectiveSetting(NAME, ", ".join(sent), ", ".join(set_) or "nothing", not lacking, why)


def _is_set(remote: Json, name: str, sent: Json) -> bool:
    if name in SHOWN:
        shown = remote.get(name)
        return bool(shown == sent[name] or _words(shown) == _words(sent[name]))
    hidden = {each.get("name"): each.get("is_set") for each in remote.get("hidden_fields") or ()}
    return bool(hidden.get(name, True))  # an older Pulp does not say


def _words(value: object) -> list[str]:
    """Return the words of a text, which Pulp may store with other line ends."""
    return str(value).split()


def require_taken(
    classes: Collection[str],
    target: Target,
    parameters: Parameters,
    rules: Rules,
) -> None:
    """Raise CredentialRefused where syncs failed because the feeds do not take the credential, or it has ended meanwhile."""
    if not OF_LOGINS.intersection(classes):
        return
    credential = credential_in(target, parameters)
    if credential is None:
        return
    for url in feeds_read(parameters):
        ask_feed(url, parameters["content"], rules, credential)


def delete_logins(pulp: Pulp, target: Target, context: Context) -> None:
    """Have the remotes of an attempt deleted, so that its login does not stay in Pulp until the next run."""
    attempt = context.sender.rpartition("/")[2]
    for remote in list(pulp.list("remotes/", name__startswith=f"{own_prefix(target)}{attempt}-")):
        with suppress(Answered):  # it is gone already, or the next reset deletes it
            pulp.start("DELETE", remote["pulp_href"])
