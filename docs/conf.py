"""How the documentation is built: Markdown in, one offline site out."""

project = "safeside"
author = "The safeside maintainers"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "safeside"
html_show_copyright = False
html_static_path: list[str] = []
exclude_patterns = ["build"]
suppress_warnings = ["myst.header"]
