"""Numbers in the figures of a report err on the safe side."""

from __future__ import annotations

import re

from safeside.releases.charts import curve


def test_no_chance_is_shown_as_more_than_it_is() -> None:
    chances = {0: 0.99996, 1: 0.6327, 2: 0.0}
    shown = re.findall(r"<title>([\d.]+)</title>", curve(chances, 1, title="t", limit="l"))
    assert shown == ["0.999", "0.632", "0.000"]
