"""Formulas as MathML, which browsers draw by themselves."""

from docutils import nodes
from latex2mathml.converter import convert


def formula(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed_formula(translator, node):
    translator.body.append(f'<div class="formula">{convert(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (formula, None), (displayed_formula, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
