"""Hooks of the documentation site: what its pages need that Markdown and docstrings do not bring.

Formulas become MathML, which browsers draw by themselves; nothing is fetched from elsewhere.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

# What pymdownx.arithmatex leaves behind for a script to find; no script is needed.
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
# Docstrings speak to Sphinx, too: a role is a name, and an attribute's "type" may be all its text.
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>~?([^<]+)</code>")
TEXT_AS_TYPE = re.compile(
    r'\(<code>([^<]*)</code>\)\s*–\s*<div class="doc-md-description">\s*</div>'
)
QUOTED = re.compile(r"``([^`]+)``")
# The theme would fetch what lets search work in pages opened from disk; ours is search.js.
FETCHED = "https://unpkg.com/iframe-worker/shim"


def on_config(config: Any) -> None:
    """Put a page that nobody placed at the end of the last section, rather than nowhere."""
    docs = Path(config.docs_dir)
    placed = set(re.findall(r"[\w/-]+\.md", repr(config.nav)))
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    (last,) = config.nav[-1].values()
    last.extend(sorted(pages - placed))


def on_page_content(text: str, **_: Any) -> str:
    """Write every formula of a page as MathML, and docstrings in plain words."""
    text = INLINE.sub(lambda found: convert(html.unescape(found[1])), text)
    text = DISPLAY.sub(
        lambda found: f'<div class="formula">{convert(html.unescape(found[1]), "block")}</div>',
        text,
    )
    text = ROLE.sub(r"<code>\1</code>", text)
    return TEXT_AS_TYPE.sub(lambda found: ": " + QUOTED.sub(r"<code>\1</code>", found[1]), text)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Let search work from disk without asking the net."""
    return output.replace(FETCHED, "../" * page.url.count("/") + "search.js")


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The same for the pages without a source."""
    return output_content.replace(FETCHED, "../" * template_name.count("/") + "search.js")
