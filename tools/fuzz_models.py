"""Forge saved models and see that nothing worse than a ValueError happens.

    python tools/fuzz_models.py --count 20000 --seed 1 --jobs 2  # make fuzz ARGS="--count 20000"
    python tools/fuzz_models.py --seed 1 --only 4711             # one case again, in this process

Small models of every class are saved, with keys and without, and pipelines and banks of them;
arrays, shapes, types, settings and facts are changed, and the checksum is computed anew. Each file
is then loaded in a forked child that may use 8 s, and for loading twice the file plus 2 MB: the
steps in which Python and malloc ask for memory. What is accepted has to predict, learn, unlearn, be
saved and come back, for which there are 64 MB. Case i of a seed is the same on every machine. A
finding prints its case and ends with status 1.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from campaign import Campaign, Case, carry_out, last_lines, loading, options, using
from sklearn.base import is_classifier

import onlinesvm
from onlinesvm import queries
from onlinesvm.files import persistence

ROWS, FEATURES = 14, 3

# --- the models that are forged ------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """A saved model in parts, and rows of the kind it was made from."""

    name: str
    kind: str
    facts: dict[str, dict[str, Any]]  # of the model, and of each model that it is made of
    state: dict[str, np.ndarray[Any, Any]]
    X: Any
    y: np.ndarray[Any, Any]


VARIANTS: dict[str, list[dict[str, Any]]] = {
    "RampSVC": [{"query": queries.Greedy(4)}, {"keep_non_support": 2}, {"bias": "none"}],
    "OfflineRampSVC": [{"kernel": "linear"}],
    "LASVC": [{"query": "greedy", "pool": 5}, {"reprocess": 2}],
    "HullerSVC": [{"C": float("inf"), "init": 2}],
    "SmoSVC": [{"bias": "none"}, {"kernel": "poly", "degree": 2}],
    "PokerSVC": [{"bias": "none"}, {"kernel": "linear"}],
    "StreamSVC": [
        {"lookahead": 6},
        {"balls": 3, "kernel": "rbf"},
        {"lookahead": 4, "kernel": "rbf"},
        {"shape": "ellipsoid"},
    ],
    "FixedPartitionSVC": [{"chunk": 5}],
    "ErrorDrivenSVC": [{"chunk": 4, "rule": "error"}],
    "ForgettingSVC": [
        {"chunk": 5, "budget": 4, "forget": "linear_dependence"},
        {"chunk": 6, "budget": 5, "forget": "random"},
    ],
    "NystroemFeatures": [{"n_components": 4, "gamma": 1.0}, {"kernel": "linear"}],
    "FourierFeatures": [{"n_components": 6, "gamma": 1.0, "kernel": "laplacian"}],
    "CoreVectorSVC": [{"sample": "all"}],
    "IncrementalSVC": [{"kernel": "linear"}],
    "IndependentSVC": [{"window": 9, "budget": 4}, {"kernel": "linear", "bias": "none"}],
    "IndependentSVR": [{"window": 9, "epsilon": 0.0}],
    "PegasosSVC": [{"block": 5, "average": True}, {"block": 4, "kernel": "rbf"}],
    "SGDSVC": [{"average": True, "kernel": "laplacian"}],
    "NormaSVC": [{"truncation": 4, "bias": "free"}, {"kernel": "linear", "truncation": None}],
    "NormaSVR": [{"loss": "huber"}],
    "KernelPerceptron": [{"variant": "voted"}, {"variant": "averaged", "kernel": "linear"}],
    "PassiveAggressiveClassifier": [{"kernel": "rbf"}],
    "PassiveAggressiveRegressor": [{"kernel": "chi2"}],
}


def corpus() -> list[Saved]:
    """Every class, dense, sparse and from dicts, in both types, with two classes and three."""
    saved = []
    for cls in (*onlinesvm.all_estimators(), *onlinesvm.all_transformers()):
        forms = (("dense", "float32", 2), ("sparse", "float64", 3), ("dicts", "float32", 3))
        for form, dtype, classes in (*forms, ("dense", "float64", 3), ("begun", "float32", 2)):
            if form != "sparse" or cls().__sklearn_tags__().input_tags.sparse:
                saved.append(save_one(cls, {"dtype": dtype}, form, classes))
        for params in VARIANTS.get(cls.__name__, []):
            saved.append(save_one(cls, params, "dense", 2))
            form = "dense" if params.get("shape") == "ellipsoid" else "sparse"
            saved.append(save_one(cls, params | {"dtype": "float64"}, form, 3))
    for cls in (onlinesvm.RampSVC, onlinesvm.PokerOneClassSVM, onlinesvm.PokerSVR):
        saved.append(save_one(cls, {"gamma": 1.0}, "compressed", 3))
    saved += [save_made(name, model) for name, model in made_of_others().items()]
    return saved + [save_bank(model, classes) for model, classes in banked()]


def made_of_others() -> dict[str, Any]:
    """Pipelines in the midst of their warm-up and after it, of arrays, dicts and columns."""
    make, Scaler = onlinesvm.make_online_pipeline, onlinesvm.OnlineScaler
    text, hot = onlinesvm.OnlineText(), onlinesvm.OnlineOneHot(max_categories=3)
    parts = [
        ("size", [onlinesvm.OnlineImputer(warm_up=4), Scaler(warm_up=4)], ["f0", "f1"]),
        ("kind", hot, ["f2"]),
    ]
    open_ = {"classes": "open"}
    return {
        "dense begun": make(Scaler(warm_up=100), onlinesvm.LASVC(**open_)),
        "dense settled": make(Scaler(warm_up=5), onlinesvm.IncrementalSVC(**open_)),
        "dense moving": make(Scaler(after="forget", warm_up=5), onlinesvm.SGDSVC(**open_)),
        "dense features": make(onlinesvm.NystroemFeatures(4, gamma=1.0), onlinesvm.SmoSVC(**open_)),
        "dicts begun": make(Scaler(warm_up=100), onlinesvm.RampSVC(**open_)),
        "dicts settled": make(Scaler(warm_up=5), onlinesvm.NormaSVC(**open_)),
        "dicts columns begun": make(
            onlinesvm.OnlineColumns([*parts[:1], ("kind", hot, ["f2"])]),
            Scaler(warm_up=100),
            onlinesvm.LASVC(**open_),
        ),
        "dicts columns": make(onlinesvm.OnlineColumns(parts), onlinesvm.LASVC(**open_)),
        "dicts columns alone": onlinesvm.OnlineColumns(parts),
        "dicts columns unlearned": onlinesvm.OnlineColumns([("rest", "drop", "numbers"), parts[1]]),
        "texts": make(text, onlinesvm.PassiveAggressiveClassifier(**open_)),
        "dense regression": make(Scaler(warm_up=5), onlinesvm.PokerSVR()),
    }


def banked() -> list[tuple[Any, int]]:
    """Models that banks are made of, and how many classes they have."""
    linear: dict[str, Any] = {"kernel": "linear"}
    return [
        (onlinesvm.PassiveAggressiveClassifier(classes=[0, 1]), 2),
        (onlinesvm.SGDSVC(classes=[0, 1, 2], average=True, **linear), 3),
        (onlinesvm.StreamSVC(classes=[0, 1], dtype="float32", lookahead=1), 2),
        (onlinesvm.AlmaClassifier(classes=[0, 1], p=4.0), 2),
        (onlinesvm.ExponentiatedGradientClassifier(classes=[0, 1, 2]), 3),
        (onlinesvm.PassiveAggressiveRegressor(), 2),
    ]


def save_bank(model: Any, classes: int) -> Saved:
    X, y = stream(model, "dense", classes)
    bank = onlinesvm.ModelBank(model).learn_many(bank_keys(), X, y)
    return taken_apart(bank, f"ModelBank {type(model).__name__} {classes}", X, y)


def bank_keys() -> list[Any]:
    return [[f"anna {i % 3}", i % 2, ("bert", i % 4), 2**70][i % 4] for i in range(ROWS)]


def save_made(name: str, model: Any) -> Saved:
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    X, y = stream(last, name.split()[0], 2)
    if name == "texts":
        X = np.array([["a b " * (i % 3) + f"w{i}"] for i in range(ROWS)], dtype=object)
    if "columns" in name:
        X = [{"f0": None, "f1": 0.0, **row, "f2": f"k{i % 4}"} for i, row in enumerate(X)]
    if "unlearned" not in name:
        keyed = {"keys": owners()} if hasattr(model, "steps") else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.partial_fit(X, y, **keyed)
    return taken_apart(model, f"{type(model).__name__} {name}", X, y)


def owners() -> list[Any]:
    return [[f"anna {i % 3}", i % 2, ("bert", i % 4), None][i % 4] for i in range(ROWS)]


def answers(model: Any, X: Any) -> Any:
    """What a model is for."""
    if isinstance(model, onlinesvm.ModelBank):
        return model.predict(bank_keys(), X)
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


def save_one(cls: type[Any], params: dict[str, Any], form: str, classes: int) -> Saved:
    known = cls().get_params()
    model = cls(**{name: value for name, value in params.items() if name in known})
    X, y = stream(model, form, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if form != "begun" or not hasattr(model, "partial_fit"):
            model.fit(X, y, keys=owners() if form != "sparse" else None)
        if form == "compressed":
            model = model.compress(0.1)
        elif hasattr(model, "partial_fit"):
            many = len(y) if form == "begun" else 3
            classes_known = {"classes": np.unique(y)} if is_classifier(model) else {}
            keys = owners()[:many] if form == "begun" else None
            model.partial_fit(X[:many], y[:many], keys=keys, **classes_known)  # half full blocks
    words = " ".join(f"{k}={v}" for k, v in params.items())
    return taken_apart(model, f"{cls.__name__} {words} {form} {classes}", X, y)


def taken_apart(model: Any, name: str, X: Any, y: Any) -> Saved:
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        kind, arrays = persistence._unpack(Path(folder, "model").read_bytes())
    told = [array for array in arrays if array.rpartition(".")[2] == "facts"]
    facts = {part: json.loads(arrays.pop(part).tobytes()) for part in told}
    return Saved(name, kind, facts, {part: a.copy() for part, a in arrays.items()}, X, y)


def stream(model: Any, form: str, classes: int) -> tuple[Any, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    X = np.round(rng.uniform(0, 2, (ROWS, FEATURES)), 2)
    X[ROWS // 2] = X[0]  # a duplicate
    X[rng.uniform(size=X.shape) < 0.3] = 0
    y: Any = rng.integers(0, classes, ROWS)
    y[:classes] = range(classes)
    if not is_classifier(model):
        y = X[:, 0] - X[:, 1] + rng.normal(0, 0.1, ROWS)
    if form == "sparse":
        return sp.csr_array(X), y
    if form == "dicts":
        return [{f"f{j}": v for j, v in enumerate(row) if v} for row in X.tolist()], y
    return X, y


# --- how they are forged -------------------------------------------------------------------------

INTEGERS = [-1, 0, 1, 2, 3, 7, 100, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**61, 2**62, 2**63 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 5e-324, 1e-300, 1e9, -1e9, 1e30, 1e155, 1e300, -1e300]
ODD_FLOATS = [float("nan"), float("inf"), -float("inf"), 1.7e308]
PLAIN = [None, True, False, "", "x", "open", "rbf", "linear", [], {}, [[]], {"float": "nan"}]
PLAIN += [{"float": "inf"}, {"tuple": []}, {"dict": []}, {"array": [], "dtype": "<f8"}]
PLAIN += [{"array": ["a"] * 50, "dtype": "<U99999999"}, {"scalar": 1, "dtype": "<M8[ns]"}]
PLAIN += [{"array": ["a"] * 50, "dtype": "<U80000"}, {"scalar": "a", "dtype": "<U1000000"}]
DTYPES = ["<f8", "<f4", "<i8", "<i4", "|u1"]


class Forger:
    """Changes a saved model, one to three times, as its random numbers say."""

    def __init__(self, rng: np.random.Generator, saved: Saved, others: list[Saved]) -> None:
        self.rng, self.others = rng, others
        self.every = json.loads(json.dumps(saved.facts))
        self.facts = self.every[self.pick(sorted(self.every))]
        self.state = {name: array.copy() for name, array in saved.state.items()}
        self.did: list[str] = []

    def forge(self) -> None:
        ways = (self.number, self.number, self.number, self.many, self.length, self.shape)
        ways += (self.foreign, self.exchange, self.remove, self.fact, self.fact, self.setting)
        ways += (self.setting, self.agreed)
        for _ in range(int(self.rng.integers(1, 4))):
            self.pick(ways)()

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def note(self, *words: Any) -> None:
        self.did.append(" ".join(str(word)[:60] for word in words))

    # --- arrays ---

    def name(self) -> str:
        return str(self.pick(sorted(self.state) or ["none"]))

    def value(self, kind: str) -> Any:
        if kind in "iu":
            return self.pick(INTEGERS)
        if self.rng.uniform() < 0.3:
            return float(self.rng.normal())
        return self.pick(FLOATS if self.rng.uniform() < 0.8 else ODD_FLOATS)

    def number(self) -> None:
        name = self.name()
        array = self.state.get(name)
        if array is None or not array.size:
            return
        at, value = int(self.rng.integers(array.size)), self.value(array.dtype.kind)
        put(array, at, value)
        self.note(name, "at", at, "=", value)

    def many(self) -> None:
        name = self.name()
        array = self.state.get(name)
        if array is None or not array.size:
            return
        how = self.pick(("fill", "roll", "shuffle", "scale", "jitter", "negate", "sort"))
        if how == "fill":
            value = self.value(array.dtype.kind)
            for at in range(array.size):
                put(array, at, value)
        elif how == "roll":
            array[...] = np.roll(array, 1)
        elif how in ("shuffle", "sort"):
            flat = array.reshape(-1)
            flat[:] = np.sort(flat) if how == "sort" else self.rng.permutation(flat)
        elif array.dtype.kind == "f":
            factor = {"scale": self.pick((0, 1e-3, 10, 1e8, 1e200)), "negate": -1.0}.get(how, 1.0)
            noise = self.rng.normal(0, 0.1, array.shape) if how == "jitter" else 0.0
            with np.errstate(all="ignore"):
                array[...] = array * factor + noise
        self.note(name, how)

    def length(self) -> None:
        name = self.name()
        array = self.state.get(name)
        if array is None:
            return
        size = self.pick((0, 1, max(0, array.size - 1), array.size + 1, 2 * array.size))
        self.state[name] = np.resize(array, size) if array.size else np.zeros(size, array.dtype)
        self.note(name, "has length", size)

    def shape(self) -> None:
        name = self.name()
        array = self.state.get(name)
        if array is None:
            return
        dtype = self.pick(DTYPES)
        with np.errstate(all="ignore"):
            array = array.astype(dtype) if self.rng.uniform() < 0.5 else array
        shape = self.pick(((-1,), (1, -1), (-1, 1), ()))
        self.state[name] = array.reshape(shape) if shape or array.size == 1 else array
        self.note(name, "becomes", array.dtype, shape)

    def foreign(self) -> None:
        other = self.pick(self.others)
        shared = sorted(self.state.keys() & other.state.keys())
        if shared:
            name = self.pick(shared)
            self.state[name] = other.state[name].copy()
            self.note(name, "from", other.name)

    def exchange(self) -> None:
        one, two = self.name(), self.name()
        if one in self.state and two in self.state:
            self.state[one], self.state[two] = self.state[two], self.state[one]
            self.note(one, "and", two, "exchanged")

    def remove(self) -> None:
        name = self.name()
        array = self.state.pop(name, None)
        if array is not None and self.rng.uniform() < 0.3:
            self.state[name + ".x"] = array
        self.note(name, "removed")

    # --- facts ---

    def plain(self) -> Any:
        kind = self.rng.uniform()
        if kind < 0.35:
            return self.pick([*INTEGERS, 2**70])
        if kind < 0.6:
            return self.pick(FLOATS)
        return json.loads(json.dumps(self.pick(PLAIN)))  # its own, since it may be changed in turn

    def fact(self) -> None:
        found = list(places(self.facts))
        if found:
            self.change(self.pick(found))

    def setting(self) -> None:
        settings = self.facts.get("settings")
        found = list(places(settings)) if isinstance(settings, dict | list) else []
        if found:
            self.change(self.pick(found))

    def change(self, where: tuple[Any, Any]) -> None:
        holder, key = where
        how = self.rng.uniform()
        if how < 0.15:
            del holder[key]
            self.note("fact", key, "removed")
        elif how < 0.3 and isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(holder[key])))
            self.note("fact", key, "twice")
        else:
            value = self.plain()
            self.note("fact", key, repr(holder[key])[:40], "->", value)
            holder[key] = value

    def agreed(self) -> None:
        """A parameter and the setting that comes from it, changed alike."""
        params = dict_of(self.facts.get("params"))
        settings = dict_of(self.facts.get("settings"))
        kernel = dict_of(settings.get("kernel", [None, {}])[1])
        both = sorted(params.keys() & (settings.keys() | kernel.keys()) - {"kernel"})
        if not both:
            return
        name = self.pick(both)
        value = self.plain()
        if isinstance(value, int) and not isinstance(value, bool) and value > 1000:
            value = int(self.rng.integers(1, 1000))  # a long wait that was asked for is no finding
        params[name][1] = value
        (settings if name in settings else kernel)[name][1] = value
        self.note("both", name, "=", value)


def put(array: np.ndarray[Any, Any], at: int, value: Any) -> None:
    with np.errstate(all="ignore"):
        if array.dtype.kind in "iu":
            value = np.array(value, dtype=object).astype(np.int64).astype(array.dtype)
        array.flat[at] = value


def dict_of(plain: Any) -> dict[str, list[Any]]:
    """The pairs of a dict that was made plain, by name."""
    pairs = plain.get("dict") if isinstance(plain, dict) else None
    found = pairs if isinstance(pairs, list) else []
    named = [p for p in found if isinstance(p, list) and len(p) == 2]
    return {pair[0]: pair for pair in named if isinstance(pair[0], str)}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value, as holder and key."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def forged(seed: int, number: int, models: list[Saved]) -> tuple[Saved, bytes, list[str]]:
    """Case ``number``: the model it comes from, the file, and what was done to it."""
    rng = np.random.default_rng([seed, number])
    saved = models[number % len(models)]
    forger = Forger(rng, saved, models)
    forger.forge()
    texts = {name: json.dumps(facts).encode() for name, facts in forger.every.items()}
    arrays = forger.state | {name: np.frombuffer(t, dtype=np.uint8) for name, t in texts.items()}
    data = bytearray(persistence._pack(saved.kind, arrays))
    if rng.uniform() < 0.02:  # now and then a plain accident
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        forger.note("a bit flipped")
    return saved, bytes(data), forger.did


# --- what happens --------------------------------------------------------------------------------


def judge(saved: Saved, data: bytes, folder: Path) -> str:
    """ "refused", "accepted", or what went wrong."""
    path = folder / "forged"
    path.write_bytes(data)
    loading(len(data))
    try:
        model = onlinesvm.load(path)
    except ValueError as error:
        return "refused" if "\n" not in str(error) else f"a refusal of several lines: {error}"
    except Exception:
        return "load: " + last_lines()
    using()
    for verb in verbs(model, saved):
        try:
            verb()
        except (ValueError, NotImplementedError, AttributeError):
            pass
        except Exception:
            return "afterwards: " + last_lines()
    return comes_back(model, saved, path)


def verbs(model: Any, saved: Saved) -> list[Callable[[], Any]]:
    X, y = saved.X, saved.y
    one = X.toarray()[0] if sp.issparse(X) else X[0]
    if isinstance(model, onlinesvm.ModelBank):
        return bank_verbs(model, X, one, y)
    if is_classifier(model) and len(getattr(model, "classes_", ())):
        y = model.classes_[y % len(model.classes_)]
    calls: list[Callable[[], Any]] = [lambda: answers(model, X), lambda: model.nbytes_]
    if hasattr(model, "partial_fit"):
        calls += [lambda: model.partial_fit(X[:8], y[:8]), lambda: model.learn_one(one, y[0])]
    calls += [lambda: model.ids_of(["anna 0", 1]), lambda: model.unlearn(keys=("bert", 2))]
    calls += [lambda: model.unlearn([0, 1, 5]), lambda: answers(model, X), lambda: model.flush()]
    calls += [lambda: model.kkt_residual(), lambda: model.objective(), lambda: model.radius_]
    calls += [lambda: model.support_vectors_, lambda: model.dual_coef_, lambda: model.coef_]
    return calls


def bank_verbs(bank: onlinesvm.ModelBank, X: Any, one: Any, y: Any) -> list[Callable[[], Any]]:
    keys = bank_keys()
    calls: list[Callable[[], Any]] = [lambda: answers(bank, X), lambda: bank.nbytes_, bank.keys]
    calls += [lambda: bank.learn_many(keys, X, y), lambda: bank.learn_one(7, one, y[0])]
    calls += [lambda: bank.learn_many(["new"] * len(X), X, y), lambda: bank.n_seen_]
    calls += [lambda: [bank.model(key).partial_fit(X[:2], y[:2]) for key in bank]]
    calls += [lambda: bank.forget(keys[0]), lambda: bank.merge(bank), lambda: answers(bank, X)]
    return calls


def comes_back(model: Any, saved: Saved, path: Path) -> str:
    """What save takes, load takes."""
    try:
        model.save(path)
    except ValueError:
        return "accepted, not saved again"
    try:
        again = onlinesvm.load(path)
        answers(again, saved.X)
    except ValueError as error:
        return f"saved, but: {error}" if "is not a model" in str(error) else "accepted"
    except Exception:
        return "saved, but: " + last_lines()
    return "accepted"


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--of", default="", help="only models whose name has this: OnlinePipeline")
    parser.add_argument("--keep", help="where to keep the file of the one case")
    args = parser.parse_args()
    models = [saved for saved in corpus() if args.of in saved.name]

    def case(number: int) -> Case:
        saved, data, did = forged(args.seed, number, models)
        if args.keep:
            Path(args.keep).write_bytes(data)
        return Case(saved.name, did, lambda folder: judge(saved, data, folder))

    return carry_out(Campaign(f"forged files of {len(models)} models", case), args)


if __name__ == "__main__":
    sys.exit(main())
