"""Visited places that are not listed, and look like listed ones that somebody wrote in another way.

Two rules, on forms that forget what exports change on the way. An identifier is *the same but for its form*
where only capitals, blanks, accents' encoding, separators, quotes, leading zeros or a `.0` differ. And it is
*the same with something before or after it* (`fsq-12` for `12`) where the same addition occurs so often that
it is no chance. Homes that are numbered in their own way, `home-0017` beside `v0017`, are neither.

What is found here may stop the work, and never joins two places: the curator says which they are.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from safeside.visits.room import is_home

_SEPARATORS: Final = r"[\s_\-:/.#|\\,;]+"
_WITH_SEPARATOR: Final = (
    r"^(?<added>[^-]+-)(?<core>.+)$",
    r"^(?<added>.+-)(?<core>[^-]+)$",
    r"^(?<core>.+)(?<added>-[^-]+)$",
    r"^(?<core>[^-]+)(?<added>-.+)$",
)
_WITHOUT: Final = (r"^(?<added>[^\d-]+)(?<core>\d[^-]*)$", r"^(?<core>\d+)(?<added>[^\d-]+)$")
"""Letters before a number, or after it."""
_OF_LISTED: Final = 10
_OF_OTHERS: Final = 20
_HALF: Final = 2
_NONE: Final = pl.DataFrame(schema={"other": pl.String, "listed": pl.String})


def resembling(others: pl.Series, listed: pl.Series) -> pl.DataFrame:
    """Those of the other identifiers that look like a listed one, as `other`, with one of these as `listed`;
    in order, each once.
    """
    other, known = _forms(others, "other"), _forms(listed, "listed")
    same = other.join(known, on="form", how="inner")
    pairs = [same.select("other", "listed")]
    for patterns, certain in ((_WITH_SEPARATOR, True), (_WITHOUT, False)):
        for pattern in patterns:
            pairs.append(_with_addition(other, known, pattern, certain=certain))
            pairs.append(_with_addition(known, other, pattern, certain=certain))
    return pl.concat(pairs).unique("other", keep="first", maintain_order=True).sort("other")


def _forms(names: pl.Series, called: str) -> pl.DataFrame:
    """Each identifier, and what is left of it when what exports change is forgotten."""
    name = pl.col(called)
    form = name.str.normalize("NFKC").str.strip_chars().str.strip_chars("\"'").str.strip_chars()
    form = (
        form.str.to_lowercase().str.replace_all("ß", "ss", literal=True).str.replace(r"^(\d+)[.,]0*$", "$1")
    )
    form = _without_zeros(form.str.replace_all(_SEPARATORS, "-"))
    return pl.DataFrame({called: names.cast(pl.String)}).with_columns(form.alias("form"))


def _without_zeros(form: pl.Expr) -> pl.Expr:
    return form.str.replace(r"^0+", "")


def _with_addition(
    longer: pl.DataFrame, shorter: pl.DataFrame, pattern: str, *, certain: bool
) -> pl.DataFrame:
    """Pairs of which the longer is the shorter with an addition that is no chance.

    With a separator between them, one identifier with digits is enough, or two of names, if at least half of
    those with that addition are such pairs. In any case it is no chance that a tenth of the list, or a
    twentieth of the others, comes with one addition.
    """
    split = longer.with_columns(pl.col("form").str.extract_groups(pattern)).unnest("form").drop_nulls("core")
    if split.is_empty():
        return _NONE
    pairs = split.with_columns(_without_zeros(pl.col("core"))).join(shorter, left_on="core", right_on="form")
    additions = [added for added in pairs["added"].unique() if not is_home(added)]
    if not additions:
        return _NONE
    listed, others = (
        (len(longer), len(shorter)) if "listed" in longer.columns else (len(shorter), len(longer))
    )
    pairs = pairs.filter(pl.col("added").is_in(additions))
    hits = pl.len().over("added")
    few = pl.when(pl.col("core").str.contains(r"\d") & certain).then(1).otherwise(min(2, listed))
    usual = (hits * _OF_LISTED >= listed) | (hits * _OF_OTHERS >= others)
    if certain:
        so_added = split.filter(pl.col("added").is_in(additions)).group_by("added").len("so added")
        pairs = pairs.join(so_added, on="added")
        usual = usual | (hits * _HALF >= pl.col("so added"))
    return pairs.filter((hits >= few) & usual).select("other", "listed")
