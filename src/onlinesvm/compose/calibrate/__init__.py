"""Probabilities from scores, learned along the stream, and sets that hold the truth."""
