"""How a page looks: on a screen light or dark, on a phone, on paper."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #222222; --soft: #666666; --grid: #e5e5e5;
  --right: #56b4e9; --wrong: #e69f00 }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e8e8e8; --soft: #a0a4aa; --grid: #33373d;
    --right: #0072b2; --wrong: #b35c00 }
}
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.45 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: .5rem 0; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: 0 0 .3rem; overflow-wrap: anywhere }
p, small, dt { color: var(--soft) }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem;
  margin: 0 0 1rem }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid var(--grid);
  vertical-align: baseline }
tr:first-child th { vertical-align: bottom }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper);
  min-width: 6.4rem }
.words th, .words td { text-align: left; font-weight: normal }
.words table + table, .words + .words { margin-top: .8rem }
td[style] { padding-left: .8rem }
tr.baseline { color: var(--soft) }
small { display: block; font-size: .75em }
code { font-size: .85em; overflow-wrap: anywhere }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1.5rem; margin-top: 1.5rem }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; margin: 1.5rem 0 0; padding: 0;
  list-style: none }
.legend i { display: inline-block; width: 2rem; margin-right: .5rem; vertical-align: middle }
section { break-inside: avoid; min-width: 0 }
section.full { grid-column: 1 / -1 }
svg { width: 100%; height: auto; display: block }
svg text { font-family: system-ui, sans-serif !important }
.card { background: #ffffff; color: #222222; border-radius: .4rem; max-width: 40rem }
.card img { width: 100%; display: block }
@media (max-width: 40rem) {
  th:first-child { max-width: 8.5rem; overflow-wrap: anywhere }
}
@media print {
  :root { color-scheme: light; --paper: #ffffff; --ink: #222222; --soft: #555555; --grid: #e5e5e5;
    --right: #56b4e9; --wrong: #e69f00; print-color-adjust: exact }
  body { max-width: none; padding: 0; font-size: 10pt }
  main { grid-template-columns: 1fr 1fr }
  table { font-size: 7pt }
  th, td { padding: .15rem .4rem .15rem 0 }
  .wide { overflow: visible }
}
"""
