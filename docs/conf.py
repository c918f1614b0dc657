"""The site's configuration for Sphinx: `sphinx-build -n -W --keep-going docs build/site`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from numpydoc.xref import DEFAULT_LINKS

import skde
from extensions.reference import members_of_classes, paths
from skde.algorithms import ALGORITHMS

project = "skde"
author = "The skde developers"
copyright = author
version = release = skde.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "extensions.site",
    "extensions.figures",
]
templates_path = ["templates"]
exclude_patterns = ["templates", "inventories", "**/*.ipynb", "**/*.md5", "auto_examples/**/*.py"]
nitpicky = True
default_role = "literal"  # in docstrings; extensions.site makes links of public names
toc_object_entries_show_parents = "hide"
html_math_renderer = "mathml"

# Inventories with the few names that docstrings refer to: the build needs no network.
intersphinx_mapping = {
    name: (address, f"inventories/{name}.txt")
    for name, address in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_member_order = "bysource"
# The members of classes, and the pages of algorithms, for templates/autosummary/class.rst.
autosummary_context = {
    "names": members_of_classes(),
    "algorithms": {f"skde.{kind.__name__}": name for name, kind in ALGORITHMS.items()},
}
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL08", "PR02"}  # no docstring; parameters that do not exist
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # words that are not in the aliases are no names
numpydoc_xref_aliases = {
    **{word: word for word in DEFAULT_LINKS},
    **{path: f":py:obj:`{path}`" for path in ("scipy.optimize.Bounds", "scipy.optimize.OptimizeResult")},
    **{
        path.rpartition(".")[2]: path
        for path in (
            "numpy.ndarray",
            "numpy.random.Generator",
            "numpy.random.RandomState",
            "scipy.optimize.Bounds",
            "scipy.optimize.LinearConstraint",
            "scipy.optimize.NonlinearConstraint",
            *paths(),
        )
    },
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!(.*/)?plot_)",  # scripts with command lines
    "parallel": True,
    "doc_module": ("skde",),
    "backreferences_dir": "reference/generated/backreferences",
    "reference_url": {"skde": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,  # its page loads scripts from the network
}

html_theme = "pydata_sphinx_theme"
html_title = "skde"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skde"},
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
