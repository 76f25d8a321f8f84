"""Labels from people: whom to ask about what, and what to do when the answer comes."""

from .desk import LabelDesk
from .loop import LabelLoop, label_loop

__all__ = ["LabelDesk", "LabelLoop", "label_loop"]
