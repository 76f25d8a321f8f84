"""Three models learn a noisy stream side by side: what `make demo` runs.

    python examples/demo.py demo.png --rows 10000 --seed 0

Each of the examples is predicted first and learned afterwards; 15 % of the labels are wrong.
"""

import argparse
import math

import numpy as np
from matplotlib.figure import Figure

from onlinesvm import RampSVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.report import plot_decision, plot_history
from onlinesvm.stream import lessons, prequential

NOISE = 0.15
RAMP, ASKING, HINGE = "ramp", "ramp, asking", "hinge"


def board(rows, *, noise=0.0, seed):
    """A 4 x 4 checkerboard on unit scale; the same seed gives the same points."""
    X, y = make_checkerboard(rows, noise=noise, random_state=seed)
    return (X - 2) / (4 / math.sqrt(12)), y


def contestants():
    """They differ in the loss, and in the labels they ask for."""
    return {
        RAMP: RampSVC(C=50, gamma=4),
        ASKING: RampSVC(C=50, gamma=4, query="margin"),
        HINGE: RampSVC(C=50, gamma=4, s=-np.inf),
    }


def learn(models, X, y, truth):
    """The snapshots of the stream; ten lines say how it goes."""
    rows, history = len(y), []
    stream = lessons(X, y, truth)
    for shots in prequential(models, stream, classes=[-1, 1], every=max(1, rows // 100)):
        history.append(shots)
        seen = shots[RAMP].seen
        if seen % max(1, rows // 10) == 0:
            words = (
                f"{name}: {shot.clean_accuracy:.1%} right, {shot.support_vectors:,} SVs, "
                f"{shot.labels_used:,} labels"
                for name, shot in shots.items()
            )
            print(f"{seen:>7,} rows | {' | '.join(words)}", flush=True)
    return history


def draw(path, models, X, y, history, accuracy):
    """A panel for each model above the curves of accuracy and support vectors."""
    figure = Figure(figsize=(15, 9.2), layout="constrained")
    halves = figure.subfigures(2, 1, height_ratios=[2.2, 1])
    for ax, (name, model) in zip(halves[0].subplots(1, 3), models.items(), strict=True):
        plot_decision(model, X, y, ax=ax)
        shot = history[-1][name]
        ax.set_title(
            f"{name}: {accuracy[name]:.1%} right\n"
            f"{shot.support_vectors:,} support vectors, {shot.labels_used:,} labels used"
        )
    left, right = halves[1].subplots(1, 2)
    plot_history(history, "recent_accuracy", ax=left, smooth=10)
    left.set_ylabel("right before learning it\n(true labels, moving average)")
    plot_history(history, "support_vectors", ax=right)
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("picture", nargs="?", default="demo.png")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    X, y = board(options.rows, noise=NOISE, seed=options.seed)
    _, truth = board(options.rows, seed=options.seed)
    print(f"A checkerboard arrives, {len(y):,} examples one by one, {NOISE:.0%} mislabelled.")
    models = contestants()
    history = learn(models, X, y, truth)
    X_test, y_test = board(10_000, seed=options.seed + 1)
    accuracy = {name: model.score(X_test, y_test) for name, model in models.items()}
    draw(options.picture, models, X, y, history, accuracy)
    ramp, asking, hinge = (history[-1][name] for name in (RAMP, ASKING, HINGE))
    print("\nOn new rows with true labels:")
    for name, share in accuracy.items():
        print(f"  {share:6.1%}  {name}, {history[-1][name].support_vectors:,} support vectors")
    print(
        f"The ramp loss keeps {ramp.support_vectors / hinge.support_vectors:.0%} of the support "
        f"vectors of the hinge loss.\nAsking only inside the margin took "
        f"{asking.labels_used / asking.seen:.0%} of the labels.\n\npicture: {options.picture}"
    )


if __name__ == "__main__":
    main()
