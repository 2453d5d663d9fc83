"""A database and a broker that belong to no perfdash."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

from e2e.conftest import ROOT

TELL = """
import json, os, sys
print(json.dumps({name: os.environ[name] for name in ("DATABASE_URL", "BROKER_URL")}), flush=True)
sys.stdin.read()
"""


@contextmanager
def embedded_servers():
    """Run both until the end of the block; give their addresses by variable."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "BROKER_URL")}
    with subprocess.Popen(
        [sys.executable, "-m", "perfdash.local", "run", sys.executable, "-c", TELL],
        cwd=ROOT,
        env=inherited,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        yield json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(timeout=60) == 0
