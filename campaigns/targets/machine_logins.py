"""What logins of a target's machine have in common, for commands and for watches: secrets, host key, address."""

from campaigns.kit import encryption, network
from campaigns.kit.errors import Invalid
from campaigns.kit.ssh.keys import fingerprint_of
from campaigns.models import SshLogin, Target, Watch
from campaigns.targets.forms import rule_to_confirm
from campaigns.targets.saving import rules_for

SECRETS = ("key", "password")


def require_secret(*secrets: str) -> None:
    """Raise Invalid unless there is a key or a password, given now or stored."""
    if not any(secrets):
        text = (
            "Give a private key or a password. A stored one does not go to another machine or user."
        )
        raise Invalid({"key": [text]})


def take_secrets(row: SshLogin | Watch, key: str, password: str) -> bool:
    """Encrypt new secrets into the row; the newer of key and password stays. Return whether any is new."""
    if key:
        row.key, row.password = encryption.encrypt(key.strip() + "\n"), ""
    if password:
        row.password = encryption.encrypt(password)
        row.key = row.key if key else ""
    return bool(key or password)


def require_shown(offered_key: str, fingerprint: str, how: str) -> str:
    """Return the fingerprint of the host key that was shown last. how: to see one. Raise Invalid unless it is that one."""
    shown = fingerprint_of(offered_key)
    if not shown:
        raise Invalid({"fingerprint": [f"The machine has shown no new key; {how} first."]})
    if fingerprint.strip() != shown:
        text = f"The machine has shown {shown}, not this one. Nothing was accepted."
        raise Invalid({"fingerprint": [text]})
    return shown


def confirmed_rule(
    target: Target, host: str, port: int, field: str, earlier: str, confirmed: bool, promise: str
) -> str:
    """Return the rule that the owner confirmed; an empty text where the other rules suffice. Raise Invalid.

    field: of the address; earlier: the rule confirmed before; promise: what is confirmed, such as “it is yours”.
    """
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    try:
        rule = rule_to_confirm(url, rules_for(target))
    except network.NetworkError as refusal:
        raise Invalid({field: [str(refusal)]}) from None
    if rule and not confirmed and rule != earlier:
        text = f"{host} port {port} is a loopback or private address. Confirm that {promise}."
        raise Invalid({"confirm_address": [text]})
    return rule
