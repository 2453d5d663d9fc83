"""The fields of each kind of resource: what may be sent, and what is answered."""

from typing import Any

from sandbox.pulp import fields
from sandbox.pulp.fields import HIDDEN, Invalid, Rule, checked, related, unique
from sandbox.pulp.names import instant
from sandbox.pulp.store import Resource, Store

_KNOWN = ("file/file",)  # others have fields of their own, which are taken as they come
_TIMEOUTS = ("total_timeout", "connect_timeout", "sock_connect_timeout", "sock_read_timeout")
_RPM_REPOSITORY: dict[str, Any] = {
    "metadata_signing_service": None, "package_signing_service": None,
    "package_signing_fingerprint": None, "retain_package_versions": 0, "checksum_type": None,
    "metadata_checksum_type": None, "package_checksum_type": None, "sqlite_metadata": False,
    "repo_config": {}, "compression_type": None, "layout": None, "osv_config": None,
}  # fmt: skip
_RPM_PUBLICATION: dict[str, Any] = {
    "checksum_type": "sha256", "metadata_checksum_type": None, "package_checksum_type": None,
    "sqlite_metadata": False, "repo_config": {}, "compression_type": None,
    "layout": "nested_alphabetically",
}  # fmt: skip
_DEFAULTS: dict[str, dict[str, Any]] = {
    "remotes": {
        "name": None, "url": None, "pulp_labels": {}, "policy": "immediate", "hidden_fields": [],
        "ca_cert": None, "client_cert": None, "tls_validation": True, "proxy_url": None,
        "max_retries": None, **dict.fromkeys(_TIMEOUTS), "headers": None,
        "download_concurrency": None, "rate_limit": None,
    },
    "repositories": {
        "pulp_labels": {}, "name": None, "description": None, "retain_repo_versions": None,
        "retain_checkpoints": None, "remote": None, "autopublish": False,
    },
    "publications": {"repository_version": None, "repository": None, "checkpoint": False},
    "distributions": {
        "base_path": None, "content_guard": None, "content_guard_prn": None, "hidden": False,
        "pulp_labels": {}, "name": None, "repository": None, "repository_version": None,
        "publication": None, "checkpoint": False,
    },
}  # fmt: skip


def _remote_rules() -> dict[str, Rule]:
    return {
        "name": fields.text, "url": fields.url, "pulp_labels": fields.mapping,
        "policy": fields.choice(*fields.POLICIES), **dict.fromkeys(HIDDEN, fields.text),
        "ca_cert": fields.text, "client_cert": fields.text, "tls_validation": fields.boolean,
        "proxy_url": fields.text, "max_retries": fields.integer(),
        **dict.fromkeys(_TIMEOUTS, fields.seconds), "headers": fields.listing,
        "download_concurrency": fields.integer(1), "rate_limit": fields.integer(),
    }  # fmt: skip


def _rules(store: Store, kind: str, plugin: str) -> dict[str, Rule]:
    if kind == "remotes":
        rules = _remote_rules()
        if plugin.startswith("rpm/"):
            rules["url"] = fields.web_url
    elif kind == "repositories":
        rules = {
            "pulp_labels": fields.mapping, "name": fields.text, "description": fields.text,
            "retain_repo_versions": fields.integer(1), "retain_checkpoints": fields.integer(1),
            "remote": related(store, "remotes"), "autopublish": fields.boolean,
        }  # fmt: skip
    elif kind == "publications":
        rules = {
            "repository": related(store, "repositories"), "checkpoint": fields.boolean,
            "repository_version": fields.text,
        }  # fmt: skip
    else:
        rules = {
            "base_path": fields.text, "content_guard": fields.anything, "hidden": fields.boolean,
            "pulp_labels": fields.mapping, "name": fields.text, "checkpoint": fields.boolean,
            "repository": related(store, "repositories"),
            "publication": related(store, "publications"),
        }  # fmt: skip
    if plugin == "file/file" and kind in ("repositories", "publications"):
        rules["manifest"] = fields.text
    return rules


_REQUIRED = {
    "remotes": ("name", "url"),
    "repositories": ("name",),
    "publications": (),
    "distributions": ("base_path", "name"),
}
_NOT_IN_SHORT = {
    "remotes": (),
    "repositories": ("autopublish", "manifest", "last_sync_details", *_RPM_REPOSITORY),
    "publications": ("distributions", "manifest", "checkpoint", *_RPM_PUBLICATION),
    "distributions": (),
}
_NEVER_NULL = {"name", "url", "policy", "base_path", "hidden", "pulp_labels", "autopublish"}


def read(
    store: Store, kind: str, plugin: str, body: object, itself: Resource | None = None,
    *, partial: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Give the values of a request that makes or changes a resource. Raise Invalid."""
    rules = _rules(store, kind, plugin)
    values = checked(
        body,
        rules,
        required=() if partial else _REQUIRED[kind],
        nullable=frozenset(rules.keys() - _NEVER_NULL),
        more=plugin not in _KNOWN,
        others=unique(store, kind, itself, "base_path", "name"),
    )
    if kind == "publications" and not (values.get("repository") or "repository_version" in values):
        raise Invalid(
            {
                "non_field_errors": [
                    "Either the 'repository' or 'repository_version' need to be specified"
                ]
            }
        )
    return values


def document(store: Store, resource: Resource, content_origin: str) -> dict[str, Any]:
    """Write a resource as Pulp does: null where a default holds."""
    values = dict(resource.values)
    shown = _DEFAULTS[resource.kind] | {n: v for n, v in values.items() if n not in HIDDEN}
    written = {
        "pulp_href": resource.href,
        "prn": resource.prn,
        "pulp_created": instant(resource.created),
        "pulp_last_updated": instant(resource.updated),
        **shown,
    }
    if resource.kind == "remotes":
        written["hidden_fields"] = [
            {"name": name, "is_set": values.get(name) is not None} for name in HIDDEN
        ]
    elif resource.kind == "repositories":
        written |= {
            "versions_href": f"{resource.href}versions/",
            "latest_version_href": resource.version_href(resource.versions[-1].number),
        }
        if resource.plugin.startswith("rpm/"):
            written = _RPM_REPOSITORY | written
        else:
            written = {
                "manifest": "PULP_MANIFEST",
                "last_sync_details": resource.last_sync,
            } | written
    elif resource.kind == "publications":
        if resource.plugin.startswith("rpm/"):
            return _RPM_PUBLICATION | written
        written["distributions"] = [
            other.href
            for other in store.of("distributions")
            if other.values.get("publication") == resource.href
        ]
        written.setdefault("manifest", "PULP_MANIFEST")
    else:
        written["base_url"] = f"{content_origin}/pulp/content/{values['base_path']}/"
        written["no_content_change_since"] = instant(resource.updated)
    return written


def in_short(kind: str, written: dict[str, Any]) -> dict[str, Any]:
    """Give what a list of all types shows of a document."""
    return {name: value for name, value in written.items() if name not in _NOT_IN_SHORT[kind]}
