"""The documentation site: `make docs`. Nothing is fetched while it is built or read."""

import subprocess
import sys
from pathlib import Path

import onlinesvm

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "onlinesvm"
author = "The onlinesvm authors"
copyright = "The onlinesvm authors, BSD-3-Clause"
version = release = onlinesvm.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "reference",
]
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst"]
templates_path = []
root_doc = "index"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
suppress_warnings = ["config.cache", "ref.python"]  # a word may name several attributes

autodoc_typehints = "none"  # numpydoc writes types
autodoc_member_order = "bysource"
toc_object_entries = False
autosummary_generate = False
autodoc_mock_imports = ["pyspark", "ray", "dask", "distributed"]
numpydoc_show_class_members = False
default_role = "code"

copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "api/examples",
    "doc_module": ("onlinesvm",),
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"demo\.py$",  # what `make demo` runs
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
}

html_title = "onlinesvm"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
# The repository is wherever this checkout was cloned from.
origin = subprocess.run(
    ["git", "remote", "get-url", "origin"], capture_output=True, text=True, cwd=ROOT
).stdout.strip()
repository = [{"name": "Repository", "url": origin, "icon": "fa-solid fa-code-branch"}]
html_theme_options = {
    "icon_links": repository if origin.startswith("https://") else [],
    "logo": {"text": "onlinesvm"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}
