"""Rows with their labels, ids and keys, validated once."""
