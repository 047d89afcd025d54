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

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
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
_SEVERAL: Final = 8
"""Whoever is behind by so many keys will look up others soon, and reads the top of the tree whole."""
_TOP: Final = 2
"""So many levels under the root are its top."""

Fetch = Callable[[Iterable[str]], dict[str, str]]
"""Nodes by their names, as far as they are there."""
Item = tuple[str, str, msgspec.Raw]
"""The path of a key, which is its digest; the key; its value as it is written."""


class Broken(Exception):
    """A node is not there, or is not what its name says."""


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A leaf has entries, every other node the names of its children by the next digit.

    Values stay as they are written until somebody asks for one: most are only hashed again.
    """

    entries: dict[str, msgspec.Raw] | None = None
    children: dict[str, str] | None = None


_decode: Final = msgspec.json.Decoder(Node).decode
_encode: Final = msgspec.json.Encoder(order="sorted").encode


class Index:
    """What changed since the root was computed, on top of the tree that the root names."""

    def __init__(self, root: str = EMPTY, fetch: Fetch = lambda _: {}) -> None:
        self.root = root
        self.made: dict[str, bytes] = {}
        """Nodes that were made since `stored` was called."""
        self.replaced: set[str] = set()
        """Nodes of the tree as it was then that are no longer part of it."""
        self._fetch = fetch
        self._nodes: dict[str, Node] = {}
        """Nodes in memory, by name: those that were read, and all that were made here."""
        self._changed: dict[str, Any] = {}
        self._found: dict[str, Any] = {}
        """Entries of the tree that were asked for."""
        self.soon: Iterable[str] = ()
        """Keys that will be asked for soon: if a node has to be read, those on the way to them are, too."""

    def get(self, key: str) -> Any:
        """The value of a key; None where there is none."""
        for known in (self._changed, self._found):
            if key in known:
                return known[key]
        name = self.root
        for digit in _path(key):
            if name == EMPTY:
                return None
            node = self._nodes.get(name) or self._node(name)
            if node.children is None:
                if (value := (node.entries or {}).get(key)) is not None:
                    self._found[key] = msgspec.json.decode(value)
                return self._found.get(key)
            name = node.children.get(digit, EMPTY)
        raise Broken

    def _prefetch(self, keys: Iterable[str]) -> None:
        """Read the nodes on the way to these keys, a level at once. What is wrong is found when used."""
        level = {_path(key): self.root for key in keys}
        for depth in range(_DEEPEST):
            self._read({name for name in level.values() if name not in self._nodes} - {EMPTY})
            nodes = {path: self._nodes[name] for path, name in level.items() if name in self._nodes}
            if depth < _TOP and len(nodes) >= _SEVERAL:
                below = {name for node in nodes.values() for name in (node.children or {}).values()}
                self._read(below - self._nodes.keys())
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
            self.soon, changed = self._changed, self._changed.items()
            items = [(_path(key), key, msgspec.Raw(_encode(value))) for key, value in changed]
            self.root = self._with(self.root, 0, items)
            self._changed, self._found = {}, {}
        return self.root

    def stored(self) -> None:
        """Everything made so far is in the table."""
        self.made, self.replaced = {}, set()

    def _with(self, name: str, depth: int, items: list[Item]) -> str:
        node = Node(entries={}) if name == EMPTY else self._node(name)
        if node.children is None:
            entries = dict(node.entries or {})
            for _, key, value in items:
                entries[key] = value
            if len(entries) <= _MOST:
                return self._replace(name, Node(entries=entries))
            items = [(_path(key), key, value) for key, value in entries.items()]
        children = dict(node.children or {})
        by_digit: dict[str, list[Item]] = {}
        for item in items:
            by_digit.setdefault(item[0][depth], []).append(item)
        for digit, below in by_digit.items():
            children[digit] = self._with(children.get(digit, EMPTY), depth + 1, below)
        return self._replace(name, Node(children=children))

    def _replace(self, name: str, node: Node) -> str:
        body = _encode(node)
        made = records.digest(body)
        if made != name:
            self._nodes[made], self.made[made] = node, body
            self.replaced.discard(made)
            self._nodes.pop(name, None)
            if self.made.pop(name, None) is None and name != EMPTY:
                self.replaced.add(name)
        return made

    def _node(self, name: str) -> Node:
        if name not in self._nodes:
            soon, self.soon = self.soon, ()
            self._prefetch(soon)
        if name not in self._nodes:
            self._read({name})
        if name not in self._nodes:
            raise Broken
        return self._nodes[name]

    def _read(self, names: Collection[str]) -> None:
        """Fetch nodes, and keep those that are what their names say."""
        found = self._fetch(names) if names else {}
        bodies = ((name, body.encode()) for name, body in found.items())
        self._nodes |= {name: _decode(body) for name, body in bodies if records.digest(body) == name}


@lru_cache(maxsize=1 << 12)
def _path(key: str) -> str:
    """Where a key stands. Each is asked for several times while a tree is brought up to date."""
    return records.digest(key.encode())


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
    state.index = Index(kept.index, lambda names: state.source.nodes(names))
