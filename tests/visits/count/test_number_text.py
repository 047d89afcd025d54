"""Numbers written as text: read where they are written in one way, and never two texts as one number."""

from __future__ import annotations

import re
from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safeside.visits.count.packing import NumberText, number_text
from safeside.visits.read.identifiers import fault, mixed_zeros

ALPHABET = "019pP+-. eE_:/,\t\n\0x١１²é"
SPELLINGS = [
    NumberText(prefix=prefix, width=width) for prefix in ("", "p", "pé-", "p1 ") for width in (None, 1, 2, 3)
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
def test_no_two_texts_are_read_as_one_number(spelling: NumberText) -> None:
    """Every text of up to four such characters, after the prefix and without it."""
    ends = ["".join(some) for length in range(5) for some in product(ALPHABET, repeat=length)]
    texts = pl.Series("text", [*ends, *(spelling.prefix + end for end in ends)]).unique()
    read = texts.to_frame().select("text", spelling.number(pl.col("text")).alias("number"))
    digits = "(?:0|[1-9][0-9]*)"
    if spelling.width is not None:
        digits = f"(?:[0-9]{{{spelling.width}}}|[1-9][0-9]{{{spelling.width},}})"
    meant = re.compile(re.escape(spelling.prefix) + digits)
    for text, number in read.rows():
        assert (number is not None) == bool(meant.fullmatch(text))
        assert number is None or spelling.text(number) == text


@pytest.mark.parametrize(
    ("texts", "spelling"),
    [
        (["1", "0", "20"], NumberText(prefix="", width=None)),
        (["007", "100"], NumberText(prefix="", width=3)),
        (["100", "007"], NumberText(prefix="", width=3)),
        (["p1", "p10", "p0"], NumberText(prefix="p", width=None)),
        (["p1000", "p007", "p100"], NumberText(prefix="p", width=3)),
        (["p007", "p0100"], None),
        (["visit 2020-001", "visit 2020-999"], NumberText(prefix="visit 2020-", width=3)),
        (["1", "01"], None),
        (["p1", "q2"], None),
        (["p1", "p"], None),
        (["p1", None], None),
        ([None, "p1"], None),
        (["1e5"], None),
        (["1.0"], None),
        (["-1"], None),
        (["é1"], None),
        (["99999999999999999999"], None),
        ([], None),
    ],
)
def test_how_texts_are_written(texts: list[str | None], spelling: NumberText | None) -> None:
    found = number_text(pl.Series(texts, dtype=pl.String))
    assert (None if found is None else found[0]) == spelling
    if found is not None:
        assert [found[0].text(number) for number in found[1].tolist()] == texts


def test_a_sample_of_texts_of_one_length_allows_for_others_with_zeros_in_front() -> None:
    """A log in the order of time may begin with people whose numbers are all large."""
    for texts, width in ((["p412", "p900"], 3), (["p9", "p900"], None)):
        found = number_text(pl.Series(texts), sample=True)
        assert found is not None
        assert found[0] == NumberText(prefix="p", width=width)
    assert number_text(pl.Series(["412", "900"])) == (
        NumberText(prefix="", width=None),
        pytest.approx([412, 900]),
    )


@given(
    st.from_regex(r"[0-9+a-zA-Z#]{0,3}[.eE+-]?", fullmatch=True),
    st.lists(st.from_regex(r"[0-9]{1,3}", fullmatch=True), min_size=1),
)
def test_what_is_read_as_numbers_never_looks_merged(prefix: str, numbers: list[str]) -> None:
    """So that it need not be asked."""
    texts = [prefix + number for number in numbers]
    if number_text(pl.Series(texts)) is None:
        return
    assert not any(fault(text) for text in texts)
    padded = [len(text) for text in texts if text.startswith("0") and text != "0"]
    assert not mixed_zeros(min(map(len, texts)), max(padded, default=None))
