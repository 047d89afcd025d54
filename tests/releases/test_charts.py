"""Numbers in the figures of a report err on the safe side."""

from __future__ import annotations

import re

from safeside.releases.charts import curve


def test_no_chance_is_shown_as_more_than_it_is() -> None:
    chances = {0: 0.99996, 1: 0.6327, 2: 0.0}
    shown = re.findall(r"<title>([\d.]+)</title>", curve(chances, 1, title="t", limit="l"))
    assert shown == ["0.999", "0.632", "0.000"]


def test_labels_of_a_curve_do_not_run_into_each_other() -> None:
    """Not one of three next to the threshold and the end, which are always told."""
    chances = dict.fromkeys((*range(0, 46, 3), 46), 1.0) | {48: 0.0}
    drawn = curve(chances, 46, title="t", limit="never beyond")
    told = [int(one) for one in re.findall(r">(\d+)</text>", drawn)]
    assert 46 in told
    assert 45 not in told
    assert 'text-anchor="end">never beyond' in drawn
    assert 'text-anchor="end">never beyond' not in curve(
        {0: 1.0, 1: 0.5, 9: 0.0}, 1, title="t", limit="never beyond"
    )
