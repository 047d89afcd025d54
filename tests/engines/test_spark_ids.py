"""The one rule of identifiers, asked of Spark: the same answers as in plain Python."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import pytest
from pyspark.sql import functions
from tests.spark import Cluster
from tests.visits.making import DAY, count_visits, places
from tests.visits.read.test_identifiers import BYTES, FINE, MERGED, NOBODY, stays

from safeside.errors import BadFile
from safeside.visits import VisitFormat
from safeside.visits.read.identifiers import (
    Fault,
    bytes_as_text,
    fault,
    faulty,
    missing,
    placeholder,
    rounded,
    sql_bytes_as_text,
)

pytestmark = pytest.mark.xdist_group("spark")


def on_spark(cluster: Cluster, persons: list[Any]) -> Any:
    return cluster.session.createDataFrame(stays(persons).to_arrow())


def test_spark_agrees_with_plain_python(cluster: Cluster) -> None:
    written = [*NOBODY, *MERGED, *FINE, "", " ", "n\na", "\u2007NULL\t", "x\u00a0", "['null']", "1E5\n"]
    ids = cluster.session.createDataFrame([(each,) for each in written], "id string")
    column, text = nw.col("id"), nw.String()
    questions = {
        Fault.MISSING: missing(column, text),
        Fault.PLACEHOLDER: placeholder(column, text),
        Fault.ROUNDED: rounded(column),
        "any": faulty(column, text),
    }
    asked = nw.from_native(ids).select(column, **{str(name): each for name, each in questions.items()})
    answers = {row["id"]: row for row in asked.to_native().collect()}
    for each in written:
        assert [kind for kind in Fault if answers[each][kind]] == [
            kind for kind in Fault if fault(each) is kind
        ]
        assert answers[each]["any"] == (fault(each) is not None)


def test_bytes_become_text_on_spark(cluster: Cluster) -> None:
    written = [*BYTES, b"\xff\xfe", b"\xff", "é".encode(), b"0xff", b"\0a", b"ana", b"\xed\xa0\x80", b""]
    ids = cluster.session.createDataFrame([(each,) for each in written], "id binary")
    found = ids.select("id", functions.expr(sql_bytes_as_text("id", spark=True)).alias("text")).collect()
    assert {bytes(row["id"]): row["text"] for row in found} == {each: bytes_as_text(each) for each in written}


@pytest.mark.parametrize("persons", [["ana", "(null)"], [b"ana", b"null"], [1, -1]])
def test_words_for_missing_stop_spark_too(cluster: Cluster, persons: list[Any]) -> None:
    visits = on_spark(cluster, [*persons, persons[-1]])
    with pytest.raises(BadFile, match=r"Column person: a word or a number .* \(2 rows\)"):
        count_visits(visits, places(), DAY)
    counts = count_visits(visits, places(), DAY, VisitFormat(trust_ids=True))
    assert counts.values.tolist() == [2, 0, 0, 0, 0]
