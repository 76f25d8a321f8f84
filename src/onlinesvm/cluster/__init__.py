"""Learning from parts of a data set that lie on several machines.

Nothing here knows Spark, Dask or Ray. A cluster is a :class:`Parts`: so many parts, and two verbs.

``parts.map(function, shared)``
    Calls ``function(part, shared)`` once for every part, wherever it lies, and returns the results
    in the order of the parts. ``part`` is a :class:`Part` whose ``number`` is its place, from 0 to
    ``len(parts) - 1``: the same rows in the same order at every call.
``parts.run(function, items)``
    Calls ``function(item)`` for every item, on any machine, and returns the results in order. What
    needs no part: merging two sets of support vectors, for one. By default it runs where the caller
    is.

The contract of an adapter:

- ``function`` is a module-level function or a picklable object, ``shared`` and ``items`` pickle;
  pickle, cloudpickle and a broadcast variable all do. ``shared`` may be large (the support vectors
  of the whole): send it once per machine, not once per part, where that is possible.
- ``function`` is deterministic and has no side effects, so it may be run again after a machine is
  lost, or twice at once: whichever result comes, it has the same bits. No state lives on a machine
  between two calls; a part that was lost is read again.
- An empty part is called, too: ``X`` of shape (0, d) for any d.
- An error that ``function`` raises comes out of ``map``, in whatever wrapping.

A :class:`Part` has ``X`` (a 2-D array of float32 or float64, or a scipy CSR array), ``y`` (a 1-D
array of labels), and perhaps ``sample_weight`` (floats >= 0), ``keys`` (a list or array of whom
each row belongs to, as :meth:`~onlinesvm.SmoSVC.partial_fit` takes them) and ``ids`` (int64,
distinct over all parts). Where no ids are given, row ``i`` of part ``p`` has the id ``i`` plus the
rows of all parts before ``p``: what one machine would call it that got the parts in order.

On top of it:

:func:`fit`
    ``fit(parts, model) -> Learned``: picks one of the three by the class of ``model``.
:func:`cascade`
    Exact kernel machines (``SmoSVC``, ``IncrementalSVC``): the model of one machine within ``tol``,
    and a :class:`ClusterCertificate` that says so of every row of every part.
:func:`average`
    Linear methods by iterative averaging.
:func:`merge_balls`
    ``StreamSVC`` by its own ``merge``, in a tree, with its radius bound.
:func:`fit_by_key`
    ``fit_by_key(parts, model) -> Learned``: a model for each key, in one ``ModelBank``; the rows of
    a key lie in one part, as :func:`deal_by_key` deals them.
:func:`unlearn`
    ``unlearn(parts, model, keys) -> Learned``: the rows of these keys leave, the cascade goes on.
:func:`verify`
    ``verify(certificate, model, parts)``: checks a certificate against the rows, in one round.

:class:`Learned` has ``model``, an ordinary fitted estimator of the class given (save it, predict
with it, go on learning with it), ``certificate`` (None but of exact machines), ``rounds``,
``bytes_down`` and ``bytes_up``. A model given to any of these verbs is not changed.
"""

from .averaging import average as average
from .balls import merge_balls as merge_balls
from .by_key import deal_by_key as deal_by_key
from .by_key import fit_by_key as fit_by_key
from .cascade import cascade as cascade
from .certificate import ClusterCertificate as ClusterCertificate
from .fitting import fit as fit
from .learned import Learned as Learned
from .parts import LocalParts as LocalParts
from .parts import Part as Part
from .parts import Parts as Parts
from .processes import ProcessParts as ProcessParts
from .unlearning import unlearn as unlearn
from .unlearning import verify as verify
