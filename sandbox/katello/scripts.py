"""The shell scripts of Foreman's global registration, as far as registering needs them."""

import shlex
from collections.abc import Mapping
from urllib.parse import urlsplit

_REGISTRATION = """#!/bin/sh
# Registration of a host, from the simulated Katello.
if [ "$(id -u)" -ne 0 ]; then
  echo "ERROR: must be run as root"
  exit 1
fi
SSL_CA_CERT=$(mktemp)
trap 'rm -f "$SSL_CA_CERT"' EXIT
cat << 'EOF' > "$SSL_CA_CERT"
{ca}EOF

register_katello_host(){{
  UUID=$(subscription-manager identity | grep --only-matching '\\([[:xdigit:]]\\{{8\\}}\\(-[[:xdigit:]]\\{{4\\}}\\)\\{{3\\}}-[[:xdigit:]]\\{{12\\}}\\)')
  if [ -z "$UUID" ]; then
    echo 'ERROR: the host has no identity'
    exit 1
  fi
  curl --silent --show-error --cacert "$SSL_CA_CERT" --request POST {url} \\
       --header {token} \\
       --data "uuid=$UUID" \\
{data}
}}

echo "#"
echo "# Running registration"
echo "#"
cp "$SSL_CA_CERT" /etc/rhsm/ca/katello-server-ca.pem
subscription-manager config \\
  --server.hostname={hostname} --server.port={port} --server.prefix=/rhsm --server.insecure=0 \\
  --rhsm.repo_ca_cert=/etc/rhsm/ca/katello-server-ca.pem --rhsm.baseurl={content}
subscription-manager register --force --org={organization} --activationkey={keys} || {{
  echo 'ERROR: the registration with subscription-manager failed'
  exit 1
}}
register_katello_host | bash
"""
_HOST = """#!/bin/sh
# Initial configuration of {name}, from the simulated Katello.
echo "#"
echo "# Running [{name}] host initial configuration"
echo "#"
subscription-manager refresh || true
curl --silent --insecure {built}
subscription-manager facts --update || true
subscription-manager repos > /dev/null || true
echo "Host [{name}] successfully configured."
"""
_SENT = ("organization_id", "location_id", "hostgroup_id", "operatingsystem_id")


def registration(
    url: str, ca: str, token: str, organization: str, keys: str, query: Mapping[str, str]
) -> str:
    """Write the script that registers a host and then posts its uuid with this token."""
    address = urlsplit(url)
    sent = {"host[build]": "false"}
    sent |= {f"host[{name}]": query[name] for name in _SENT if query.get(name)}
    sent |= {name: value for name, value in query.items() if name.startswith("setup_")}
    lines = [f"       --data {shlex.quote(f'{name}={value}')}" for name, value in sent.items()]
    return _REGISTRATION.format(
        ca=ca,
        url=shlex.quote(f"{url}/register"),
        token=shlex.quote(f"Authorization: Bearer {token}"),
        data=" \\\n".join(lines),
        hostname=shlex.quote(address.hostname or ""),
        port=address.port or 443,
        content=shlex.quote(f"{url}/pulp/content/"),
        organization=shlex.quote(organization),
        keys=shlex.quote(keys),
    )


def host(url: str, name: str, token: str) -> str:
    """Write the script that configures a registered host."""
    return _HOST.format(name=name, built=shlex.quote(f"{url}/unattended/built?token={token}"))
