"""Whether identifiers have to be checked one by one, from what a scan sees of them on its way."""

from __future__ import annotations

import narwhals as nw

from safeside.visits.read.dataframes import Frame
from safeside.visits.read.identifiers import FAULTY, mixed_zeros


def group_text(distinct: Frame, where: list[str]) -> Frame:
    """People, with what is needed to know whether identifiers have to be checked one by one."""
    seen = distinct.with_columns(*looks())
    return seen.group_by(where).agg(nw.len().alias("people"), *_strangest())


def looks() -> tuple[nw.Expr, ...]:
    """Of an identifier: whether it is faulty, its length, and its length if it begins with a zero."""
    person = nw.col("person")
    length = person.str.len_chars()
    return (
        nw.when(person.str.contains(FAULTY)).then(nw.lit(1)).otherwise(nw.lit(0)).alias("odd"),
        length.alias("shortest"),
        nw.when(person.str.starts_with("0")).then(length).otherwise(nw.lit(0)).alias("padded"),
    )


def _strangest() -> tuple[nw.Expr, ...]:
    return nw.col("odd").max(), nw.col("shortest").min(), nw.col("padded").max()


def any_odd(seen: Frame) -> bool:
    """Whether some identifier is faulty, or some may have lost leading zeros."""
    odd, shortest, padded = seen.select(*_strangest()).collect().row(0)
    return bool(odd) or mixed_zeros(shortest, padded or None)
