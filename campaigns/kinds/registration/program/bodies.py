"""The bodies of a registering host's requests: its facts, its packages, and its report to Foreman. Pure."""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid5

from campaigns.kit.mappings import JsonObject

HOSTS = UUID("5f3f6f0e-8f0a-5d0e-9a53-2b1c1b0d7a11")
"""The namespace of the hosts' DMI uuids: unique for each host, the same at each attempt."""
PRODUCT = {"productId": "479", "productName": "AlmaLinux", "version": "9.4", "arch": "x86_64"}
NAMES = """
acl audit authselect basesystem bash bind binutils bzip2 ca-certificates chrony coreutils dracut
cronie cryptsetup curl cyrus-sasl dbus device-mapper diffutils dnf e2fsprogs elfutils ethtool
expat file filesystem findutils firewalld freetype fuse gawk gdbm gettext glib2 glibc gmp gnupg2
gnutls gpgme grep grub2 gzip hwdata iproute iptables jansson json-c kbd kernel kmod krb5 less
libarchive libcap libcurl libdnf libgcrypt libnl3 libpwquality librepo libseccomp libselinux
libsolv libssh libxml2 linux-firmware logrotate lua lvm2 lz4 mpfr ncurses nettle NetworkManager
nftables nss numactl openldap openssh openssl p11-kit pam parted passwd pcre2 pciutils perl
policycoreutils polkit popt procps-ng python3 readline rpm rsyslog sed selinux-policy setup
shadow-utils sqlite sssd subscription-manager sudo systemd tar tpm2-tss tzdata unzip util-linux
vim which xfsprogs xz yum zlib zstd
"""
SOFTWARE = NAMES.split()
PARTS = (
    *("", "-libs", "-common", "-devel", "-doc"),
    *("-tools", "-plugins", "-client", "-minimal", "-data"),
)
FACTS: dict[str, str] = json.loads(Path(__file__).with_name("facts.json").read_bytes())
"""The facts that all virtual hosts share, those of a small virtual machine, as subscription-manager sends them."""


def dmi_uuid(name: str) -> str:
    """Return the DMI uuid of a host."""
    return str(uuid5(HOSTS, name)).upper()


def facts_of(name: str) -> dict[str, str]:
    """Return the facts of a host, as many and as long as those of a real one."""
    digest = sha256(name.encode()).digest()
    address = f"10.{digest[0]}.{digest[1]}.{digest[2] % 254 + 1}"
    mac = "52:54:00:" + ":".join(f"{byte:02x}" for byte in digest[3:6])
    machine = dmi_uuid(name)
    return {
        "system.certificate_version": "3.2",
        "uname.nodename": name,
        "network.hostname": name,
        "network.fqdn": name,
        "network.ipv4_address": address,
        "network.ipv6_address": "::1",
        "dmi.system.uuid": machine,
        "insights_id": str(uuid5(HOSTS, f"insights {name}")),
        "net.interface.eth0.mac_address": mac,
        "net.interface.eth0.permanent_mac_address": mac,
        "net.interface.eth0.ipv4_address": address,
        "net.interface.eth0.ipv4_address_list": address,
        "net.interface.eth0.ipv6_address.link": f"fe80::5054:ff:{digest[3]:x}:{digest[4]:x}",
        "dmi.meta.cpu_socket_count": "1",
        "virt.uuid": machine,
        **FACTS,
    }


def consumer(name: str) -> bytes:
    """Return the body by which a client creates a consumer for a host."""
    return _json(
        {
            "type": "system",
            "name": name,
            "facts": facts_of(name),
            "installedProducts": [PRODUCT],
            "contentTags": [],
            "role": "",
            "addOns": [],
            "usage": "",
            "serviceLevel": "",
        }
    )


@cache
def profile(packages: int, organization: str) -> bytes:
    """Return the body with a host's packages, repositories and modules."""
    return _json(
        [
            {"content_type": "rpm", "profile": [_package(number) for number in range(packages)]},
            {
                "content_type": "enabled_repos",
                "profile": [
                    {
                        "repositoryid": f"{organization}_Bench_repo",
                        "baseurl": [
                            f"https://localhost/pulp/content/{organization}/Library/custom/Bench/repo"
                        ],
                    }
                ],
            },
            {
                "content_type": "modulemd",
                "profile": [
                    {
                        "name": "nodejs",
                        "stream": "18",
                        "version": "9020020230327152102",
                        "context": "rhel9",
                        "arch": "x86_64",
                        "profiles": [],
                        "installed_profiles": [],
                        "status": "enabled",
                    }
                ],
            },
        ]
    )


def package_list(packages: int) -> bytes:
    """Return the body with the packages alone, for a server without combined profiles."""
    return _json([_package(number) for number in range(packages)])


def _package(number: int) -> JsonObject:
    """Return a package of a host, always the same for a number."""
    turn, place = divmod(number, len(SOFTWARE) * len(PARTS))
    part, software = divmod(place, len(SOFTWARE))
    more = f"{turn}" if turn else ""
    digest = sha256(SOFTWARE[software].encode()).digest()
    return {
        "name": f"{SOFTWARE[software]}{more}{PARTS[part]}",
        "version": f"{digest[0] % 9}.{digest[1] % 40}.{digest[2] % 20}",
        "release": f"{digest[3] % 60 + 1}.el9_4",
        "arch": "noarch" if digest[4] < 40 else "x86_64",
        "epoch": 0,
        "vendor": "AlmaLinux",
    }


def registered(uuid: str, organization_id: int, location_id: int | None) -> bytes:
    """Return the body that Foreman's script posts once the host has its subscription."""
    place = {"host[location_id]": str(location_id)} if location_id else {}
    fields = {
        "uuid": uuid,
        "host[build]": "false",
        "host[organization_id]": str(organization_id),
        **place,
        "setup_insights": "false",
        "setup_remote_execution": "true",
    }
    return urlencode(fields, safe="[]").encode()


def _json(data: Any) -> bytes:
    return json.dumps(data).encode()
