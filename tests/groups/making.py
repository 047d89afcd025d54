"""Tables of people to choose from, and conditions on them."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.groups.plain import Person, Test

GROUPS = ("east", "école", "north", "south")
DOMAINS: dict[str, list[Any]] = {
    "dose": [0, 1, 2],
    "age": list(range(5, 10)),
    "mmr": ["no", "yes", "not known"],
}
people = st.lists(
    st.builds(
        lambda name, group, dose, age, mmr: Person(name, group, {"dose": dose, "age": age, "mmr": mmr}),
        st.sampled_from([f"p{i}" for i in range(30)] + ["ève", "p 1", "P1"]),
        st.sampled_from(GROUPS),
        *(st.sampled_from(values) for values in DOMAINS.values()),
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row.person,
)


@st.composite
def a_test(draw: st.DrawFn) -> Test:
    column = draw(st.sampled_from(list(DOMAINS)))
    texts = [str(value) for value in DOMAINS[column]]
    signs = ["=", "in"] if column == "mmr" else ["=", "in", "<", "<=", ">", ">="]
    sign = draw(st.sampled_from(signs))
    if sign == "in":
        return column, sign, draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2, unique=True))
    return column, sign, [draw(st.sampled_from(texts))]


conditions = st.lists(a_test(), min_size=1, max_size=2)


def written(tests: list[Test]) -> str:
    """The condition as somebody writes it."""
    return " and ".join(
        f"{column} in {', '.join(values)}" if sign == "in" else f"{column}{sign}{values[0]}"
        for column, sign, values in tests
    )


def table(rows: list[Person]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "person": [row.person for row in rows],
            "group": [row.group for row in rows],
            **{column: [row.held[column] for row in rows] for column in DOMAINS},
        }
    )
