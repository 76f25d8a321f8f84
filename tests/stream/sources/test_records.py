"""Where records end: against the standard library, on text that nobody would write."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.sources.records import Lines, Quoting

texts = st.text(alphabet='ab,"\r\n é', max_size=60)


def by_csv(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


def ends(text: str) -> list[int]:
    """Where a whole record ends with a newline: no field is open there."""
    data, found = text.encode(), []
    for i, char in enumerate(data):
        if char == 10:
            probe = data[: i + 1].decode() + "?"  # within quotes it joins the field before it
            if by_csv(probe)[-1] == ["?"]:
                found.append(i + 1)
    return found


@given(texts)
def test_the_table_is_that_of_the_standard_library(text):
    data = text.encode()
    records = [data[a:b].decode() for a, b in Quoting(b",").table(data)]
    assert [by_csv(record)[0] for record in records] == by_csv(text)


@given(texts, st.integers(0, 70))
def test_cuts_fall_behind_whole_records(text, at_least):
    data, quoting = text.encode(), Quoting(b",")
    expected = ends(text)
    assert quoting.last(data) == (expected[-1] if expected else 0)
    assert quoting.cut(data, at_least) == next((e for e in expected if e >= at_least and e), -1)


def test_a_quote_within_a_field_is_a_character():
    data = b'5" pipe,1\n6" pipe,2\n'
    assert Quoting(b",").cut(data, 1) == 10


def test_other_separators_open_fields():
    assert Quoting(b";").last(b'a;"b\nc') == 0
    assert Quoting(b"|").last(b'a;"b\nc') == 5


def test_lines_are_lines_whatever_they_contain():
    data = b'{"a": "\n \n"}\n'
    assert Lines().last(data) == len(data)
    assert Lines().cut(data, 9) == 10
    assert Lines().table(data) == [(0, 7), (10, 12)]
