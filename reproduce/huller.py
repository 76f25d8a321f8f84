"""Figures 5 and 6 of the Huller's paper: MNIST, each digit against the rest.

Figure 5 compares test error, training time and support vectors of the Huller after one and two
epochs, LIBSVM (scikit-learn's SVC), and the averaged perceptron after one and ten. Figure 6 makes
the kernel cache smaller. RBF gamma 0.005 as in the paper, on pixels / 255, hard margins, one
thread, processor time.

python -m reproduce huller                     everything: about an hour, most of it LIBSVM's
python -m reproduce huller --digits 0 1        these digits
python -m reproduce huller --measured          only tables and pictures of what has been measured
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from onlinesvm import HullerSVC, KernelPerceptron
from onlinesvm.datasets import fetch
from onlinesvm.report.style import CLASS_COLOURS, figure
from reproduce.journal import Journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMMA = 0.005
NEVER = 1e6  # C of LIBSVM's hard margin: its largest multiplier is some hundreds
RUNS = 3  # orders of the rows for the online methods
CACHE = 256  # MB
CACHES = (256, 128, 64)
CACHE_DIGITS = (0, 1)

Facts = dict[str, Any]


@dataclass(frozen=True)
class Digits:
    """MNIST with pixels in [0, 1]."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]

    @staticmethod
    def load() -> Digits:
        X, y, X_test, y_test = fetch("mnist")
        flat = [(x.reshape(len(x), -1) / np.float32(255)).astype(np.float32) for x in (X, X_test)]
        return Digits(flat[0], y, flat[1], y_test)

    def signs(self, digit: int, order: NDArray[np.intp]) -> NDArray[np.int64]:
        return np.where(self.y[order] == digit, 1, -1)

    def shuffled(self, run: int) -> NDArray[np.intp]:
        return np.random.default_rng(run).permutation(len(self.y))

    def error(self, digit: int, predict: Callable[..., Any]) -> Facts:
        """Test error in percent, and what predicting cost."""
        began = Clock()
        wrong = predict(self.X_test) != np.where(self.y_test == digit, 1, -1)
        return {"error_percent": 100.0 * float(np.mean(wrong)), **began.seconds("predict")}


class Clock:
    """Processor and wall time since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def seconds(self, what: str) -> Facts:
        cpu, wall = time.process_time() - self._cpu, time.perf_counter() - self._wall
        return {f"{what}_cpu_s": cpu, f"{what}_wall_s": wall}


# ---- one measurement each ------------------------------------------------------------------------


def libsvm(data: Digits, digit: int, cache: int) -> Facts:
    every = np.arange(len(data.y))
    X, y = data.X.astype(np.float64), data.signs(digit, every)
    clock = Clock()
    model = SVC(C=NEVER, gamma=GAMMA, cache_size=cache).fit(X, y)
    facts = clock.seconds("fit") | {
        "support_vectors": int(model.n_support_.sum()),
        "largest_alpha": float(np.abs(model.dual_coef_).max()),
    }
    return facts | (data.error(digit, model.predict) if cache == CACHE else {})


def huller(data: Digits, digit: int, cache: int, epochs: int, run: int) -> Facts:
    order = data.shuffled(run)
    X, y = data.X[order], data.signs(digit, order)
    model = HullerSVC(
        C=np.inf, gamma=GAMMA, cache_bytes=cache << 20, random_state=run, classes=[-1, 1]
    )
    clock = Clock()
    model.partial_fit(X, y)
    for epoch in range(1, epochs):  # the paper's epochs do not finish, as those of fit do
        again = np.random.default_rng([run, epoch]).permutation(len(y))
        model._core.learn_dense(X[again], (y[again] > 0) * 1.0, np.ones(len(y)), again)
    facts = clock.seconds("fit") | {"support_vectors": len(model.support_)}
    return facts | data.error(digit, model.predict)


def perceptron(data: Digits, digit: int, epochs: int) -> Facts:
    order = data.shuffled(0)
    X, y = data.X[order], data.signs(digit, order)
    model = KernelPerceptron(kernel="rbf", gamma=GAMMA, classes=[-1, 1])
    clock = Clock()
    for _ in range(epochs):
        model.partial_fit(X, y)
    distinct = np.unique(model.support_ % len(y))  # a later epoch gives a row another number
    facts = clock.seconds("fit") | {"support_vectors": len(distinct)}
    return facts | data.error(digit, model.predict)


# ---- all of them ---------------------------------------------------------------------------------


@dataclass
class Book:
    """Asks the journal for a measurement; where it may not run, what is missing is None."""

    journal: Journal
    data: Digits | None

    def page(self, name: str, run: Callable[[Digits], Facts]) -> Facts | None:
        if self.data is None and name not in self.journal:
            return None
        data = self.data
        return self.journal.measure(name, lambda: run(data) if data is not None else {})

    def libsvm(self, digit: int, cache: int) -> Facts | None:
        name = f"LIBSVM, cache {cache} MB, digit {digit}"
        return self.page(name, partial(libsvm, digit=digit, cache=cache))

    def huller(self, digit: int, cache: int, epochs: int) -> Facts | None:
        """The mean over the runs there are."""
        name = f"Huller x{epochs}, cache {cache} MB, digit {digit}"
        pages = []
        for run in range(RUNS):
            measure = partial(huller, digit=digit, cache=cache, epochs=epochs, run=run)
            pages.append(self.page(f"{name}, run {run}", measure))
        there = [page for page in pages if page is not None]
        return {key: float(np.mean([p[key] for p in there])) for key in there[0]} if there else None

    def perceptron(self, digit: int, epochs: int) -> Facts | None:
        name = f"averaged perceptron x{epochs}, digit {digit}"
        return self.page(name, partial(perceptron, digit=digit, epochs=epochs))


Ask = Callable[[int], Facts | None]  # by digit


def contestants(book: Book) -> dict[str, Ask]:
    """Of figure 5, the quick ones first."""
    return {
        "Huller x1": lambda digit: book.huller(digit, CACHE, 1),
        "Huller x2": lambda digit: book.huller(digit, CACHE, 2),
        "averaged perceptron x1": lambda digit: book.perceptron(digit, 1),
        "averaged perceptron x10": lambda digit: book.perceptron(digit, 10),
        "LIBSVM": lambda digit: book.libsvm(digit, CACHE),
    }


def with_cache(book: Book, cache: int) -> dict[str, Ask]:
    """Of figure 6."""
    return {
        "LIBSVM": lambda digit: book.libsvm(digit, cache),
        "Huller x1": lambda digit: book.huller(digit, cache, 1),
    }


# ---- the tables ----------------------------------------------------------------------------------


def table_5(book: Book) -> str:
    """Test error, training time and support vectors of everybody on each digit."""
    asks = contestants(book)
    lines = [f"| digit | {' | '.join(asks)} |", "|---" * (len(asks) + 1) + "|"]
    for digit in range(10):
        cells = [
            f"{found['error_percent']:.2f} % / {found['fit_cpu_s']:.1f} s "
            f"/ {found['support_vectors']:,.0f}"
            if (found := ask(digit))
            else ""
            for ask in asks.values()
        ]
        lines.append(f"| {digit} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_6(book: Book) -> str:
    """Training time by the size of the cache."""
    bars = [(name, digit) for digit in CACHE_DIGITS for name in with_cache(book, CACHE)]
    heads = [f"{name}, digit {digit}" for name, digit in bars]
    lines = [f"| cache | {' | '.join(heads)} |", "|---" * (len(bars) + 1) + "|"]
    for cache in CACHES:
        asks = with_cache(book, cache)
        found = [asks[name](digit) for name, digit in bars]
        cells = [f"{facts['fit_cpu_s']:.1f} s" if facts else "" for facts in found]
        lines.append(f"| {cache} MB | {' | '.join(cells)} |")
    return "\n".join(lines)


# ---- the pictures --------------------------------------------------------------------------------

LOOKS = {
    "Huller x1": ("#0072B2", "o"),
    "Huller x2": ("#56B4E9", "s"),
    "LIBSVM": ("#222222", "D"),
    "averaged perceptron x1": ("#E69F00", "^"),
    "averaged perceptron x10": ("#D55E00", "v"),
}


def draw_figure_5(book: Book) -> Figure:
    picture = figure(figsize=(11, 8.5))
    panels = picture.subplots(2, 2).ravel()
    asks = contestants(book)
    for shift, (name, (colour, marker)) in enumerate(LOOKS.items()):
        facts = {digit: found for digit in range(10) if (found := asks[name](digit))}
        at = np.array(list(facts)) + 0.12 * (shift - 2)
        error, cpu, size = (
            [one[key] for one in facts.values()]
            for key in ("error_percent", "fit_cpu_s", "support_vectors")
        )
        curves = ((at, error), (at, cpu), (at, size), (size, cpu))
        for panel, (x, y) in zip(panels, curves, strict=True):
            panel.plot(x, y, marker, color=colour, markersize=6, label=name)
    labels = ("test error, %", "training, CPU seconds", "support vectors", "training, CPU seconds")
    for panel, label in zip(panels, labels, strict=True):
        panel.set(xlabel="digit against the rest", ylabel=label, axisbelow=True)
        panel.grid(axis="y", color="#DDDDDD", linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[:3]:
        panel.set_xticks(range(10))
    for panel in (panels[0], panels[2]):
        panel.set_ylim(bottom=0)
    for panel in (panels[1], panels[3]):
        panel.set_yscale("log")
    panels[3].set_xlabel("support vectors")
    panels[3].set_xlim(left=0)
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return picture


def draw_figure_6(book: Book) -> Figure:
    """Bars of the full cache, and on top of them what each smaller cache costs more."""
    picture = figure(figsize=(5.6, 4.6))
    panel = picture.subplots()
    known = [digit for digit in CACHE_DIGITS if book.libsvm(digit, CACHES[1])]
    caches = [cache for cache in CACHES if all(book.libsvm(digit, cache) for digit in known)]
    bars = [(name, digit) for digit in known for name in with_cache(book, CACHE)]
    reached = np.zeros(len(bars))
    for cache, colour in zip(caches, CLASS_COLOURS, strict=False):
        found = [with_cache(book, cache)[name](digit) for name, digit in bars]
        cpu = np.array([0.0 if facts is None else facts["fit_cpu_s"] for facts in found])
        label = f"{cache} MB" if cache == CACHE else f"more with {cache} MB"
        more = np.maximum(cpu - reached, 0.0)
        panel.bar(range(len(bars)), more, 0.6, reached, color=colour, label=label)
        reached += more
    for place, seconds in enumerate(reached):
        panel.text(place, seconds, f"{seconds:.3g} s", ha="center", va="bottom")
    panel.set_xticks(range(len(bars)), [f"{name}\ndigit {digit}" for name, digit in bars])
    panel.set_ylabel("training, CPU seconds")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(title="kernel cache", frameon=False, reverse=True)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--digits", type=int, nargs="+", default=range(10), metavar="DIGIT")
    parser.add_argument("--measured", action="store_true", help="measure nothing, only draw")
    parser.add_argument("--afresh", action="store_true", help="forget what was measured")
    told = parser.parse_args()
    journal = Journal("huller", afresh=told.afresh)
    if not told.measured:
        book = Book(journal, Digits.load())
        for name, ask in contestants(book).items():
            for digit in told.digits:
                print(name, digit, ask(digit), flush=True)
        for cache in CACHES:
            for name, ask in with_cache(book, cache).items():
                for digit in CACHE_DIGITS:
                    print(name, cache, digit, ask(digit), flush=True)
    measured = Book(journal, None)
    text = f"{table_5(measured)}\n\n{table_6(measured)}"
    (journal.folder / "huller.md").write_text(text + "\n")
    print(text)
    print(journal.picture("figure_5", draw_figure_5(measured)))
    print(journal.picture("figure_6", draw_figure_6(measured)))


if __name__ == "__main__":
    main()
