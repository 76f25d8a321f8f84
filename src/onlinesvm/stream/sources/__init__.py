"""Streams of rows: files of many formats, folders, databases, brokers, standard input."""

from onlinesvm.stream.sources.frame import Frame
from onlinesvm.stream.sources.opening import open_source
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import BadRow, Block, Examples, Place, Source

__all__ = [
    "BadRow",
    "Block",
    "Column",
    "Examples",
    "Frame",
    "Place",
    "Schema",
    "Source",
    "open_source",
]
