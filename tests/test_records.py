"""Records: one spelling, checked types, versions that are upgraded or refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from safeside import records
from safeside.errors import MadeByNewer
from safeside.records import Part, Record

NUMBERS = st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
TEXT = st.text(st.characters(exclude_categories=("Cs",)))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


class Price(Part, frozen=True, kw_only=True):
    epsilon: Fraction


class Before(Record, frozen=True, kw_only=True):
    kind: ClassVar[str] = "sample"
    name: str
    price: Price


class After(Before, frozen=True, kw_only=True):
    """The same record in a pretended next version: one field more, one renamed."""

    version: ClassVar[int] = 2
    upgrades: ClassVar[Mapping[int, records.Upgrade]] = {
        1: lambda fields: {**fields, "note": fields["name"].upper()}
    }
    note: str
    windows: tuple[str, ...] = ()


ONE = Before(name="a", price=Price(epsilon=Fraction(1, 3)))


@given(VALUES)
def test_the_spelling_is_that_of_rfc_8785(value: Any) -> None:
    assert records.canonical(value) == rfc8785.dumps(value)


def test_names_are_sorted_by_utf16_units() -> None:
    value = {"\U0001f600": 1, "\ue000": 2, "a": 3}
    assert records.canonical(value) == '{"a":3,"\U0001f600":1,"\ue000":2}'.encode()


@pytest.mark.parametrize(
    "value", [0.5, [1, {"a": 2.0}], 2**53, -(2**53), "\ud800", {"\ud800": 1}, b"x", {1: 2}]
)
def test_what_has_no_exact_spelling_is_refused(value: object) -> None:
    with pytest.raises((ValueError, NotImplementedError)):
        records.canonical(value)


def test_a_record_comes_back_as_it_was_written() -> None:
    data = records.encode(ONE)
    assert data == b'{"name":"a","price":{"epsilon":"1/3"},"schema":"safeside-sample/1"}'
    assert records.decode(Before, data) == ONE


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{",
        b'{"name":"a","price":{"epsilon":"1/3"}}',
        b'{"name":"a","price":{"epsilon":"1/3"},"schema":"safeside-other/1"}',
        b'{"name":"a","price":{"epsilon":"1/3"},"schema":"safeside-sample/0"}',
        b'{"name":"a","price":{"epsilon":"2/6"},"schema":"safeside-sample/1"}',
        b'{"name":"a","price":{"epsilon":"x"},"schema":"safeside-sample/1"}',
        b'{"name":"a","price":{"epsilon":1},"schema":"safeside-sample/1"}',
        b'{"name":1,"price":{"epsilon":"1/3"},"schema":"safeside-sample/1"}',
        b'{"more":1,"name":"a","price":{"epsilon":"1/3"},"schema":"safeside-sample/1"}',
        b'{"name":"a","name":"a","price":{"epsilon":"1/3"},"schema":"safeside-sample/1"}',
        b'{"name":"a", "price":{"epsilon":"1/3"},"schema":"safeside-sample/1"}',
        b'{"price":{"epsilon":"1/3"},"name":"a","schema":"safeside-sample/1"}',
    ],
)
def test_bytes_that_are_no_such_record_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        records.decode(Before, data)


def test_a_newer_version_is_refused_by_name() -> None:
    newer = records.encode(After(name="a", price=ONE.price, note="A", windows=("x",)))
    with pytest.raises(
        MadeByNewer, match=r"This sample was made by a newer safeside.*safeside-sample/2"
    ) as one:
        records.decode(Before, newer)
    assert "Install a newer safeside" in one.value.do


def test_an_older_version_is_upgraded_when_it_is_read() -> None:
    assert records.decode(After, records.encode(ONE)) == After(name="a", price=ONE.price, note="A")


def test_a_field_at_its_default_is_not_written_so_that_older_bytes_stay() -> None:
    assert b"windows" not in records.encode(After(name="a", price=ONE.price, note="A"))


def test_a_json_schema_says_what_is_written() -> None:
    schema = records.json_schema(After)
    assert schema["properties"]["schema"] == {"const": "safeside-sample/2"}
    assert schema["required"] == ["schema", "name", "price", "note"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Price"]["properties"]["epsilon"]["type"] == "string"


class Choice(Part, frozen=True, kw_only=True):
    word: str = "usual words"
    share: Fraction = Fraction(1, 2)
    kinds: tuple[str, ...] = ("one",)


class Chosen(Record, frozen=True, kw_only=True):
    kind: ClassVar[str] = "chosen"
    choice: Choice = Choice()


def test_what_equals_its_default_is_not_written_however_it_was_made() -> None:
    made = Chosen(choice=Choice(word="usual " + "words".strip(), share=Fraction(2, 4), kinds=("one",)))
    assert records.encode(made) == b'{"schema":"safeside-chosen/1"}'


def test_a_default_that_is_written_out_is_another_spelling_and_refused() -> None:
    with pytest.raises(ValueError, match="a field at its default is written out"):
        records.decode(Chosen, b'{"choice":{"share":"1/2"},"schema":"safeside-chosen/1"}')


@pytest.mark.parametrize("text", ["1e999999999", "1/0", "2/4", "0.5", " 1", "+1", "1_0", "1" * 5000])
def test_a_fraction_is_looked_at_before_it_is_computed(text: str) -> None:
    data = records.canonical({"name": "a", "price": {"epsilon": text}, "schema": "safeside-sample/1"})
    with pytest.raises(ValueError, match="lowest terms"):
        records.decode(Before, data)
