"""What every test shares: a terminal of one width, so that tables break lines in one place."""

from __future__ import annotations

import os

os.environ["COLUMNS"] = "120"
