"""Visited places that are not listed, but look like a listed place written in another way.

Two rules on normalised identifiers. *Same form*: only capitals, blanks, accents, separators, quotes, leading
zeros or a trailing `.0` differ. *Same with a prefix or suffix* (`fsq-12` for `12`), unless that may be
chance: for short numbers and for words the addition must be frequent. Numbered homes (`home-0017` beside
`17`) are neither.

A finding may stop the work and never merges two places: the curator decides.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from safeside.visits.places.venues import is_home

_NOTHING: Final = r"[\p{Cf}\u0300-\u036f'\"`´‘’“”]+"
"""Zero-width characters, accents and quotes."""
_SEPARATORS: Final = r"[\s\p{Pd}_:/.#|\\,;]+"
_WITH_SEPARATOR: Final = (
    r"^(?<added>[^-]+-)(?<core>.+)$",
    r"^(?<added>.+-)(?<core>[^-]+)$",
    r"^(?<core>.+)(?<added>-[^-]+)$",
    r"^(?<core>[^-]+)(?<added>-.+)$",
)
_WITHOUT: Final = (r"^(?<added>[^\d-]+)(?<core>\d[^-]*)$", r"^(?<core>\d+)(?<added>[^\d-]+)$")
"""Letters before a number, or after it."""
_SHORT_NUMBER: Final = r"^\d{1,4}$"
_OF_LISTED: Final = 10
_OF_OTHERS: Final = 20
_HALF: Final = 2
_FEW: Final = 3
_NONE: Final = pl.DataFrame(schema={"other": pl.String, "listed": pl.String})


def resembling(others: pl.Series, listed: pl.Series) -> pl.DataFrame:
    """Identifiers that look like a listed one: columns `other`, sorted and distinct, and `listed`."""
    other, known = _forms(others, "other"), _forms(listed, "listed")
    same = other.join(known, on="squeezed", how="inner")
    pairs = [same.select("other", "listed")]
    for patterns, certain in ((_WITH_SEPARATOR, True), (_WITHOUT, False)):
        for pattern in patterns:
            pairs.append(_with_addition(other, known, pattern, certain=certain))
            pairs.append(_with_addition(known, other, pattern, certain=certain))
    return pl.concat(pairs).unique("other", keep="first", maintain_order=True).sort("other")


def _forms(names: pl.Series, called: str) -> pl.DataFrame:
    """Each identifier, its normalised `form`, that without separators around letters (`squeezed`), and
    whether it is `in_words`.
    """
    bare = pl.col(called).str.normalize("NFKD").str.replace_all(_NOTHING, "").str.strip_chars()
    form = bare.str.to_lowercase().str.replace_all("ß", "ss", literal=True)
    form = form.str.replace(r"(\d)[.,]0*$", "$1").str.replace_all(_SEPARATORS, "-").str.strip_chars("-")
    form = form.str.replace_all(r"(^|-)0+([^-])", "$1$2").str.replace_all(r"(\D)0+(\d)", "$1$2")
    squeezed = form.str.replace_all(r"(\p{L})-", "$1").str.replace_all(r"-(\p{L})", "$1")
    forms = pl.DataFrame({called: names.cast(pl.String)}).with_columns(
        form.alias("form"), squeezed.alias("squeezed"), bare.str.contains(r"\s").alias("in_words")
    )
    return forms.filter(pl.col("form") != "")


def _with_addition(
    longer: pl.DataFrame, shorter: pl.DataFrame, pattern: str, *, certain: bool
) -> pl.DataFrame:
    """Pairs in which the longer is the shorter with a prefix or suffix, unless that may be chance.

    With a separator one pair is enough; of short numbers at least half of those with that addition must pair,
    of names in words without digits two. Without a separator the same holds where there are few additions
    (codes of letters and digits have many). A tenth of the list, or a twentieth of the others, with one
    addition is never chance.
    """
    split = longer.with_columns(pl.col("form").str.extract_groups(pattern)).unnest("form").drop_nulls("core")
    pairs = split.join(shorter.rename({"form": "core"}).drop("squeezed", "in_words"), on="core")
    additions = [added for added in pairs["added"].unique() if not is_home(added)]
    if not additions:
        return _NONE
    sizes = len(longer), len(shorter)
    listed, others = sizes if "listed" in longer.columns else reversed(sizes)
    so_added = split.group_by("added").len("so added")
    pairs = pairs.filter(pl.col("added").is_in(additions)).join(so_added, on="added")
    hits = pl.len().over("added")
    mostly = hits * _HALF >= pl.col("so added")
    if certain:
        core = pl.col("core").str
        one_enough = ~pl.col("in_words") & ~core.contains(_SHORT_NUMBER) | mostly & core.contains(r"\d")
        usual = mostly
    else:
        one_enough = mostly & pl.lit(len(so_added) <= _FEW)
        usual = pl.lit(value=False)
    usual = usual | (hits * _OF_LISTED >= listed) | (hits * _OF_OTHERS >= others)
    several = (hits >= min(2, listed)) & usual
    return pairs.filter(one_enough | several).select("other", "listed")
