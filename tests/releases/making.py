"""What release tests share: small places, quick simulations, and terms to choose from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from hypothesis import strategies as st

from safeside import records
from safeside.ledger import Budget
from safeside.noise.entropy import Entropy
from safeside.releases.answers import STATES, Answers
from safeside.releases.asking import Inquiry, ask
from safeside.releases.files import compose
from safeside.releases.record import Paid, Promised, ReleaseRecord, described, written
from safeside.releases.release import Release, load_release
from safeside.releases.signature import sign
from safeside.releases.signing import PrivateKey
from safeside.releases.simulate import simulate
from safeside.visits import Places
from safeside.words import Subject

INSTANT = "2021-06-03T18:00:00+09:00"
DAY = "2021-06-03T00:00:00+09:00/2021-06-04T00:00:00+09:00"
NOW = datetime(2021, 6, 10, 9, tzinfo=UTC)
COUNTS = [9, 3, 2, 1, 1, 0, 0, 0, 0, 0]
"""Of p0 to p9, of which p9 is least popular and tested first."""
SELECTION: dict[str, Any] = {"at_most": 2, "epsilon": 1, "method": "selection"}
CLAIMED, LEFT_OUT, FAILED = 6, 7, 0
"""Seeds with which, of these counts, the ladder certifies four more places at level 1; with which both tests
pass and the ladder leaves p3 out; with which the second test fails.
"""
QUIET_AND_BUSY = [0, 0, 1, 2, 5, 9, 20, 20]
SPARSE_DAY = {"at_most": 2, "max_alarms": 4, "max_places_per_person": 3}
"""Priced at min(4, 3) times what one alarm costs."""


def places(number: int = 6, **more: Any) -> Places:
    """A list of venues, p0 to p9 or so, with coordinates, names, regions and popularity."""
    at = np.arange(number)
    return Places.of(
        **{
            "ids": tuple(f"p{i:0{len(str(number - 1))}}" for i in range(number)),
            "latitude": 35.6 + at * 0.003,
            "longitude": 139.7 + (at * at % 7) * 0.004,
            "name": tuple(f"Café {i} <b>" for i in range(number)),
            "region": tuple(f"Quarter {i % 2}" for i in range(number)),
            "popularity": (number - at).astype(np.float64),
            **more,
        }
    )


def states_of(answers: Answers) -> list[str]:
    """The state of each condition, in full."""
    return [STATES[code].name for code in answers.states]


def table(listed: Places) -> Any:
    """The list as the file a publisher would have."""
    import polars as pl

    return pl.DataFrame(
        {
            "place": list(listed.ids),
            "latitude": listed.latitude,
            "longitude": listed.longitude,
            "name": list(listed.name or ()),
            "region": list(listed.region or ()),
            "popularity": listed.popularity,
        }
    )


def simulated(
    out: Path,
    counts: list[int],
    terms: dict[str, Any],
    *,
    when: str = INSTANT,
    seed: int | None = 1,
    **more: Any,
) -> Release:
    """A simulation on these counts."""
    listed = places(len(counts))
    given = dict(zip(listed.ids, counts, strict=True))
    return simulate(given, **terms, out=out, places=table(listed), when=when, seed=seed, known_on=NOW, **more)


KINDS: dict[str, dict[str, Any]] = {
    "ageo": {"at_most": 2},
    "ageo with people": {"at_most": 2, "people": 20},
    "ageo over a day": {"at_most": 3, "max_places_per_person": 2},
    "ageo and at least": {"at_most": 2, "at_least": 4, "alpha": "0.3"},
    "ageo and public at least": {"at_most": 1, "at_least": 3, "alpha": "0.5", "publish_at_least": True},
    "ageo, at least, people": {"at_most": 2, "at_least": 19, "alpha": "0.3", "people": 20},
    "sparse": {"at_most": 2, "max_alarms": 2},
    "sparse at random": {"at_most": 2, "max_alarms": 1, "order": "random"},
    "sparse with a limit": {"at_most": 2, "max_alarms": 3, "max_places_per_person": 2},
    "padded": {"at_most": 9, "guarantee": "dp", "delta": "1e-3"},
    "padded and at least": {"at_most": 9, "guarantee": "dp", "delta": "1e-3", "at_least": 12, "alpha": "0.2"},
    "padded with people": {"at_most": 9, "guarantee": "dp", "delta": "1e-3", "people": 21},
    "padded, at least, people": {
        "at_most": 9,
        "guarantee": "dp",
        "delta": "1e-3",
        "at_least": 12,
        "alpha": "0.2",
        "people": 21,
    },
    "decision": {"at_most": 9, "guarantee": "dp", "delta": "1e-3", "decision": True},
    "selection": {"at_most": 2, "method": "selection"},
}
"""Every kind of question, by name."""

epsilons = st.sampled_from(["1", "1/3", "0.1", "2.5"])
counts = st.lists(st.integers(0, 20), min_size=1, max_size=12)


@st.composite
def terms(draw: st.DrawFn) -> dict[str, Any]:
    """A question of any kind."""
    return dict(epsilon=draw(epsilons), **draw(st.sampled_from(list(KINDS.values()))))


def over_a_day(given: dict[str, Any]) -> bool:
    """Whether the question is one about an interval."""
    return given.get("max_places_per_person") is not None


LEDGER = {"id": "0" * 32, "dataset": "city", "reference": "1" * 32}
RECEIPT = {"ledger": LEDGER["id"], "reference": LEDGER["reference"]}
CAPS = Budget(epsilon=Fraction(10), delta=Fraction(1, 100))


def asked(number: int, terms: dict[str, Any], when: str = INSTANT) -> Inquiry:
    """A question about so many places."""
    return ask(**{"places": places(number), "when": when, **terms})


def signed(
    out: Path,
    counts: list[int],
    terms: dict[str, Any],
    key: PrivateKey,
    *,
    when: str = INSTANT,
    subject: Subject | None = None,
    entropy: Entropy | None = None,
) -> Release:
    """A release that looks as a published one does, made without a ledger, to be looked at and spoilt."""
    inquiry = asked(len(counts), terms, when)
    if subject is not None:
        inquiry = replace(inquiry, question=msgspec.structs.replace(inquiry.question, subject=subject))
    conditions, method = inquiry.conditions, inquiry.question.method
    conditions = replace(conditions, known=method.settled(conditions))
    drawn = method.draw(conditions, np.array(counts, dtype=np.int64), entropy)
    record = ReleaseRecord(
        release="r-1",
        known_on=written(NOW),
        question=inquiry.question,
        counted=(inquiry.question.words.again(inquiry.question.rule()),),
        mechanism=method.stated(conditions),
        outcome=dict(drawn.outcome),
        guarantee=Promised.of(conditions, caps=CAPS),
        ledger=Paid(**LEDGER, cost=method.cost(conditions, ())),
    )
    files = compose(record, method.states(conditions, drawn), conditions, inquiry.places)
    out.mkdir()
    for name, data in files.items():
        (out / name).write_bytes(data)
    (out / "signature.json").write_bytes(sign(files["release.json"], key, file="release.json", **RECEIPT))
    return load_release(out)


def made(home: Path, key: PrivateKey, terms: dict[str, Any]) -> Release:
    """A release of quiet and busy places, to be looked at and spoilt."""
    given = dict(epsilon=1, **terms)
    return signed(home / "out", QUIET_AND_BUSY, given, key, when=DAY if over_a_day(given) else INSTANT)


def raw(release: Release) -> dict[str, Any]:
    """release.json as it stands."""
    record: dict[str, Any] = json.loads((release.directory / "release.json").read_bytes())
    return record


def resigned(release: Release, key: PrivateKey, *, gone: tuple[str, ...] = (), **changed: Any) -> Release:
    """The same directory, its manifest brought up to date and signed again, as a careless publisher might."""
    record = {name: value for name, value in (raw(release) | changed).items() if name not in gone}
    record["files"] = {
        name: records.to_json(described((release.directory / name).read_bytes())) for name in record["files"]
    }
    data = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    (release.directory / "release.json").write_bytes(data)
    (release.directory / "signature.json").write_bytes(sign(data, key, file="release.json", **RECEIPT))
    return load_release(release.directory)
