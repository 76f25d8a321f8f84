"""What a figure was measured on: processor, caches, compiler, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "onlinesvm",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "river",
    "vowpalwabbit",
    "krls",
    "online-svr",
)


def describe() -> dict[str, Any]:
    """Everything a reader needs to judge, or to repeat, a measurement."""
    return {
        "machine": {
            "cpu": _cpu_model(),
            "cores": os.cpu_count(),
            "caches": _caches(),
            "memory_gib": _memory_gib(),
            "system": f"{platform.system()} {platform.machine()}",
            "load_average": _load(),
        },
        "isa": _core_fact("isa"),
        "compiler": _core_fact("compiler") or _first_line("c++", "--version"),
        "python": platform.python_version(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
        # A copy without its history can be told where it comes from.
        "commit": _first_line("git", "rev-parse", "HEAD") or os.environ.get("ONLINESVM_COMMIT"),
        "uncommitted_changes": bool(_first_line("git", "status", "--porcelain", "-uno")),
    }


def resident_mib() -> float:
    """Resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used so far; none, once it is gone."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    user, system = after_name[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _caches() -> dict[str, str]:
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = (
                (index / part).read_text().strip() for part in ("level", "type", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            caches[f"L{level}"] = size
    return caches


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def _load() -> list[float] | None:
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None


def _core_fact(name: str) -> str | None:
    try:
        from onlinesvm import _core
    except ImportError:
        return None
    fact = getattr(_core, name, None)
    return None if fact is None else str(fact)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _first_line(*command: str) -> str | None:
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.partition("\n")[0] or None
