"""Pages of the reference, written anew for each build: one for each class, function and module.

Methods that many classes share are described once, on a page of their own.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

from sphinx.ext.autodoc.mock import mock

import onlinesvm

# What is shown under which heading; a test compares this with what the package exports.
CLASSES = {
    "Kernel SVMs, optimal after each call": """RampSVC IncrementalSVC PokerSVC PokerSVR
        PokerOneClassSVM OfflineRampSVC SmoSVC""",
    "Kernel SVMs in one pass": "LASVC HullerSVC StreamSVC CoreVectorSVC",
    "Kernel methods in bounded memory": """BudgetedSVC BudgetedRampSVC BudgetedSVR
        ForgetronClassifier ProjectronClassifier IndependentSVC IndependentSVR
        MultiKernelClassifier MultiKernelRegressor NormaSVC NormaSVR NormaOneClassSVM""",
    "Retrained on chunks": "FixedPartitionSVC ErrorDrivenSVC ForgettingSVC",
    "Linear or kernel, one step per row": """SGDSVC PegasosSVC PassiveAggressiveClassifier
        PassiveAggressiveRegressor PassiveAggressiveOneClass KernelPerceptron RommaClassifier
        AlmaClassifier MiraClassifier WinnowClassifier ConfidenceWeightedClassifier
        GradientDescentClassifier GradientDescentRegressor ExponentiatedGradientClassifier
        ExponentiatedGradientRegressor""",
    "Preparation": """OnlinePipeline make_online_pipeline OnlineColumns OnlineScaler OnlineImputer
        OnlineOneHot OnlineOrdinal OnlineHashing OnlineDates OnlineText NystroemFeatures
        FourierFeatures""",
    "Probabilities, sets and drift": """CalibratedOnline FullConformalSVC FullConformalSVR
        FullConformalOneClassSVM DriftAware""",
    "Labels, keys and files": "LabelDesk ModelBank load verify",
}
MODULES = {
    "Policies": "queries forgetting label_budgets",
    "Evaluation": """stream stream.metrics stream.baselines stream.drift stream.prequential
        stream.sources stream.run report tune value label_issues""",
    "Active learning": "compose.labelling compose.labelling.skactiveml",
    "Other libraries": "interop.river interop.onnx interop.skops",
    "Many machines": """cluster cluster.dask cluster.ray cluster.spark.estimator
        cluster.spark.predicting cluster.spark.streaming cluster.spark.parts cluster.spark.rows
        cluster.spark.local""",
    "Data sets and checks": "datasets checks compose.drift",
}
NOT_NEEDED = ["pyspark", "ray", "dask", "distributed"]  # to describe what imports them
REQUESTED = ["fit", "partial_fit", "predict", "predict_proba", "score", "transform"]
REQUEST = re.compile(r"set_\w+_request|get_metadata_routing")


def names(groups: dict[str, str]) -> list[str]:
    return [name for group in groups.values() for name in group.split()]


def methods(cls: type) -> dict[str, type]:
    """The public methods of a class, each with the class that defines it.

    What scikit-learn brings is described there.
    """
    found = {}
    for name in dir(cls):
        if name.startswith("_") or not callable(getattr(cls, name, None)):
            continue
        base = next(base for base in cls.__mro__ if name in vars(base))
        if not base.__module__.startswith("sklearn.") and not REQUEST.fullmatch(name):
            found[name] = base
    return found


@cache
def shared() -> dict[str, type]:
    """Methods that at least four classes have, each with one class that shows it."""
    classes = [cls for cls in map(vars(onlinesvm).get, names(CLASSES)) if inspect.isclass(cls)]
    counts = Counter(name for cls in classes for name in methods(cls))
    often = {name for name, count in counts.items() if count >= 4}
    return {name: max(classes, key=lambda cls: inherits(cls, name)) for name in often}


def inherits(cls: type, name: str) -> bool:
    return methods(cls).get(name, cls) is not cls


def heading(title: str, line: str = "=") -> str:
    return f"{title}\n{line * len(title)}\n\n"


def titles(docs: Path, folders: tuple[str, ...]) -> dict[str, str]:
    """The pages of some folders, each with its text."""
    pages = (page for folder in folders for page in sorted((docs / folder).glob("*.md")))
    return {page.relative_to(docs).with_suffix("").as_posix(): page.read_text() for page in pages}


def class_page(cls: type, pages: dict[str, str]) -> str:
    name = cls.__name__
    own = [
        m
        for m, base in methods(cls).items()
        if m not in shared() or (base is cls and shared()[m] is not cls)
    ]
    common = [m for m in methods(cls) if m in shared() and m not in own]
    text = heading(name) + f".. currentmodule:: onlinesvm\n\n.. autoclass:: {name}\n\n"
    if common:
        links = ", ".join(f":ref:`{m}() <verb-{m}>`" for m in common)
        text += f".. rubric:: Methods shared with other classes\n\n{links}\n\n"
    if own:
        text += ".. rubric:: Methods of its own\n\n"
        text += "".join(f".. automethod:: {name}.{m}\n\n" for m in own)
    return text + see_also(name, cls.__module__.rpartition(".")[2], pages) + examples(name)


def function_page(function, pages: dict[str, str]) -> str:
    name = function.__name__
    text = heading(name) + f".. autofunction:: onlinesvm.{name}\n\n"
    return text + see_also(name, "", pages)


def see_also(name: str, stem: str, pages: dict[str, str]) -> str:
    stem = {"offline_ramp": "ramp"}.get(stem, stem)
    links = [f"* How it works: :doc:`/papers/{stem}`\n"] if f"papers/{stem}" in pages else []
    links += [
        f"* Guide: :doc:`/{page}`\n"
        for page, text in pages.items()
        if not page.startswith("papers/") and re.search(rf"\b{name}\b", text)
    ]
    return ".. rubric:: See also\n\n" + "".join(links) + "\n" if links else ""


def examples(name: str) -> str:
    return f".. minigallery:: onlinesvm.{name}\n   :add-heading: Examples\n\n"


def module_page(name: str, described: set[int]) -> str:
    """What a module brings, but for what another page describes already."""
    full = f"onlinesvm.{name}"
    module = import_module(full)
    text = heading(full) + f".. automodule:: {full}\n\n"
    public = getattr(module, "__all__", None) or [
        key
        for key, thing in vars(module).items()
        if not key.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and (thing.__module__ or "").startswith(full)
    ]
    for key in public:
        thing = getattr(module, key)
        if id(thing) in described:
            continue
        described.add(id(thing))
        if inspect.isclass(thing):
            text += f".. autoclass:: {full}.{key}\n   :members:\n"
            requests = ", ".join(f"set_{verb}_request" for verb in REQUESTED)
            text += f"   :exclude-members: get_metadata_routing, {requests}\n\n"
        elif callable(thing):
            text += f".. autofunction:: {full}.{key}\n\n"
    return text


def verbs_page() -> str:
    text = heading("Methods that classes share")
    text += "What a method cannot do raises ``NotImplementedError`` with a sentence that names a\n"
    text += "class that can. :ref:`can() <verb-can>` asks beforehand.\n\n"
    for name, cls in sorted(shared().items()):
        text += f".. _verb-{name}:\n\n{heading(name, '-')}"
        text += f".. automethod:: onlinesvm.{cls.__name__}.{name}\n\n"
    return text


def table(lines: list[tuple[str, str]]) -> str:
    rows = "".join(f"   * - {link}\n     - {what}\n" for link, what in lines)
    return f".. list-table::\n   :widths: 35 65\n\n{rows}\n"


def summary(thing: object) -> str:
    first = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return re.sub(r"`+", "``", " ".join(re.sub(r":\w+:`~?([^`]+)`", r"\1", first).split()))


def index_page() -> str:
    text = heading("API reference")
    text += "Import from the top: ``from onlinesvm import RampSVC``. All estimators follow\n"
    text += "scikit-learn's conventions. :doc:`verbs` describes the methods that they share.\n\n"
    for title, group in CLASSES.items():
        lines = [(f":doc:`{n} <{n}>`", summary(getattr(onlinesvm, n))) for n in group.split()]
        text += heading(title, "-") + table(lines)
    for title, group in MODULES.items():
        lines = [
            (f":doc:`onlinesvm.{n} <{n}>`", summary(import_module(f"onlinesvm.{n}")))
            for n in group.split()
        ]
        text += heading(title, "-") + table(lines)
    for title, group in {"Methods": "verbs", **CLASSES, **MODULES}.items():
        listed = "".join(f"   {page}\n" for page in group.split())
        text += f".. toctree::\n   :hidden:\n   :caption: {title}\n\n{listed}\n"
    return text


def write(app) -> None:
    with mock(NOT_NEEDED):
        write_pages(Path(app.srcdir))


def write_pages(docs: Path) -> None:
    pages = titles(docs, ("start", "how-to", "papers"))
    texts = {"index": index_page(), "verbs": verbs_page()}
    for name in names(CLASSES):
        thing = getattr(onlinesvm, name)
        texts[name] = (class_page if inspect.isclass(thing) else function_page)(thing, pages)
    described = {id(getattr(onlinesvm, name)) for name in names(CLASSES)}
    deepest_first = sorted(names(MODULES), key=lambda name: -name.count("."))
    texts |= {name: module_page(name, described) for name in deepest_first}
    (docs / "api" / "examples").mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        page = docs / "api" / f"{name}.rst"
        if not page.exists() or page.read_text() != text:  # what is as it was is not built again
            page.write_text(text)


def setup(app) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True}
