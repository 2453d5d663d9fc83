"""Connect 1000 hosts, each with a certificate of its own, to nginx at one instant, and report the cost."""

import argparse
import datetime
import ipaddress
import os
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bench.generators.own import processor
from bench.generators.peers import find
from bench.generators.server import running_nginx
from campaigns.kinds.load.judging import judge
from campaigns.kinds.programs.program import run_program
from campaigns.kit import histogram, kernel
from campaigns.kit.network import parse_rules

GOAL_KB = 120.0
"""Memory of the generator for a connected host with a context of its own, at most; thousands of bytes."""
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
CONFIGURATION = """
worker_processes 1; daemon off; pid {place}/pid; error_log {place}/errors;
events {{ worker_connections 8192; multi_accept on; }}
http {{
  access_log off; client_body_temp_path {place}/body;
  client_header_timeout 600s; keepalive_timeout 600s;
  server {{
    listen 127.0.0.1:{port} ssl backlog=4096;
    ssl_certificate {place}/server.pem; ssl_certificate_key {place}/server.pem;
    ssl_client_certificate {place}/ca.pem; ssl_verify_client on;
    location / {{ return 200 "$ssl_client_s_dn"; }}
  }}
}}
"""


def main() -> int:
    """Measure and print."""
    options = arguments()
    kernel.raise_open_files()
    nginx = find("nginx") or find("/usr/sbin/nginx")
    if nginx is None:
        print("nginx was not found: apt-get install nginx-light.", file=sys.stderr)
        return 1
    print(f"{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    for bits in options.bits:
        measure(nginx, options, bits)
    return 0


def measure(nginx: str, options: argparse.Namespace, bits: int) -> None:
    """Run all hosts with one key of so many bits and a certificate each, as the simulated Candlepin has."""
    authority = Authority()
    key = rsa.generate_private_key(65537, bits)
    begun = perf_counter()
    certificates = [authority.signed(key, f"host-{n}") for n in range(options.hosts)]
    print(f"\nRSA-{bits}: {options.hosts} certificates signed in {perf_counter() - begun:.1f} s")
    with tempfile.TemporaryDirectory(prefix="perfdash-bench-") as directory:
        place = Path(directory)
        server_key = ec.generate_private_key(ec.SECP256R1())
        certificate = authority.signed(server_key, "server", "127.0.0.1")
        (place / "server.pem").write_text(pem(server_key) + certificate)
        (place / "ca.pem").write_text(authority.pem)
        with running_nginx(nginx, place, CONFIGURATION) as (port, _):
            for processes in options.processes:
                report(run(port, authority, pem(key), certificates, processes), processes)


def run(
    port: int, authority: "Authority", key: str, certificates: list[str], processes: int
) -> Any:
    """Let all hosts connect at one instant."""
    request = {
        "url": f"https://127.0.0.1:{port}/",
        "rules": parse_rules("127.0.0.1:*").to_json(),
        "schedule": {"hosts": len(certificates), "iterations": 1},
        "processes": processes,
        "timeout_seconds": 600.0,
        "tls_timeout_seconds": 600.0,
        "ca": authority.pem,
        "key": key,
        "certificates": certificates,
    }
    return run_program(
        "bench.generators.identified",
        request,
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        deadline_seconds=900.0,
    ).result


def report(result: Any, processes: int) -> None:
    """Print what it cost."""
    if result["failures"] or result["hosts_failed"]:
        raise SystemExit(f"Hosts failed: {result['host_failures']} {result['examples']}")
    hosts = result["hosts_done"]
    results = {}
    for name in ("connect", "tls_wait", "tls", "service", "host_response"):
        counts = histogram.counts_of(result["histograms"][name].encode())
        results[name] = [value / 1000 for value in counts.at([0.5, 0.99])]
    spent = result["spent"]
    if spent["contexts"]:  # of the first process alone, where there are several
        each = spent["contexts"]
        print(
            f"  contexts: {spent['cpu_seconds'] / each * 1000:.2f} ms CPU and "
            f"{spent['bytes'] / each / 1024:.0f} KiB each ({each:.0f} in a process)"
        )
        if processes == 1:
            memory = (result["peak_memory_bytes"] - spent["before"]) / each / 1000
            word = "reached" if memory <= GOAL_KB else "missed"
            print(
                f"  memory of the generator for a host that is connected: {memory:.0f} KB "
                f"(goal: at most {GOAL_KB:g}, {word})"
            )
    print(
        f"  {processes} process(es): {hosts} hosts in {result['seconds']:.2f} s, "
        f"{result['cpu_seconds'] / hosts * 1000:.2f} ms CPU a host, "
        f"{result['peak_memory_bytes'] / 2**20:.0f} MiB in all; "
        + "; ".join(
            f"{name} p50 {p50:.0f} p99 {p99:.0f} ms" for name, (p50, p99) in results.items()
        )
    )
    verdict = judge(result["figures"])
    print(f"  the generator: {verdict.word}. {' '.join(verdict.reasons)}")


class Authority:
    """Signs certificates."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.pem = self.signed(self.key, "authority")

    def signed(self, key: Key, name: str, address: str = "") -> str:
        """Give a certificate in PEM; `address`: of a server."""
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named("authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - DAY)
            .not_valid_after(NOW + DAY)
            .add_extension(x509.BasicConstraints(name == "authority", None), critical=True)
        )
        if address:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(names, critical=False)
        made = builder.sign(self.key, hashes.SHA256())
        return made.public_bytes(serialization.Encoding.PEM).decode()


def named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def pem(key: Key) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench identities", description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--processes", type=int, nargs="*", default=(1, 2))
    parser.add_argument("--bits", type=int, nargs="*", default=(2048, 4096), help="of RSA keys")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
