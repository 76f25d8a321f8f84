"""Check that no per-ISA object file defines a weak symbol.

The linker keeps one copy of a weak symbol. Were it the AVX-512 one, every other caller would run it
too, and crash on a machine without AVX-512. So the files of `cpp/isa` may define none.
"""

import subprocess
import sys
from pathlib import Path


def weak_symbols(object_file: Path) -> list[str]:
    """Names of the weak symbols that `object_file` defines, demangled."""
    lines = subprocess.run(
        ["nm", "--defined-only", "-C", str(object_file)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    fields = (line.split(maxsplit=2) for line in lines)
    return [name for _, kind, name in fields if kind in "VvWwu"]


def main(build: str) -> int:
    """Report every weak symbol under `build`; the exit status."""
    objects = sorted(Path(build).glob("**/isa_*.dir/**/*.o"))
    found = [(path, name) for path in objects for name in weak_symbols(path)]
    for path, name in found:
        print(f"{path}: weak symbol {name} (use an anonymous namespace, and no STL)")
    print(f"Symbols: {len(objects)} per-ISA objects, {len(found)} weak symbols.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
