"""Our estimators as other libraries know them; each face needs its library installed."""
