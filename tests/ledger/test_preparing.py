"""What whoever waits reads beforehand changes nothing but how long its turn takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.stores import EVERY, NOON, QUESTION, about, cost, raw, witnesses

from safeside.errors import LedgerForked
from safeside.ledger import Ledger, Reservation, events, open_ledger


@pytest.fixture
def waiting(ledger: Ledger, url: str) -> Iterator[Ledger]:
    """Another process of this machine that has begun to read, and will wait for its turn."""
    with open_ledger(url) as other:
        assert other.head == ledger.head
        yield other


def publish(ledger: Ledger, hour: int) -> Reservation:
    return ledger.commit(ledger.reserve("city", f"r{hour}", about(hour), cost("1/8")), f"m{hour}")


def folded(ledger: Ledger) -> int:
    """Up to where it has read, without reading more."""
    return ledger.chain._state.head.number


def tell(paths: list[Path], line: str) -> None:
    """Write a line into the witnesses."""
    for path in paths:
        with path.open("ab") as file:
            file.write(f"{line}\n".encode(errors="surrogateescape"))


def test_what_others_added_is_known_before_the_turn(ledger: Ledger, waiting: Ledger) -> None:
    publish(ledger, 1)
    publish(ledger, 2)
    assert folded(waiting) < ledger.head.number
    waiting.chain._prepare()
    assert folded(waiting) == ledger.head.number
    publish(waiting, 3)
    assert waiting.remaining("city") == ledger.remaining("city")
    assert ledger.remaining("city").epsilon == 3 - 3 * cost("1/8").epsilon
    assert ledger.verify() == ledger.head.number
    assert waiting.forgotten() == ledger.forgotten() == 0


def test_where_much_was_added_a_checkpoint_is_looked_for_in_the_turn(ledger: Ledger, url: str) -> None:
    with (
        open_ledger(url, checkpoint_every=EVERY) as waiting,
        open_ledger(url, checkpoint_every=EVERY) as busy,
    ):
        known = waiting.head.number
        for hour in range(EVERY):
            publish(busy, hour)
        waiting.chain._prepare()
        assert folded(waiting) == known
        publish(waiting, 20)
        assert waiting.head == ledger.head
        assert waiting.forgotten() == 0


def test_a_charge_that_stands_in_the_witnesses_alone_is_never_believed(
    ledger: Ledger, waiting: Ledger, url: str, state: Path
) -> None:
    """A refund that nobody gave, for instance: it follows the last event, and every rule allows it."""
    sparse = ledger.reserve("city", "sparse", QUESTION, cost(3, epsilon_each=cost().epsilon))
    ledger.commit(sparse, "m", alarms=0)
    waiting.head  # noqa: B018  it has read that
    given = events.Returned(request="sparse", reservation=sparse.digest, epsilon=sparse.cost.epsilon)
    forged = events.make(ledger.head, ledger.chain._state.time or NOON, given)
    tell(witnesses(url, state), f"event {forged.number} {forged.digest} {forged.body}")
    waiting.chain._prepare()
    assert folded(waiting) == forged.number
    with pytest.raises(LedgerForked, match="recover_ledger"):
        waiting.reserve("city", "more", about(3), cost(3))
    with raw(url) as run:
        assert run("SELECT max(number) FROM safeside_events") == [(forged.number - 1,)]
    assert waiting.remaining("city").epsilon == 0


@pytest.mark.parametrize(
    "line",
    [
        "event 999 {digest} {body}",
        "event {number} {digest}",
        "event {number} " + "0" * 64 + " {body}",
        "event {number}",
        "event",
        "event -1 x y",
        "\udcff",
        "event {number} \udcff \udcff",
    ],
)
def test_lines_that_are_no_event_stop_nobody(
    ledger: Ledger, waiting: Ledger, url: str, state: Path, line: str
) -> None:
    tell(witnesses(url, state), line.format(number=ledger.head.number + 1, digest="1" * 64, body="{}"))
    publish(ledger, 1)
    waiting.chain._prepare()
    publish(waiting, 2)
    assert ledger.head.number == 6
    assert waiting.forgotten() == ledger.forgotten() == 0
    assert ledger.verify() == 6


def test_what_a_witness_says_is_read_once_to_be_folded_and_compared(
    ledger: Ledger, waiting: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(ledger, 1)
    last = ledger.head.number
    opened: list[Path] = []
    real = Path.open

    def counted(path: Path, *given: Any, **more: Any) -> Any:
        opened.append(path)
        return real(path, *given, **more)

    monkeypatch.setattr(Path, "open", counted)
    waiting.chain._prepare()
    assert folded(waiting) == last
    assert len(opened) == len(set(opened)) > 0
    assert waiting.forgotten() == 0
