"""What there are words for in Spark's SQL, and what there are none for. That they mean the same as what
narwhals asks is tested on Spark itself.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import narwhals as nw
import pytest
from safeside.visits.sparksql import in_words

AT = datetime(2024, 3, 3, 0, 0, 0, 1, tzinfo=timezone(timedelta(hours=9)))
a = nw.col("a")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (a, "`a`"),
        (a < AT, "(`a` < TIMESTAMP_LTZ'2024-03-02 15:00:00.000001Z')"),
        (a >= nw.lit(datetime(1900, 1, 1, tzinfo=UTC)), "(`a` >= TIMESTAMP_LTZ'1900-01-01 00:00:00Z')"),
        (a > nw.lit(date(2024, 3, 3), dtype=nw.Date()), "(`a` > DATE'2024-03-03')"),
        (
            a <= nw.lit("2024-03-03 00:00:00").cast(nw.Datetime("us")),
            "(`a` <= CAST('2024-03-03 00:00:00' AS TIMESTAMP_NTZ))",
        ),
        (a == 2**63 - 1, "(`a` = 9223372036854775807)"),
        (a != "", "(`a` != '')"),
        (a == b"\x0a", "(`a` = X'0a')"),
        (~(a.is_null() | nw.col("b")), "(NOT ((`a` IS NULL) OR `b`))"),
        (a & nw.lit(True), "(`a` AND TRUE)"),
        (a.is_in(("STAY", "MOVE")), "(`a` IN ('STAY', 'MOVE'))"),
        (nw.when(a).then(nw.col("b")).alias("c"), "CASE WHEN (`a`) THEN `b` END AS `c`"),
        (nw.when(a, nw.col("b")).then(a).otherwise(1), "CASE WHEN (`a` AND `b`) THEN `a` ELSE 1 END"),
    ],
)
def test_questions_of_times_identifiers_and_states_have_words(expression: nw.Expr, words: str) -> None:
    assert in_words(expression) == words


@pytest.mark.parametrize(
    "expression",
    [
        nw.col("a`b"),
        nw.col("a", "b"),
        a.alias("b c"),
        a < 2**63,
        a < -(2**63),
        a < 1.5,
        a < datetime(2024, 3, 3),
        a < nw.lit(1, dtype=nw.Int8()),
        a == "it's",
        a == "a\\b",
        a == "${b}",
        a == "é",
        a == "a\nb",
        a.is_in(()),
        a.is_in((None, "b")),
        a.cast(nw.Int64()),
        a.cast(nw.Datetime("us", "UTC")),
        a.abs(),
        a + 1,
        a.str.contains("b"),
        a.max(),
        a.max().over("b"),
        nw.lit(1),
        nw.len(),
        nw.any_horizontal(a, nw.col("b"), ignore_nulls=True),
        nw.all_horizontal(a, nw.col("b"), ignore_nulls=True),
    ],
    ids=repr,
)
def test_where_a_word_could_mean_something_else_there_is_none(expression: nw.Expr) -> None:
    assert in_words(expression) is None
