"""How the documentation is built: Markdown and docstrings in, one offline site out.

The references and the picture of the rooms are written from the code before anything is read.
"""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from tools import architecture, reference  # noqa: E402

project = "safeside"
author = "The safeside maintainers"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

add_module_names = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "safeside"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["style.css"]
exclude_patterns = ["build"]
suppress_warnings = ["myst.header"]


def setup(app: Any) -> None:
    """Write what follows from the code, and let docstrings be plain text."""
    reference.write(HERE / "reference")
    picture = architecture.svg(architecture.read(HERE.parent))
    (HERE / "reference" / "rooms.svg").write_text(picture, encoding="utf-8")
    app.connect("autodoc-process-docstring", lambda *given: reference.plain_docstring(given[-1]))
