"""Machines that are optimal after every example."""
