"""skops: every model can be dumped with ``skops.io`` and comes back to the bit."""

from __future__ import annotations

from ..files.persistence import _classes


def trusted_types() -> list[str]:
    """What to tell ``skops.io.load`` to trust: the classes of this library, and nothing else.

    A model is dumped as the bytes of its own file, without code, and read with the same care; so
    the name of its class is all that has to be trusted. Models inside a scikit-learn pipeline too.

    Examples
    --------
    >>> from onlinesvm.interop.skops import trusted_types
    >>> "onlinesvm.methods.exact.ramp.RampSVC" in trusted_types()
    True
    """
    return sorted(f"{cls.__module__}.{cls.__qualname__}" for cls in _classes().values())
