"""Consumers as Candlepin and Katello describe them."""

import json
from datetime import datetime
from typing import Any

from sandbox.katello.access_certificates import Access
from sandbox.katello.authority import Certificate
from sandbox.katello.consumers import ActivationKey, Consumer, Organization

CANDLEPIN = "4.4.25"
CAPABILITIES = (
    "instance_multiplier", "derived_product", "vcpu", "cert_v3", "hypervisors_heartbeat",
    "remove_by_pool_id", "syspurpose", "storage_band", "cores", "multi_environment",
    "hypervisors_async", "org_level_content_access", "typed_environments", "guest_limit", "ram",
    "batch_bind",
)  # fmt: skip
_RELS = {
    "consumers": "/consumers",
    "status": "/status",
    "packages": "/consumers/:id/packages/",
    "environments": "/owners/:organization_id/environments",
    "owners": "/owners/:organization_id",
    "content_overrides": "/consumers/:id/content_overrides",
    "guestids": "/consumers/:id/guestids",
    "deleted_consumers": "/deleted_consumers",
    "release": "/consumers/:id/release",
    "compliance": "/consumers/:id/compliance",
}


def written(at: datetime) -> str:
    """Write an instant as Candlepin does."""
    return at.strftime("%Y-%m-%dT%H:%M:%S+0000")


def root(prefix: str, *, katello: bool) -> list[dict[str, str]]:
    """Tell what there is below a prefix such as /rhsm; a Candlepin alone takes no packages."""
    return [
        {"rel": rel, "href": f"{prefix}{path}"}
        for rel, path in _RELS.items()
        if katello or rel != "packages"
    ]


def status(now: datetime, mode: str, *extra: str) -> dict[str, Any]:
    """Tell how Candlepin is."""
    normal = mode == "NORMAL"
    return {
        "mode": mode,
        "modeReason": None if normal else "QPID_DOWN",
        "modeChangeTime": None if normal else written(now),
        "result": normal,
        "version": CANDLEPIN,
        "release": "1.simulated",
        "standalone": True,
        "timeUTC": written(now),
        "rulesSource": "default",
        "rulesVersion": "5.44",
        "managerCapabilities": [*CAPABILITIES, *extra],
        "keycloakRealm": None,
        "keycloakAuthUrl": None,
        "keycloakResource": None,
    }


def owner(organization: Organization) -> dict[str, Any]:
    """Tell of an organization."""
    return {
        "id": organization.key,
        "key": organization.label,
        "displayName": organization.label,
        "href": f"/owners/{organization.label}",
        "contentAccessMode": "org_environment",
    }


def environments(organization: Organization) -> list[dict[str, Any]]:
    """List the environments of an organization."""
    name = "Library"
    return [
        {
            "id": f"envlib{organization.pk:04}",
            "name": name,
            "display_name": name,
            "description": None,
        }
    ]


def serial(certificate: Certificate) -> dict[str, Any]:
    """Tell of a serial, with what is known of it."""
    return {
        "id": certificate.serial,
        "serial": certificate.serial,
        "expiration": written(certificate.expires),
        "revoked": False,
    }


def consumer(
    consumer: Consumer, organization: Organization, keys: dict[str, ActivationKey]
) -> dict[str, Any]:
    """Tell of a consumer, with its key and its certificate."""
    return {
        "id": consumer.uuid.replace("-", ""),
        "uuid": consumer.uuid,
        "name": consumer.name,
        "username": None,
        "entitlementStatus": "disabled",
        "registrationAuthenticationMethod": "ActivationKey",
        **{name: value for name, value in consumer.told.items() if name != "contentTags"},
        "contentTags": consumer.told["contentTags"],
        "releaseVer": {"releaseVer": None},
        "owner": owner(organization),
        "environments": [{"id": f"envlib{organization.pk:04}", "name": "Library"}],
        "environment": {"id": f"envlib{organization.pk:04}", "name": "Library"},
        "entitlementCount": 0,
        "facts": json.loads(consumer.facts),
        "lastCheckin": written(consumer.check_in) if consumer.check_in else None,
        "installedProducts": consumer.installed_products,
        "canActivate": False,
        "capabilities": [],
        "hypervisorId": None,
        "contentAccessMode": None,
        "type": {"id": "1000", "label": "system", "manifest": False},
        "idCert": {
            "key": consumer.identity.key_pem,
            "cert": consumer.identity.pem,
            "serial": serial(consumer.identity),
        },
        "guestIds": [],
        "activationKeys": [
            {"activationKeyName": name, "activationKeyId": f"{keys[name].pk:032x}"}
            for name in consumer.activation_keys
            if name in keys
        ],
        "href": f"/consumers/{consumer.uuid}",
        "created": written(consumer.created),
        "updated": written(consumer.updated),
    }


def serials(access: Access) -> list[dict[str, Any]]:
    """List the serial of the certificate of content."""
    nothing = dict.fromkeys(("created", "updated", "id"))
    return [nothing | {"serial": access.serial, "expiration": None, "revoked": False}]


def certificates(access: Access) -> list[dict[str, Any]]:
    """Give the certificate of content: three blocks of PEM in one text."""
    certificate = access.certificate
    return [
        {
            "id": f"{certificate.serial:032x}",
            "key": certificate.key_pem,
            "cert": certificate.pem + access.data,
            "serial": serial(certificate),
        }
    ]


def listing(access: Access, updated: datetime) -> dict[str, Any]:
    """Give the content that a host may have."""
    blocks = [access.certificate.pem, access.data]
    return {
        "lastUpdate": written(updated),
        "contentListing": {str(access.serial): blocks},
    }


def compliance(now: datetime) -> dict[str, Any]:
    """Tell that subscriptions are not looked at."""
    return {
        "status": "disabled",
        "compliant": True,
        "date": written(now),
        "compliantUntil": None,
        "compliantProducts": {},
        "partiallyCompliantProducts": {},
        "partialStacks": {},
        "nonCompliantProducts": [],
        "reasons": [],
        "productComplianceDateRanges": {},
    }


def purpose_compliance(now: datetime) -> dict[str, Any]:
    """Tell that the purpose of a system is not looked at."""
    purposes = ("Role", "Usage", "SLA", "ServiceType")
    return {
        "status": "disabled",
        "compliant": True,
        "date": written(now),
        "nonCompliantAddOns": [],
        "compliantAddOns": {},
        "reasons": [],
        **{f"nonCompliant{purpose}": None for purpose in purposes},
        **{f"compliant{purpose}": {} for purpose in purposes},
    }
