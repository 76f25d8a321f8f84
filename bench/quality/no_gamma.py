"""No gamma to choose: a mixture of bandwidths beside the best single one, and beside others.

The protocol, fixed before anything was measured:

- Contests: the 15 sets and 4 streams of bench/quality/contests.py, each cut to its first `ROWS`
  rows of learning, in the order that file gives them. Everybody is tested, then trained, `CHUNK`
  rows at a time. The first tenth does not count, for the tuned rivals choose their settings on it.
- Ours is `MultiKernelClassifier()` with untouched defaults but for the seed, the mean of `SEEDS`.
  Its defaults are chosen on problems of bench/quality/wide.py and on scikit-learn's own sets, never
  on a contest.
- A single bandwidth is the same class with `n_bandwidths=1` at one gamma of the ladder that the
  mixture had in the end, with the same seeds; the best of all of them in hindsight is the bar.
- Rivals: Nystroem and SGDClassifier (its landmarks are rows of the first tenth, 500 of them; gamma,
  alpha and averaging are the best of 18 points on the first tenth); river's PAClassifier and
  ALMAClassifier (likewise tuned), LogisticRegression behind StandardScaler, HoeffdingAdaptiveTree
  and ARFClassifier with their defaults, the last three on dense rows only.
- Whoever has used `LIMIT` seconds of the processor stops, and is compared on the rows it reached.
- The error of a test is twice the standard error of the mean paired difference, row by row.

Bars: accuracy at least that of the best single bandwidth less .5 points on each contest, and not
below it on the four streams; no rival ahead by more than the error of the test on more than two
contests; time per example at most 2.5 times one bandwidth of the same size (bench/speed).

Streams in order (electricity, weather, mail): also beside the last label said again, and with the
last label as one more feature, which must be ahead of it.

`BudgetedSVC(solver="dual")` beside `BudgetedSVC()`: adult, covtype, ijcnn1, usps, banana, learned
from the same rows with the same gamma (2 over the mean squared distance), B = 500 and 2,000, tested
on the rows kept apart. C of the dual is one of (1, 10, 100), alpha of BSGD one of
1 / (n C), both by the same trial on the first 4,000 rows. BSGD makes the number of passes for which
its seconds come closest to the dual's without being below them, but at least one. Bars: accuracy
not lower on any of the ten, at least one point higher on two sets.

python -m bench no_gamma                    mixture and single bandwidths on all contests
python -m bench no_gamma --rivals           the rivals, too
python -m bench no_gamma --only adult usps  these contests
python -m bench no_gamma --dual             the dual on a budget
"""

from __future__ import annotations

ROWS, CHUNK, SEEDS, LIMIT = 10_000, 10, (0, 1, 2), 60
DUAL_SETS, BUDGETS, COSTS = (
    ("adult", "covtype", "ijcnn1", "usps", "banana"),
    (500, 2000),
    (1, 10, 100),
)
