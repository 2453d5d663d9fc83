"""How workers reach a target's machine to set, reset and read back."""

from collections.abc import Iterable
from dataclasses import replace

from django.conf import settings

from campaigns.kinds.base import Target as TargetView
from campaigns.kit import encryption
from campaigns.kit.http.credentials import Login
from campaigns.kit.mappings import Settings
from campaigns.models import Setting, SshLogin, Target, TargetStep
from campaigns.targets.actions import Action, Endpoint, Role, Server, SshAccess, parse
from campaigns.targets.credentials.opening import knower
from campaigns.targets.saving import as_driver_sees_it, rules_for

SLACK_SECONDS = 30.0


def ssh_of(target: Target) -> SshLogin | None:
    """Return the login for commands; None where there is none."""
    return SshLogin.objects.filter(target=target).first()


def server_of(target: Target, sender: str = "perfdash") -> Server:
    """Return the target with decrypted secrets, for actions only. Raise SecretUnreadable."""
    seen = as_driver_sees_it(target)
    login = ssh_of(target)
    rules = rules_for(target)
    if login is not None and settings.OWNER_CONFIRMS and login.confirmed_rule:
        rules = rules.allowing(login.confirmed_rule)
    endpoint = Endpoint(seen.base_url, rules, Login(seen.username, seen.password), seen.tls, sender)
    return Server(endpoint, None if login is None else access_of(login))


def as_driver_reaches_it(
    target: Target, wanted: Settings | None = None, server: Server | None = None
) -> TargetView:
    """Return the target as a driver sees it, with the login of its machine. Raise SecretUnreadable."""
    server = server_of(target) if server is None else server
    return replace(as_driver_sees_it(target, wanted), ssh=server.ssh)


def as_known(target: Target) -> TargetView:
    """Return the target as its page shows it, without secrets, for what is known of it without asking it."""
    login = ssh_of(target)
    access = (
        None
        if login is None
        else SshAccess(login.host, login.port, login.username, host_key=login.host_key)
    )
    return TargetView(
        name=target.name,
        family=target.family,
        base_url=target.base_url,
        content_url=target.content_url,
        username=target.username,
        settings=dict(target.settings),
        dedicated=target.is_dedicated,
        hardware=target.hardware,
        ssh=access,
        unproved=tuple(proof["name"] for proof in target.proofs if not proof["ok"]),
        credential_of=knower(target.team_id),
    )


def access_of(login: SshLogin) -> SshAccess:
    """Return the login with decrypted secrets. Raise SecretUnreadable."""
    return SshAccess(
        host=login.host,
        port=login.port,
        username=login.username,
        key=encryption.decrypt(login.key),
        password=encryption.decrypt(login.password),
        host_key=login.host_key,
    )


def apply_of(setting: Setting) -> Action:
    """Return the action that sets a setting."""
    return parse(setting.apply, Role.APPLY)


def read_of(setting: Setting) -> Action:
    """Return the action that reads a setting back."""
    return parse(setting.read_back, Role.READ)


def seconds_to_set(settings_of_one: Iterable[Setting], target: Target) -> float:
    """Return the most seconds for reading the settings of a target, setting each, awaiting the target and reading again."""
    rows = TargetStep.objects.filter(target=target, purpose=TargetStep.Purpose.READY)
    ready = sum(action_of(step).seconds for step in rows)
    each = (apply_of(row).seconds + 2 * read_of(row).seconds + ready for row in settings_of_one)
    return sum(each) + SLACK_SECONDS


def action_of(step: TargetStep) -> Action:
    """Return the action of a step."""
    return parse(step.action, Role(step.purpose))
