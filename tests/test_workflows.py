"""The workflows of GitHub say what the schema allows, and call only what is there."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
FLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yml"))}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def steps(flow):
    return [step for job in flow["jobs"].values() for step in job.get("steps", ())]


def commands(flow):
    return "\n".join(step.get("run", "") for step in steps(flow))


def test_there_are_three():
    assert set(FLOWS) == {"ci", "release", "wheels"}


def test_the_schema_allows_them():
    asked = [sys.executable, "-m", "check_jsonschema", "-o", "json"]
    asked += ["--builtin-schema", "vendor.github-workflows", *map(str, FOLDER.glob("*.yml"))]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["errors"] == []


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_what_is_called_is_there(flow):
    said = commands(flow)
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for call in re.findall(r"^make (.*)$", said, re.MULTILINE):
        assert set(call.split()) <= set(targets)
    files = re.findall(r"(?<![\w/])((?:tools|tests|src|\.ci)/[\w./-]+)", said)
    assert [file for file in files if not (ROOT / file).exists()] == []
    called = [job["uses"] for job in flow["jobs"].values() if "uses" in job]
    assert all((ROOT / path).exists() for path in called)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_nobody_may_more_than_he_must(flow):
    assert flow["permissions"] == {"contents": "read"}
    rights = {
        name: job["permissions"] for name, job in flow["jobs"].items() if "permissions" in job
    }
    assert rights == ({"publish": {"id-token": "write"}} if flow is FLOWS["release"] else {})
    assert "secrets." not in str(flow)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_nothing_hangs_for_ever(flow):
    assert all("timeout-minutes" in job for job in flow["jobs"].values() if "uses" not in job)


def test_only_a_tag_publishes():
    publishing = [name for name, flow in FLOWS.items() if "pypi-publish" in str(flow)]
    assert publishing == ["release"]
    assert FLOWS["release"][True] == {"push": {"tags": ["v*"]}}  # YAML takes "on" for true
    assert FLOWS["release"]["jobs"]["publish"]["needs"] == "wheels"
    assert FLOWS["release"]["jobs"]["wheels"]["needs"] == "version"


def test_linux_runs_all_of_ci():
    assert [s["run"] for s in FLOWS["ci"]["jobs"]["linux"]["steps"] if "run" in s] == [".ci/run"]


def test_every_python_that_is_promised_gets_its_wheel():
    promised = re.findall(r"Python :: 3\.(\d+)", str(PROJECT["project"]["classifiers"]))
    assert PROJECT["tool"]["cibuildwheel"]["build"] == [f"cp3{minor}-*" for minor in promised]
    assert PROJECT["project"]["requires-python"] == f">=3.{min(promised, key=int)}"
    assert PROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
