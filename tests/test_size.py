"""What `tools/size.py` takes for a function, and what it lets pass."""

from __future__ import annotations

import runpy
from pathlib import Path

SIZE = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "size.py"))
PYTHON = '''class A:
    def short(self):
        """Two
        lines."""
        return 1

    async def long(
        self,
    ):
        return 2
'''
CPP = """struct A {
    void declared(int a,
                  int b);  // a comment
    int one() const { return 1; }
    template <class T>
    void several(const T& x) {  // another
        if (x) {
            go();
        }
    }
    A(int a)
        : a(a) {
        go();
    }
};
"""


def test_functions_are_found_with_their_lines():
    functions = SIZE["functions"]
    assert list(functions("a.py", PYTHON.splitlines())) == [("short", 2, 2), ("long", 7, 4)]
    assert list(functions("a.hpp", CPP.splitlines())) == [("several", 6, 5), ("A", 11, 4)]


def test_a_reason_in_the_first_line_excuses_length():
    body = ["x = 1"] * 400
    tree = {"src/a.py": body, "src/b.py": ["# long: one table", *body], "tests/c.py": body}
    assert list(SIZE["long_ones"](tree)) == ["src/a.py: 400 lines"]
