"""A short run of `script/bench chaos`: the long one is for a person who has ten minutes."""

import os
import subprocess
import sys

import pytest

from e2e.conftest import ROOT
from e2e.faults.conftest import SEED

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(600)]


def test_the_books_balance_after_a_while_of_chaos(tmp_path):
    log = tmp_path / "perfdash.log"
    options = ["--seconds", "30", "--runs", "40", "--seed", str(SEED), "--keep", str(log)]
    options += ["--patience", "240"]

    done = subprocess.run(
        [sys.executable, "bench/chaos.py", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )

    assert done.returncode == 0, f"{done.stdout}\n{log.read_text() if log.exists() else ''}"
    assert "The books balance" in done.stdout
