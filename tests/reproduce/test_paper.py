"""Verdicts by their rule, and what a paper shows on its page."""

import pytest


@pytest.fixture
def verdict(checkout):
    import reproduce.verdict

    return reproduce.verdict


@pytest.mark.parametrize(
    ("ours", "word"),
    [(84.3, "met"), (84.7, "met"), (84.29, "short"), (84.71, "better"), (84.5, "met")],
)
def test_an_accuracy_is_met_within_one_deviation(verdict, ours, word):
    assert verdict.Printed.accuracy(84.5, 0.2).beside(ours) == word


def test_no_deviation_leaves_the_rounding_of_the_printed_digit(verdict):
    printed = verdict.Printed.accuracy(97.1, 0.0)
    assert [printed.beside(ours) for ours in (97.06, 97.04, 97.16)] == ["met", "short", "better"]


def test_fewer_is_better_for_counts_and_a_tenth_is_met(verdict):
    printed = verdict.Printed.count(1000, 20)
    assert [printed.beside(n) for n in (1100, 1101, 900, 899)] == ["met", "short", "met", "better"]
    assert verdict.Printed.count(1000, 200).beside(1150) == "met"
    assert verdict.Printed.error(1.0, 0.1).beside(0.8) == "better"


def test_the_mean_of_the_runs_is_judged(verdict):
    one = verdict.Verdict.of("table 1", "Adult", verdict.Printed.accuracy(84.5, 0.2), [84.0, 85.0])
    assert (one.word, one.ours, one.printed) == ("met", "84.50 ± 0.50", "84.5 ± 0.2")
    none = verdict.Verdict.of("table 1", "Adult", verdict.Printed.accuracy(84.5, 0.2), [])
    assert none.word == "not measured yet"


PAGE = """# Try

<!-- reproduce: table_1 -->
old
<!-- end -->

<!-- reproduce: table_2 -->
kept
<!-- end -->
"""


def table_1(journal):
    from reproduce.paper import Shown
    from reproduce.verdict import Printed, Verdict

    return Shown(
        "| new |",
        verdicts=[
            Verdict.of("table 1", "error", Printed.error(1.0, 0.1), [2.0], "too few rows"),
            Verdict.claim("table 1", "sparser", "yes", "yes", True),
            Verdict.impossible("table 1", "seconds", "12", "another machine"),
        ],
    )


@pytest.fixture
def paper(checkout):
    from reproduce.paper import Paper

    return Paper("try", "Try", "try.md", (table_1,))


def test_a_page_is_written_between_its_marks(paper, tmp_path):
    from reproduce.paper import write

    (tmp_path / "papers").mkdir()
    page = tmp_path / "papers" / "try.md"
    page.write_text(PAGE)
    assert write(paper, table_1, table_1(None), docs=tmp_path) == [page]
    assert page.read_text() == PAGE.replace("old", "\n| new |\n")


def test_a_picture_is_linked_where_there_is_one(paper, tmp_path):
    from onlinesvm.report.style import figure
    from reproduce.paper import Shown, write

    for folder in ("papers", "images"):
        (tmp_path / folder).mkdir()
    page = tmp_path / "papers" / "try.md"
    page.write_text(PAGE)
    shown = Shown("words", figure(figsize=(1, 1)), alt="a curve")
    assert write(paper, table_1, shown, docs=tmp_path)[0].stat().st_size > 0
    assert "![a curve](../images/try-table-1.png)\n\nwords" in page.read_text()


def test_verdicts_are_counted_and_what_fell_short_is_listed(paper):
    from reproduce.paper import verdict_page

    bodies = verdict_page([paper], lambda name: None)
    assert "| [Try](try.md) | table 1 | 1 |  |  | 1 |  | 1 |  |" in bodies["counted"]
    assert "| all |  | 1 |  |  | 1 |  | 1 |  |" in bodies["counted"]
    assert "| short | too few rows |" in bodies["short"]
    assert "| cannot be repeated | another machine |" in bodies["short"]
    assert "sparser" not in bodies["short"]


@pytest.mark.parametrize("word", ["table_1", "table-1", "Table1"])
def test_an_exhibit_is_found_by_its_name(paper, word):
    assert paper.find(word) is table_1


def test_an_unknown_exhibit_is_refused_in_one_line(paper):
    with pytest.raises(ValueError, match="try has no 'figure_9'; known: table_1"):
        paper.find("figure_9")


def test_an_unknown_paper_is_refused(checkout, capsys):
    from reproduce.__main__ import main

    assert main(["nobody"]) == 2
    assert "unknown paper 'nobody'; known: " in capsys.readouterr().err
    assert main([]) == 0
    assert "papers: " in capsys.readouterr().out
