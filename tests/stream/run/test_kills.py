"""Killed at any moment, or with forged files: slices of what the tools do by the thousand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from stream.sources.servers import nats_server, redis_server

ROOT = Path(__file__).parents[3]


def told_by(tool, *words):
    command = [sys.executable, ROOT / "tools" / tool, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_killed_at_calls_to_the_file_system():
    assert told_by("kill_runs.py", "--points", "--every", "23").endswith(" 0 findings")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_killed_while_examples_are_forgotten():
    assert told_by("kill_runs.py", "--unlearn", "--every", "5").endswith(" 0 findings")


@pytest.mark.slow
def test_killed_at_random_moments():
    assert told_by("kill_runs.py", "--kills", "24", "--seed", "3") == "24 kills, 0 findings"


@pytest.mark.slow
@pytest.mark.parametrize(("source", "server"), [("redis", redis_server), ("nats", nats_server)])
def test_killed_while_a_broker_is_read(tmp_path, source, server):
    with server(tmp_path):
        pass  # or the test is left out
    told = told_by("kill_runs.py", "--source", source, "--kills", "9", "--seed", "3")
    assert told == "9 kills, 0 findings"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_forged_checkpoints_and_logs():
    assert "finding" not in told_by("fuzz_runs.py", "--count", "800", "--seed", "2")
