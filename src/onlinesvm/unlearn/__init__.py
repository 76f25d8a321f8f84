"""Removing rows, and certificates that say what their removal covers."""
