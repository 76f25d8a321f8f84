"""Preparation that learns from the same stream as the model behind it."""
