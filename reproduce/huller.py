"""The Huller (Bordes & Bottou, ECML 2005), figures 5 and 6: MNIST, each digit against the rest.

The paper prints bars, not figures: what can be judged are the sentences about them. RBF with gamma
0.005 as in the paper, hard margins, one thread, processor time. Readings taken where it is silent:
pixels are divided by 255; LIBSVM (scikit-learn's SVC) has C = 1e6, which no multiplier comes near.

Rules, written down before the figures were measured by them. Huller: five orders of the training
rows, and within each five epochs; LIBSVM does not mind the order; the averaged perceptron has five
orders for one epoch and one order for ten. "Significant" is the exact McNemar test on the 10,000
test rows at five per cent, the median p of the five orders. "Matches" is within a tenth for support
vectors. "The SVM solution" is a squared distance of the hulls within one per cent of the least.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.svm import SVC

from onlinesvm import HullerSVC, KernelPerceptron
from onlinesvm.datasets import fetch
from onlinesvm.report.style import CLASS_COLOURS, figure
from reproduce.journal import Facts, Journal
from reproduce.paper import Paper, Shown, table
from reproduce.verdict import Verdict, Word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMMA = 0.005
NEVER = 1e6  # C of LIBSVM's hard margin: its largest multiplier is some hundreds
ORDERS = 5
EPOCHS = 5
CACHE = 256  # MB
CACHES = (256, 128, 64)
CACHE_DIGITS = (0, 1)
# LIBSVM's cheapest digits come first, so that a run cut short leaves whole digits behind.
DIGITS = (1, 0, 6, 7, 4, 5, 2, 3, 9, 8)


# ---- one measurement each ------------------------------------------------------------------------


@dataclass(frozen=True)
class Digit:
    """MNIST with pixels in [0, 1], one digit +1 and the others -1."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]

    @classmethod
    def of(cls, digit: int, rows: int) -> Digit:
        X, y, X_test, y_test = mnist()
        signs = (np.where(labels == digit, 1, -1) for labels in (y[:rows], y_test))
        return cls(X[:rows], next(signs), X_test, next(signs))

    def order(self, *seeds: int) -> NDArray[np.intp]:
        return np.random.default_rng(seeds).permutation(len(self.y))

    def judged(self, predict: Callable[..., Any]) -> Facts:
        wrong = np.flatnonzero(predict(self.X_test) != self.y_test)
        return {"error_percent": 100.0 * len(wrong) / len(self.y_test), "wrong": wrong.tolist()}


@cache
def mnist() -> tuple[Any, ...]:
    X, y, X_test, y_test = fetch("mnist")
    flat = [(x.reshape(len(x), -1) / np.float32(255)).astype(np.float32) for x in (X, X_test)]
    return flat[0], y, flat[1], y_test


def libsvm(digit: int, cache_mb: int, rows: int) -> Facts:
    data = Digit.of(digit, rows)
    X = data.X.astype(np.float64)
    began = time.process_time()
    model = SVC(C=NEVER, gamma=GAMMA, cache_size=cache_mb).fit(X, data.y)
    alpha = np.abs(model.dual_coef_)
    return {
        "fit_s": time.process_time() - began,
        "support_vectors": int(model.n_support_.sum()),
        "largest_alpha": float(alpha.max()),
        "N2": 4 / float(alpha.sum()),  # |w|^2 is the sum of alpha, and 4 / N2
        **data.judged(model.predict),
    }


def huller(digit: int, order: int, cache_mb: int, epochs: int, rows: int) -> Facts:
    """After each epoch: what it has cost so far, and how good it is."""
    data = Digit.of(digit, rows)
    model = HullerSVC(
        C=np.inf, gamma=GAMMA, cache_bytes=cache_mb << 20, random_state=order, classes=[-1, 1]
    )
    first = data.order(order)
    X, y = data.X[first], data.y[first]
    fit_s, after = 0.0, []
    for epoch in range(epochs):
        again = data.order(order, epoch)
        began = time.process_time()
        if epoch == 0:
            model.partial_fit(X, y)
        else:  # the same examples again: partial_fit would take them for others
            signs = (y[again] > 0).astype(np.float64)
            model._core.learn_dense(X[again], signs, np.ones(len(y)), again)
        fit_s += time.process_time() - began
        facts = {"fit_s": fit_s, "support_vectors": len(model.support_), "N2": model.objective()}
        after.append(facts | data.judged(model.predict))
    return {"after": after}


def perceptron(digit: int, order: int, epochs: int, rows: int) -> Facts:
    data = Digit.of(digit, rows)
    shuffled = data.order(order)
    X, y = data.X[shuffled], data.y[shuffled]
    model = KernelPerceptron(kernel="rbf", gamma=GAMMA, classes=[-1, 1])
    began = time.process_time()
    for _ in range(epochs):
        model.partial_fit(X, y)
    distinct = np.unique(model.support_ % len(y))  # a later epoch gives a row another number
    facts = {"fit_s": time.process_time() - began, "support_vectors": len(distinct)}
    return facts | data.judged(model.predict)


# ---- what is asked for ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The cells of both figures, at full size or at a tiny one."""

    digits: tuple[int, ...]
    orders: int
    rows: int

    @classmethod
    def of(cls, journal: Journal) -> Plan:
        if journal.quick:
            return cls(CACHE_DIGITS, 2, 2_000)
        return cls(DIGITS, ORDERS, 60_000)

    def libsvm(self, digits: Sequence[int], cache_mb: int = CACHE) -> list[Facts]:
        return [{"digit": d, "cache_mb": cache_mb, "rows": self.rows} for d in digits]

    def huller(
        self, digits: Sequence[int], cache_mb: int = CACHE, epochs: int = EPOCHS
    ) -> list[Facts]:
        cell = {"cache_mb": cache_mb, "epochs": epochs, "rows": self.rows}
        return [{"digit": d, "order": k} | cell for d in digits for k in range(self.orders)]

    def perceptron(self, epochs: int, orders: int) -> list[Facts]:
        cell = {"epochs": epochs, "rows": self.rows}
        return [{"digit": d, "order": k} | cell for d in self.digits for k in range(orders)]


Runs = dict[int, list[Facts]]  # of each digit, all of its orders


def by_digit(cells: Sequence[Facts], found: Sequence[Facts | None]) -> Runs:
    """Of digits whose orders are all there."""
    runs: dict[int, list[Facts | None]] = {}
    for cell, facts in zip(cells, found, strict=True):
        runs.setdefault(cell["digit"], []).append(facts)
    whole = {digit: [f for f in its if f is not None] for digit, its in runs.items() if all(its)}
    return dict(sorted(whole.items()))


def contestants(journal: Journal) -> dict[str, Runs]:
    """Of figure 5."""
    plan = Plan.of(journal)

    def work(cells: list[Facts], run: Callable[..., Facts]) -> Runs:
        return by_digit(cells, journal.work(cells, run))

    once = work(plan.perceptron(1, plan.orders), perceptron)
    hulls = work(plan.huller(plan.digits), huller)
    batch = work(plan.libsvm(plan.digits), libsvm)

    def after(epochs: int) -> Runs:
        return {digit: [run["after"][epochs - 1] for run in runs] for digit, runs in hulls.items()}

    return {
        "Huller x1": after(1),
        "Huller x2": after(2),
        "Huller x5": after(EPOCHS),
        "LIBSVM": batch,
        "averaged perceptron x1": once,
        "averaged perceptron x10": work(plan.perceptron(10, 1), perceptron),
    }


def mean(runs: Sequence[Facts], fact: str) -> float:
    return fmean(run[fact] for run in runs)


# ---- what the paper says of its bars -------------------------------------------------------------


def discordance(ours: Sequence[Facts], theirs: Sequence[Facts]) -> float:
    """The median p of exact McNemar tests, one for each order; a single run is met by all."""
    theirs = list(theirs) * (len(ours) // len(theirs))
    tests = []
    for one, other in zip(ours, theirs, strict=True):
        mine, its = set(one["wrong"]), set(other["wrong"])
        only = len(mine - its), len(its - mine)
        tests.append(float(binomtest(min(only), sum(only)).pvalue) if sum(only) else 1.0)
    return median(tests)


@dataclass(frozen=True)
class Sentence:
    """Of the paper, about two contestants: what ours comes to on a digit, and whether it holds."""

    words: str
    of: tuple[str, str]
    measure: Callable[[Sequence[Facts], Sequence[Facts]], float]
    holds: Callable[[float], bool]
    unit: str
    otherwise: Word = "short"

    def verdicts(self, found: dict[str, Runs], digits: Sequence[int]) -> Iterator[Verdict]:
        one, other = (found[name] for name in self.of)
        for digit in sorted(digits):
            what = f"digit {digit}: {self.words}"
            if digit not in one or digit not in other:
                yield Verdict("figure 5", what, "holds", "-", "not measured yet")
                continue
            ours = self.measure(one[digit], other[digit])
            word: Word = "met" if self.holds(ours) else self.otherwise
            errs, svs = (
                [mean(runs[digit], fact) for runs in (one, other)]
                for fact in ("error_percent", "support_vectors")
            )
            why = f"{errs[0]:.2f} and {errs[1]:.2f} % wrong, {svs[0]:,.0f} and {svs[1]:,.0f} SVs"
            yield Verdict("figure 5", what, "holds", f"{ours:.3g} {self.unit}", word, why)


def ratio(fact: str) -> Callable[[Sequence[Facts], Sequence[Facts]], float]:
    return lambda ours, theirs: mean(ours, fact) / mean(theirs, fact)


def points(ours: Sequence[Facts], theirs: Sequence[Facts]) -> float:
    return mean(ours, "error_percent") - mean(theirs, "error_percent")


def excess(ours: Sequence[Facts], theirs: Sequence[Facts]) -> float:
    return 100 * (mean(ours, "N2") / mean(theirs, "N2") - 1)


def insignificant(p: float) -> bool:
    return p >= 0.05


X1, X2, X5, BATCH = "Huller x1", "Huller x2", "Huller x5", "LIBSVM"
P1, P10 = "averaged perceptron x1", "averaged perceptron x10"
TIME, SIZE = ratio("fit_s"), ratio("support_vectors")
SENTENCES = (
    Sentence("one epoch errs as LIBSVM does", (X1, BATCH), discordance, insignificant, "(p)"),
    Sentence("one epoch errs as two do", (X1, X2), discordance, insignificant, "(p)"),
    Sentence("two epochs err as LIBSVM does", (X2, BATCH), discordance, insignificant, "(p)"),
    Sentence(
        "two epochs have LIBSVM's number of support vectors",
        (X2, BATCH),
        SIZE,
        lambda times: abs(times - 1) <= 0.1,
        "times as many",
    ),
    Sentence(
        "one epoch has fewer support vectors than LIBSVM",
        (X1, BATCH),
        SIZE,
        lambda times: times < 1,
        "times as many",
    ),
    Sentence(
        "one epoch takes less than half of LIBSVM's time",
        (X1, BATCH),
        TIME,
        lambda share: share < 0.5,
        "of its time",
    ),
    Sentence(
        "two epochs take less time than LIBSVM",
        (X2, BATCH),
        TIME,
        lambda share: share < 1,
        "of its time",
    ),
    Sentence(
        "five epochs reach the SVM solution",
        (X5, BATCH),
        excess,
        lambda percent: percent <= 1,
        "% above the least N2",
    ),
    Sentence(
        "five epochs take more time than LIBSVM",
        (X5, BATCH),
        TIME,
        lambda share: share > 1,
        "of its time",
        otherwise="better",
    ),
    Sentence(
        "the averaged perceptron errs more than LIBSVM after one epoch",
        (P1, BATCH),
        points,
        lambda more: more > 0,
        "points more",
    ),
    Sentence(
        "the averaged perceptron errs less after ten epochs than after one",
        (P10, P1),
        points,
        lambda more: more < 0,
        "points more",
    ),
)


# ---- the figures ---------------------------------------------------------------------------------


def figure_5(journal: Journal) -> Shown:
    """Test error, training time and support vectors of everybody on each digit."""
    found = contestants(journal)
    digits = sorted({digit for runs in found.values() for digit in runs})
    if not digits:
        return Shown(verdicts=[Verdict("figure 5", "all of it", "", "-", "not measured yet")])
    bars = [
        [str(digit), *(cell(runs[digit]) if digit in runs else "" for runs in found.values())]
        for digit in digits
    ]
    verdicts, said = [], []
    for sentence in SENTENCES:
        of_digits = list(sentence.verdicts(found, Plan.of(journal).digits))
        verdicts += of_digits
        said.append(summary(sentence, of_digits))
    return Shown(
        "Each cell: test error / training / support vectors.\n\n"
        f"{table(['digit', *found], bars)}\n\n"
        f"{table(['the paper says', 'here', 'exceptions'], said)}",
        draw_bars(found),
        verdicts,
    )


def cell(runs: Sequence[Facts]) -> str:
    error, fit_s, size = (mean(runs, key) for key in ("error_percent", "fit_s", "support_vectors"))
    return f"{error:.2f} % / {fit_s:.1f} s / {size:,.0f}"


def summary(sentence: Sentence, verdicts: Sequence[Verdict]) -> list[str]:
    """A line for all digits: for how many it holds, and which are the exceptions."""
    there = [one for one in verdicts if one.word != "not measured yet"]
    not_so = [one for one in there if one.word != "met"]
    exceptions = [f"{one.what.partition(':')[0]}: {one.ours}" for one in not_so]
    return [
        sentence.words,
        f"{len(there) - len(not_so)} of {len(there)} digits",
        f"{sentence.otherwise}: {', '.join(exceptions)}" if exceptions else "",
    ]


def figure_6(journal: Journal) -> Shown:
    """Training time by the size of the cache."""
    plan, seconds = Plan.of(journal), {}
    for cache_mb in CACHES:
        for name, run, cells in (
            ("LIBSVM", libsvm, plan.libsvm(CACHE_DIGITS, cache_mb)),
            ("Huller x1", huller, plan.huller(CACHE_DIGITS, cache_mb, epochs=1)),
        ):
            for digit, runs in by_digit(cells, journal.work(cells, run)).items():
                facts = [one["after"][0] if "after" in one else one for one in runs]
                seconds[name, digit, cache_mb] = mean(facts, "fit_s")
    bars = [(name, digit) for digit in CACHE_DIGITS for name in ("LIBSVM", "Huller x1")]
    if len(seconds) < len(bars) * len(CACHES):
        return Shown(verdicts=[Verdict("figure 6", "all of it", "", "-", "not measured yet")])
    rows = [[f"{mb} MB", *(f"{seconds[*bar, mb]:.1f} s" for bar in bars)] for mb in CACHES]
    return Shown(
        table(["cache", *(f"{name}, digit {digit}" for name, digit in bars)], rows),
        draw_caches(bars, seconds),
        cache_verdicts(seconds),
    )


def cache_verdicts(seconds: dict[tuple[str, int, int], float]) -> list[Verdict]:
    def more(name: str, digit: int, cache_mb: int) -> float:
        return seconds[name, digit, cache_mb] / seconds[name, digit, CACHE]

    verdicts = []
    for digit in CACHE_DIGITS:
        for cache_mb in CACHES[1:]:
            times = more("LIBSVM", digit, cache_mb), more("Huller x1", digit, cache_mb)
            for name, printed, holds, ours in (
                ("LIBSVM takes longer", "significantly", times[0] > 1.5, times[0]),
                ("the Huller takes as long", "virtually unchanged", times[1] < 1.2, times[1]),
            ):
                what = f"digit {digit}, cache of {cache_mb} MB: {name}"
                said = f"{ours:.2f} times as long"
                why = f"{seconds['Huller x1', digit, cache_mb]:.2f} s by the Huller"
                verdicts.append(Verdict.claim("figure 6", what, printed, said, holds, why))
    share = seconds["Huller x1", 1, CACHE] / seconds["LIBSVM", 1, CACHE]
    what = f"digit 1, cache of {CACHE} MB: LIBSVM is almost as fast as one epoch"
    word: Word = "met" if share > 0.5 else "better"
    verdicts.append(Verdict("figure 6", what, "almost", f"{share:.3f} of its time", word))
    return verdicts


LOOKS = {
    "Huller x1": ("#0072B2", "o"),
    "Huller x2": ("#56B4E9", "s"),
    "Huller x5": ("#009E73", "P"),
    "LIBSVM": ("#222222", "D"),
    "averaged perceptron x1": ("#E69F00", "^"),
    "averaged perceptron x10": ("#D55E00", "v"),
}


def draw_bars(found: dict[str, Runs]) -> Figure:
    picture = figure(figsize=(11, 8.5))
    panels = picture.subplots(2, 2).ravel()
    for shift, (name, (colour, marker)) in enumerate(LOOKS.items()):
        runs = found[name]
        at = np.array(list(runs)) + 0.12 * (shift - 2.5)
        error, cpu, size = (
            [mean(one, key) for one in runs.values()]
            for key in ("error_percent", "fit_s", "support_vectors")
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
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return picture


def draw_caches(
    bars: Sequence[tuple[str, int]], seconds: dict[tuple[str, int, int], float]
) -> Figure:
    """Bars of the full cache, and on top of them what each smaller cache costs more."""
    picture = figure(figsize=(5.6, 4.6))
    panel = picture.subplots()
    reached = np.zeros(len(bars))
    for cache_mb, colour in zip(CACHES, CLASS_COLOURS, strict=False):
        cpu = np.array([seconds[*bar, cache_mb] for bar in bars])
        label = f"{cache_mb} MB" if cache_mb == CACHE else f"more with {cache_mb} MB"
        more = np.maximum(cpu - reached, 0.0)
        panel.bar(range(len(bars)), more, 0.6, reached, color=colour, label=label)
        reached += more
    for place, most in enumerate(reached):
        panel.text(place, most, f"{most:.3g} s", ha="center", va="bottom")
    panel.set_xticks(range(len(bars)), [f"{name}\ndigit {digit}" for name, digit in bars])
    panel.set_ylabel("training, CPU seconds")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(title="kernel cache", frameon=False, reverse=True)
    return picture


PAPER = Paper("huller", "The Huller", "huller.md", (figure_5, figure_6))
