"""Keep the words for readers few and plain: counts, and phrases that this project does not use.

    python tools/prose.py

The README and docs/ must stay below their bounds and free of the phrases; in src/ they are counted.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README_LINES, README_WORDS, DOCS_WORDS = 120, 900, 32_000

# Private words, riddles and code that is spoken of as a person; what to write: the usual word.
BANNED = [
    "somebody|whoever|nobody|a stranger",
    "hear of|hears|heard|is told|are told|was told|were told|told by|tells|tell every",
    "bears|borne|minds|rings|ringing|overtakes|knows nothing",
    "brought|brings|bring back",
    "for ever|at one stroke|the print|the label before|put aside|puts aside|lets go|let go of",
    "anew|the house|twin|its box|the box|leave one machine late|slip of the pen",
    "remarkably few words|what it cannot say|gives way|give way",
    "as ever|in words:|neither knows|who goes|who joins|joins them|who can",
]
PHRASES = re.compile(rf"\b({'|'.join(BANNED)})\b", re.IGNORECASE)


def prose(page: str) -> str:
    """The text of a page without tables, code, formulas, generated parts and addresses."""
    page = re.sub(r"<!-- [a-z]+:? ?\w* -->.*?<!-- end -->", "", page, flags=re.DOTALL)
    page = re.sub(r"^(```|~~~).*?^\1$", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"\$\$.*?\$\$|<!--.*?-->", "", page, flags=re.DOTALL)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    return "\n".join(line for line in page.splitlines() if not line.startswith(("|", ":::")))


def uses(path: Path, text: str) -> list[str]:
    place = path.relative_to(ROOT)
    plain = re.sub(r"`[^`]*`", lambda m: " " * len(m[0]), text)
    return [f"{place}: {found[0]!r}" for found in PHRASES.finditer(plain)]


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    pages = {p: prose(p.read_text(encoding="utf-8")) for p in sorted((ROOT / "docs").rglob("*.md"))}
    words = sum(len(page.split()) for page in pages.values())
    counts = [
        ("README lines", len(text.splitlines()), README_LINES),
        ("README words", len(text.split()), README_WORDS),
        ("docs, words of prose", words, DOCS_WORDS),
    ]
    for name, count, bound in counts:
        print(f"{name:22} {count:>6,} of {bound:,}")
    banned = uses(readme, text) + [use for path, page in pages.items() for use in uses(path, page)]
    print("\n".join(f"not plain English: {use}" for use in banned))
    source = [u for p in (ROOT / "src").rglob("*.py") for u in uses(p, p.read_text("utf-8"))]
    print(f"banned phrases in src  {len(source):>6,}")
    return 1 if banned or any(count > bound for _, count, bound in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
