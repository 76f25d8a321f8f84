"""Runs over standard input, killed and resumed: a real pipe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from doubles import outcome
from stream.sources.servers import messages

from onlinesvm.stream.run import read_run

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_standard_input_goes_on_where_it_was_cut(tmp_path):
    pytest.importorskip("pyarrow")
    lines = [m + "\n" for m in messages(6000)]
    program = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from doubles import LABELS, a_model
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.sources import open_source

folder, stop = sys.argv[1], int(sys.argv[2])
words = dict(target="y", format="jsonl")
if stop < 0:
    run = Run.resume(folder, open_source("-", schema=read_run(folder).schema, **words))
else:
    options = RunOptions(classes=LABELS, every=90)
    run = Run.begin(folder, open_source("-", **words), a_model(), options)
for moment in run.steps():
    if 0 <= stop <= moment.seen:
        print(run.arrived, flush=True)
        import os
        os._exit(9)
run.close()
"""

    def fed(folder, stop, start):
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder), str(stop)],
            input="".join(lines[start:]),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (0 if stop in (-1, 10**9) else 9), done.stderr[-2000:]
        return int(done.stdout or 0)

    fed(tmp_path / "whole", 10**9, 0)
    arrived = fed(tmp_path / "cut", 300, 0)
    assert 300 <= arrived < 6000
    fed(tmp_path / "cut", -1, arrived)
    assert outcome(tmp_path / "cut")[:2] == outcome(tmp_path / "whole")[:2]
    # Lines are counted from where the pipe was fed anew.
    cut, whole = (len(list(read_run(tmp_path / f).dead_letters())) for f in ("cut", "whole"))
    assert cut == whole == len([line for line in lines if line == "{\n"])
