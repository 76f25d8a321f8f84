"""Labels from people: whom to ask about what, and what to do when the answer comes."""

from .desk import LabelDesk

__all__ = ["LabelDesk"]
