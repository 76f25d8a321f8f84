"""Saved models, and writing files so that no half-written one is left."""
