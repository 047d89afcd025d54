"""Checkpoints: an account from which reading can go on, and the index that proves what is in it.

A snapshot holds the sums (datasets, caps, what was spent in each period, tallies, stops) and the root of the
index of everything that has a name. Its digest stands in a `checkpoint` event, which the chain and the
witnesses bind. docs/decisions/ledger-checkpoint.md says who may believe one, and why.

The index is a map that proves what it holds, and what it does not hold, by one digest (a Merkle tree): over
the SHA-256 of the keys, sixteen ways at each level; a leaf holds at most sixteen entries. Each node is named
by the digest of its bytes, so the digest of the root stands for the whole map. The nodes lie in a table that
somebody may have altered: each is compared with its name when it is read, and one that is missing or another
raises `Broken`. So nobody can hide an entry by deleting a row, or put an old one back. Entries are added and
replaced, never removed; so the shape follows from what is in it, and two processes that hold the same come to
the same digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from safeside import records
from safeside.ledger.account import Dataset, Group, Tally
from safeside.records import Record

if TYPE_CHECKING:
    from safeside.ledger.lookup import Account

EVERY = 500
"""After so many events there is another checkpoint: what a process reads at most when it opens a ledger."""
EMPTY: Final = ""
"""The root of a map that holds nothing."""
_MOST: Final = 16
_DEEPEST: Final = 64
"""So many digits a path has."""

Entries = dict[str, Any]
Fetch = Callable[[Iterable[str]], dict[str, str]]
"""Nodes by their names, as far as they are there."""


class Broken(Exception):
    """A node is not there, or is not what its name says."""


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A leaf has entries, every other node the names of its children by the next digit."""

    entries: Entries | None = None
    children: dict[str, str] | None = None


class Index:
    """What changed since the root was computed, on top of the tree that the root names."""

    def __init__(self, root: str = EMPTY, fetch: Fetch = lambda _: {}) -> None:
        self.root = root
        self.fetch = fetch
        self.nodes: dict[str, str] = {}
        """Nodes in memory, by name: those that were read, and all that were made here."""
        self.made: dict[str, str] = {}
        """Nodes that were made since `stored` was called."""
        self.replaced: set[str] = set()
        """Nodes of the tree as it was then that are no longer part of it."""
        self._changed: Entries = {}
        self._found: Entries = {}
        """Entries of the tree that were asked for."""
        self._decoded: dict[str, Node] = {}

    def get(self, key: str) -> Any:
        """The value of a key; None where there is none."""
        if key in self._changed:
            return self._changed[key]
        if key not in self._found and (value := self._find(key)) is not None:
            self._found[key] = value
        return self._found.get(key)

    def _find(self, key: str) -> Any:
        name, path = self.root, records.digest(key.encode())
        for digit in path:
            if name == EMPTY:
                return None
            node = self._node(name)
            if node.children is None:
                return (node.entries or {}).get(key)
            name = node.children.get(digit, EMPTY)
        raise Broken

    def prefetch(self, keys: Iterable[str]) -> None:
        """Read the nodes on the way to these keys, a level at once. What is wrong is found when used."""
        level = {records.digest(key.encode()): self.root for key in keys}
        for depth in range(_DEEPEST):
            missing = {name for name in level.values() if name not in self.nodes} - {EMPTY}
            if missing:
                self._keep(self.fetch(missing))
            nodes = {path: self._node(name) for path, name in level.items() if name in self.nodes}
            level = {
                path: node.children[path[depth]]
                for path, node in nodes.items()
                if node.children is not None and path[depth] in node.children
            }
            if not level:
                return

    def set(self, key: str, value: Any) -> None:
        """Add an entry, or replace its value."""
        self._changed[key] = value

    def settle(self) -> str:
        """Bring the tree up to date; the digest of its root."""
        if self._changed:
            self.prefetch(self._changed)
            items = [(records.digest(key.encode()), key, value) for key, value in self._changed.items()]
            self.root = self._with(self.root, 0, items)
            self._changed, self._found = {}, {}
        return self.root

    def stored(self) -> None:
        """Everything made so far is in the table."""
        self.made, self.replaced = {}, set()

    def _with(self, name: str, depth: int, items: list[tuple[str, str, Any]]) -> str:
        node = Node(entries={}) if name == EMPTY else self._node(name)
        if node.children is None:
            entries = {**(node.entries or {}), **{key: value for _, key, value in items}}
            if len(entries) <= _MOST:
                return self._replace(name, Node(entries=entries))
            items = [(records.digest(key.encode()), key, value) for key, value in entries.items()]
        children = dict(node.children or {})
        by_digit: dict[str, list[tuple[str, str, Any]]] = {}
        for item in items:
            by_digit.setdefault(item[0][depth], []).append(item)
        for digit, below in by_digit.items():
            children[digit] = self._with(children.get(digit, EMPTY), depth + 1, below)
        return self._replace(name, Node(children=children))

    def _replace(self, name: str, node: Node) -> str:
        body = msgspec.json.encode(node, order="sorted").decode()
        made = records.digest(body.encode())
        if made != name:
            self.nodes[made] = self.made[made] = body
            self.replaced.discard(made)
            self.nodes.pop(name, None)
            self._decoded.pop(name, None)
            if self.made.pop(name, None) is None and name != EMPTY:
                self.replaced.add(name)
        return made

    def _node(self, name: str) -> Node:
        known = self._decoded.get(name)
        if known is not None:
            return known
        if name not in self.nodes:
            self._keep(self.fetch([name]))
        if name not in self.nodes:
            raise Broken
        known = self._decoded[name] = msgspec.json.decode(self.nodes[name].encode(), type=Node)
        return known

    def _keep(self, found: dict[str, str]) -> None:
        """Those that are what their names say."""
        self.nodes |= {name: body for name, body in found.items() if records.digest(body.encode()) == name}


class Snapshot(Record, frozen=True, kw_only=True):
    """The account at one place of the list."""

    kind: ClassVar[str] = "snapshot"
    ledger: str
    key: str
    index: str
    """The root of the index."""
    datasets: dict[str, Dataset]
    groups: list[Group]
    tallies: dict[str, Tally]
    stopped: dict[str, tuple[str, str, str]]


def snapshot(state: Account) -> bytes:
    """What a checkpoint at this place stands for."""
    state.settle()
    groups = {id(group): group for _, group in sorted(state.groups.items())}
    return records.encode(
        Snapshot(
            ledger=state.ledger_id,
            key=state.key,
            index=state.index.root,
            datasets=state.datasets,
            groups=list(groups.values()),
            tallies=state.tallies,
            stopped=state.stopped,
        )
    )


def load(state: Account, data: bytes) -> None:
    """Fill an account with what a snapshot holds."""
    kept = records.decode(Snapshot, data)
    state.ledger_id, state.key = kept.ledger, kept.key
    state.datasets, state.tallies, state.stopped = kept.datasets, kept.tallies, kept.stopped
    state.groups = {name: group for group in kept.groups for name in group.members}
    state.index = Index(kept.index, state.nodes)
