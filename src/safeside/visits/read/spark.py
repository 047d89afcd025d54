"""Spark: text compared byte by byte, and answers that come to the driver whole or not at all.

Spark runs tasks again when they fail, twice when they are slow, and once more when an executor is lost with
what it had made. None of that may show in a count. So an answer comes in batches that were sorted where they
were made; the driver sees that each is in order, that no key comes twice, and that there are as many rows as
the executors counted on the way. Batches that have arrived are all the driver holds: one row for each place
visited, which is as much as it holds of the list anyway, and never more than `spark.driver.maxResultSize`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import polars as pl

from safeside.errors import BadFile
from safeside.visits.read.identifiers import sql_bytes_as_text

_COUNTED: Final = "rows that left the executors"
_BYTES: Final = "UTF8_BINARY"
_NOTED: Final = "_enable_debugging_cache"


@contextmanager
def in_few_calls() -> Iterator[None]:
    """Have PySpark not note which line made each expression.

    It does so for its error messages, with ten calls to Java for each expression, and its documentation
    warns of the cost. Those lines would be ours or those of narwhals, and its messages are not shown anyway.
    Afterwards PySpark asks its session again whether to note lines.
    """
    notes = sys.modules.get("pyspark.errors.utils")
    if not hasattr(notes, _NOTED):
        yield
        return
    setattr(notes, _NOTED, False)
    try:
        yield
    finally:
        setattr(notes, _NOTED, None)


@in_few_calls()
def count_rows(frame: Any, key: str, name: str) -> Any:
    """How many rows there are for each value of the key: said in few words, each being a call to Java."""
    from pyspark.sql import functions

    return frame.groupBy(key).agg(functions.expr(f"count(1) AS {name}"))


def bring_home(answer: Any, key: str | None) -> pl.DataFrame:
    """The rows of a PySpark dataframe, sorted by `key`, in which no value comes twice."""
    from pyspark.sql import functions

    with in_few_calls():
        if key is not None:
            answer = answer.sortWithinPartitions(key)
        counted = answer.observe(_COUNTED, functions.expr("count(1)"))
    try:
        table = counted.toArrow()
    except EOFError:  # the driver's own machinery went away in the middle of the delivery
        raise not_what_was_counted() from None
    # Read where Spark keeps it: an Observation would wait, for ever, for an event that a busy driver drops.
    rows = counted._jdf.queryExecution().observedMetrics().apply(_COUNTED).getLong(0)
    empty = pl.DataFrame(table.schema.empty_table())
    return gather(empty, (pl.DataFrame(batch) for batch in table.to_batches()), key, rows)


def gather(empty: pl.DataFrame, batches: Iterable[pl.DataFrame], key: str | None, rows: int) -> pl.DataFrame:
    """All batches as one frame in order of the key, or a refusal: none missing, none twice, none mixed up."""
    arrived = [empty]
    for batch in batches:
        if key is not None and not rising(batch[key]):
            raise not_what_was_counted()
        arrived.append(batch)
    whole = pl.concat(arrived)
    if whole.height != rows:
        raise not_what_was_counted()
    if key is not None:
        whole = whole.sort(key)
        if not rising(whole[key]):
            raise not_what_was_counted()
    return whole


def rising(values: pl.Series) -> bool:
    """Whether each value is greater than the one before; a missing one comes first, and once."""
    known = values.drop_nulls()
    if values.null_count() > 1 or (values.null_count() and values[0] is not None):
        return False
    return bool((known[1:] > known[:-1]).all())


def not_what_was_counted() -> BadFile:
    """What is said when an answer is not whole."""
    return BadFile(
        "What was delivered is not what was counted: rows are missing, twice or out of order.",
        "Count again once nothing writes to the data; if it happens again, report it.",
    )


def byte_by_byte(visits: Any) -> Any:
    """The dataframe without collations, under which Spark takes two people for one (UTF8_LCASE: ana, ANA),
    and with bytes as text.
    """
    from pyspark.sql import functions

    fields = visits.schema.fields
    collated = [f.name for f in fields if getattr(f.dataType, "collation", _BYTES) != _BYTES]
    plain = {name: functions.collate(functions.col(name), _BYTES) for name in collated}
    for name in (f.name for f in fields if f.dataType.typeName() == "binary"):
        plain[name] = functions.expr(sql_bytes_as_text(f"`{name}`", spark=True))
    return visits.withColumns(plain) if plain else visits
