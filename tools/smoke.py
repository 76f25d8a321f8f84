"""Is what pip installed whole? Needs nothing but the package, and is run outside of any checkout.

    python smoke.py [FOLDER]

Every module imports, what the README shows runs, the command is there and well, and no model
changes by a bit on its way through a file. With a FOLDER, models are left there, and those that
were left by other Pythons are read and go on learning: to the same bits.
"""

from __future__ import annotations

import contextlib
import io
import pkgutil
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import metadata, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector

import onlinesvm
from onlinesvm import _core
from onlinesvm.datasets import make_checkerboard

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def demand(holds: bool, what: str) -> None:
    """Ends with one line where something does not hold."""
    if not holds:
        sys.exit(f"smoke: {what}")


def the_package_is_the_installed_one() -> str:
    home = Path(onlinesvm.__file__).resolve()
    demand(home.is_relative_to(Path(sys.prefix).resolve()), f"onlinesvm comes from {home}")
    demand(onlinesvm.__version__ == version("onlinesvm"), "the metadata is of another version")
    demand(not list(home.parent.glob("_probes*")), "the wheel carries the probes")
    return f"{onlinesvm.__version__}, core {Path(_core.__file__).name} on {_core.isa}"


def optional_packages() -> set[str]:
    """What the extras would install, as modules are named."""
    lines = [line for line in requires("onlinesvm") or () if "extra ==" in line]
    names = {re.match(r"[\w.-]+", line)[0] for line in lines}
    return {name.replace("-", "_") for name in names} | {"nats", "skactiveml", "confluent_kafka"}


def extra_package(error: ModuleNotFoundError, who: str) -> str:
    """What ``who`` lacks, if an extra would bring it."""
    missing = (error.name or "").partition(".")[0]
    demand(missing in optional_packages(), f"{who} needs {missing}, undeclared")
    return missing


def every_module_imports() -> str:
    modules = list(pkgutil.walk_packages(onlinesvm.__path__, "onlinesvm."))
    waiting = []
    for module in modules:
        if module.name == "onlinesvm.__main__":
            continue
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            waiting.append(f"{module.name} waits for {extra_package(error, module.name)}")
    return "; ".join([f"{len(modules)} modules", *waiting])


def the_readme_runs() -> str:
    """Its blocks of Python, taken from the metadata of the wheel."""
    blocks = re.findall(r"```python\n(.*?)```", str(metadata("onlinesvm").get_payload()), re.DOTALL)
    demand(bool(blocks), "the metadata has no README")
    shown = []
    for block in blocks:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            out = io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(block, "README.md", "exec"), {})
                shown.append(f"prints {out.getvalue().split()[0]}")
            except ModuleNotFoundError as error:
                shown.append(f"waits for {extra_package(error, 'README.md')}")
    return "; ".join(f"block {i} {what}" for i, what in enumerate(shown, 1))


def the_command_is_well() -> str:
    if sys.platform == "emscripten":
        return "not run: a browser starts no programs"
    program = shutil.which("onlinesvm", path=sysconfig.get_path("scripts"))
    demand(program is not None, "the command onlinesvm is missing")
    if find_spec("typer") is None:
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        demand(done.returncode == 2 and done.stderr.count("\n") == 1, f"it says {done.stderr}")
        return "waits for the extra cli"
    said = [
        subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
        for words in (["--version"], ["doctor"], ["methods"])
    ]
    demand(said[0].split() == ["onlinesvm", onlinesvm.__version__], f"--version says {said[0]}")
    return f"{said[0].strip()}; doctor ends well"


# ---- models through files ------------------------------------------------------------------------

X, LABELS = make_checkerboard(300, noise=0.1, random_state=0)
FIRST, REST = slice(200), slice(200, 300)


def students() -> Iterator[tuple[str, Any]]:
    """Every method under its defaults, as far as it goes on learning."""
    for cls in onlinesvm.all_estimators():
        if hasattr(cls, "partial_fit"):
            yield cls.__name__, cls()


def lesson(model: Any, part: slice) -> Any:
    """Detectors learn no target; labels are numbers, too."""
    if is_outlier_detector(model):
        return model.partial_fit(X[part])
    classes = {"classes": [-1, 1]} if is_classifier(model) else {}
    return model.partial_fit(X[part], LABELS[part], **classes)


def answers(model: Any) -> np.ndarray:
    """What a model says of all rows, in its finest terms."""
    say = getattr(model, "decision_function", model.predict)
    return np.ascontiguousarray(say(X), dtype=np.float64)


def models_survive_files(folder: Path) -> str:
    count = 0
    for name, model in students():
        path = folder / f"{name}-{HERE}.safetensors"
        lesson(model, FIRST).save(path)
        loaded = onlinesvm.load(path)
        same = np.array_equal(answers(loaded), answers(model))
        demand(same, f"{name} says something else when it is loaded")
        np.save(folder / f"{name}-{HERE}.npy", answers(lesson(model, REST)))
        count += 1
    return f"{count} methods"


def models_of_others_go_on(folder: Path) -> str:
    """Each goes on from where another Python stopped it, to where that one came itself."""
    of = set()
    for path in sorted(folder.glob("*.safetensors")):
        name = path.name.removesuffix(".safetensors")
        went_on = answers(lesson(onlinesvm.load(path), REST))
        demand(
            np.array_equal(went_on, np.load(folder / f"{name}.npy")), f"{name} goes on otherwise"
        )
        of.add(name.rpartition("-")[2])
    return f"those of Python {', '.join(sorted(of))}"


def main(folder: str = "") -> None:
    kept = Path(folder).resolve()
    with tempfile.TemporaryDirectory() as passing, contextlib.chdir(passing):
        models = kept if folder else Path(passing)
        print(f"Python {HERE}: {the_package_is_the_installed_one()}")
        print(f"  imports: {every_module_imports()}")
        print(f"  README: {the_readme_runs()}")
        print(f"  command: {the_command_is_well()}")
        print(f"  through files: {models_survive_files(models)}")
        print(f"  going on: {models_of_others_go_on(models)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
