"""Thousands to millions of small models, one for each key."""
