"""Text: words as columns, and how much each of them says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from ..data.rows import Columns, Rows
from ..model.numpy_core import NumpyCore
from ..model.parameters import count, word
from ..model.transformer import OnlineTransformer
from .categories import OfObjects, ReadsObjects


@cache
def _analyzer() -> Any:
    return CountVectorizer().build_analyzer()


def _words(rows: Rows) -> list[list[str]]:
    """The words of each row, lower case, of all its columns; a gap has none."""
    split = _analyzer()
    return [[w for text in row if text is not None for w in split(str(text))] for row in rows.X]


def _no_counts() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class TextFacts:
    """What is known of the texts: words in order of arrival, and in how many texts columns were."""

    width: int = 0
    vocabulary: dict[str, int] = field(default_factory=dict)
    texts: int = 0  # that the counts are over
    found: NDArray[np.int64] = field(default_factory=_no_counts)


class _TextCore(NumpyCore, stem="Text"):
    known: TextFacts

    def _nothing(self) -> TextFacts:
        return TextFacts()

    def _learned(self, rows: Rows, weights: NDArray[np.float64]) -> TextFacts:
        known, words = replace(self.known, width=rows.columns()), _words(rows)
        if self.settings["vocabulary"] == "growing":
            room = self.settings["n_components"] - len(known.vocabulary)
            new = dict.fromkeys(w for text in words for w in text if w not in known.vocabulary)
            start = len(known.vocabulary)
            more = {w: start + k for k, w in enumerate(list(new)[: max(0, room)])}
            known = replace(known, vocabulary={**known.vocabulary, **more}) if more else known
        if self.settings["weighting"] == "counts":
            return known
        if self.settings["after"] == "freeze":
            words = words[: max(0, self.settings["warm_up"] - known.texts)]
        if not words:
            return known
        counts = self._counts(words, known)
        found = np.zeros(max(len(known.found), counts.indices.max(initial=-1) + 1), np.int64)
        found[: len(known.found)] = known.found
        found += np.bincount(counts.indices, minlength=len(found))
        return replace(known, texts=known.texts + len(words), found=found)

    def _counts(self, words: list[list[str]], known: TextFacts) -> Any:
        """How often each column occurs in each text."""
        n = self.settings["n_components"]
        if self.settings["vocabulary"] == "hashing":
            counts = FeatureHasher(n, input_type="string", alternate_sign=False).transform(words)
        else:
            columns = [[known.vocabulary.get(w, -1) for w in text] for text in words]
            columns = [[c for c in text if c >= 0] for text in columns]
            flat = np.array([c for text in columns for c in text], dtype=np.int64)
            starts = np.cumsum([0, *map(len, columns)])
            counts = sp.csr_array((np.ones(len(flat)), flat, starts), shape=(len(words), n))
        counts = sp.csr_array(counts)
        counts.sum_duplicates()
        return counts

    def _scored(self, rows: Rows) -> Any:
        known = self.known
        counts = self._counts(_words(rows), known)
        if self.settings["weighting"] == "counts":
            return counts
        found = np.zeros(counts.shape[1])
        found[: len(known.found)] = known.found
        idf = np.log((1 + known.texts) / (1 + found)) + 1
        counts.data = counts.data * idf[counts.indices]
        return sp.csr_array(normalize(counts))

    def _state(self) -> dict[str, Any]:
        known = self.known
        text = json.dumps(list(known.vocabulary)).encode()
        return {
            "width": known.width,
            "vocabulary": np.frombuffer(text, dtype=np.uint8),
            "texts": known.texts,
            "found": known.found,
        }

    def _from_state(self, state: Mapping[str, NDArray[Any]], width: int) -> TextFacts:
        words = json.loads(np.asarray(state["vocabulary"]).tobytes())
        if not isinstance(words, list) or not all(isinstance(w, str) for w in words):
            raise ValueError("its state has a vocabulary that is no list of words")
        vocabulary, texts = {w: k for k, w in enumerate(words)}, int(state["texts"])
        found = np.array(state["found"])
        most = self.settings["n_components"]
        if len(vocabulary) != len(words) or max(len(words), len(found)) > most:
            raise ValueError("its state has a word twice, or too many")
        if texts < 0 or (found < 0).any() or (found > texts).any():
            raise ValueError("its state has words in more texts than there were")
        return TextFacts(width, vocabulary, texts, found)


class OnlineText(ReadsObjects, OnlineTransformer):
    """Texts as counts of their words, weighted by how rare they are: for a linear model behind.

    ``vocabulary="growing"`` gives words their columns in order of arrival, until there are
    ``n_components``, and can name them; ``"hashing"`` needs no memory for words and lets a few
    share a column. Either way the output is sparse, and as wide from the first call on as it will
    ever be.

    ``weighting="tfidf"`` multiplies a count by ``log((1 + n) / (1 + n_word)) + 1``, as
    scikit-learn does, and scales every text to length 1. How rare a word is the first ``warm_up``
    texts say, and then it stays, so that no feature changes its meaning; a word that comes later is
    as rare as can be. ``after="move"`` counts for ever. A text of any weight but 0 counts once.

    X is a list of texts or a table; the words of all its columns count alike. Words are two letters
    or digits at least, in lower case, as in scikit-learn. A text costs a look into a dict per word;
    a call that brings new words copies the vocabulary.

    Examples
    --------
    >>> from onlinesvm import OnlineText
    >>> text = OnlineText(weighting="counts", n_components=4).partial_fit(["good day", "bad day"])
    >>> text.transform(["day after day", "good"]).toarray().tolist()
    [[0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    >>> text.get_feature_names_out().tolist()
    ['good', 'day', 'bad', 'free3']
    """

    _stem = "Text"
    _kind = OfObjects()
    _passes = True

    vocabulary: Literal["growing", "hashing"] = word(
        default="growing",
        words=("growing", "hashing"),
        doc="Columns in order of arrival, or chosen by a hash.",
    )
    n_components: int = count(
        default=1 << 16, shown="65536", at_least=1, doc="Features, the columns of the output."
    )
    weighting: Literal["tfidf", "counts"] = word(
        default="tfidf",
        words=("tfidf", "counts"),
        doc="Whether words count by how rare they are, or one like the other.",
    )
    warm_up: int = count(
        default=256, at_least=1, doc='Texts that say how rare a word is, where ``after="freeze"``.'
    )
    after: Literal["freeze", "move"] = word(
        default="freeze",
        words=("freeze", "move"),
        doc="Whether the rarity of words stays after the warm-up, or is counted for ever.",
    )

    @property
    def _warm_up_rows(self) -> int:
        return self.warm_up if (self.weighting, self.after) == ("tfidf", "freeze") else 0

    @property
    def _moves(self) -> bool:
        return (self.weighting, self.after) == ("tfidf", "move")

    @property
    def _settles(self) -> bool:
        return (self.vocabulary, self.weighting) != ("hashing", "counts")

    def _read_rows(self, X: Any, *, fresh: bool, learning: bool = True) -> tuple[Rows, Columns]:
        listed = isinstance(X, list | tuple | np.ndarray) and np.ndim(X) == 1
        if listed and len(X) and isinstance(X[0], str):
            column = np.empty((len(X), 1), dtype=object)
            column[:, 0] = list(X)
            X = column
        return super()._read_rows(X, fresh=fresh, learning=learning)

    def _names_from(self, names: list[str]) -> list[str]:
        if self.vocabulary == "hashing":
            return [f"onlinetext{i}" for i in range(self.n_components)]
        met = list(self._core.known.vocabulary)
        return [*met, *(f"free{k}" for k in range(len(met), self.n_components))]
