"""How the watches of a target are reached, from their rows."""

from collections.abc import Sequence

from django.conf import settings

from campaigns.kit import encryption, network
from campaigns.kit.http.credentials import Tls
from campaigns.kit.ssh.access import SshAccess
from campaigns.models import Target, Watch
from campaigns.targets.saving import rules_for
from campaigns.targets.watches.base import Access, Group, Source
from campaigns.targets.watches.groups import default_groups, groups_from_json
from campaigns.targets.watches.registry import source_of


def watches_in_use(target: Target) -> list[Watch]:
    """Return the watches with which the runs on a target are observed."""
    return list(Watch.objects.filter(target=target, is_on=True))


def groups_of(target: Target) -> Sequence[Group]:
    """Return the groups of processes of a target: its own, else those of its family."""
    if target.process_groups is not None:
        return groups_from_json(target.process_groups)
    return default_groups(target.family)


def rules_of(watch: Watch) -> network.Rules:
    """Return the network rules of a watch: those of its target, and the one that its owner confirmed."""
    rules = rules_for(watch.target)
    if settings.OWNER_CONFIRMS and watch.confirmed_rule:
        rules = rules.allowing(watch.confirmed_rule)
    return rules


def access_of(watch: Watch) -> Access:
    """Return how a watch is reached, with decrypted secrets. Raise SecretUnreadable, UnknownSource."""
    source = source_of(watch.source)
    password = encryption.decrypt(watch.password)
    by_ssh = source.is_by_ssh(watch.address)
    return Access(
        address=watch.address,
        rules=rules_of(watch),
        step_seconds=watch.step_seconds,
        username=watch.username,
        password="" if by_ssh else password,
        ssh=_ssh(watch, source, password) if by_ssh else None,
        groups=groups_of(watch.target),
        options=dict(watch.options),
        tls=Tls(verify=watch.target.verify_tls, ca_bundle=watch.target.ca_bundle),
    )


def _ssh(watch: Watch, source: Source, password: str) -> SshAccess:
    host, port = source.host_and_port(watch.address)
    return SshAccess(
        host=host,
        port=port,
        username=watch.username,
        key=encryption.decrypt(watch.key),
        password=password,
        host_key=watch.host_key,
    )
