"""Every message about a question, a simulation or a backdrop: what happened, and what to do next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.messages.saying import says
from tests.releases.making import DAY, INSTANT, places, simulated, table

from safeside.errors import SafesideError
from safeside.releases.asking import ask
from safeside.releases.basemap import read_basemap
from safeside.releases.simulate import simulate
from safeside.visits import Places, read_places

QUESTIONS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "policy": ({"policy": "visited"}, INSTANT, "Only one policy", "Leave `policy=` out"),
    "several windows": (
        {"method": "counts", "every": "1h"},
        DAY,
        "counted in many of the windows",
        'Ask with `method="selection"`',
    ),
    "language": ({"language": "tlh"}, INSTANT, 'no sentences in the language "tlh"', "Give one of en"),
    "noun": ({"noun": "guest"}, INSTANT, "The noun for those who are counted", 'Give `noun="guest/guests"`'),
    "no limit": (
        {"method": "counts"},
        DAY,
        "one person can be at many places",
        "`max_alarms=C`.+made with `max_places_per_person=K`",
    ),
    "people": ({"people": 19}, INSTANT, "19, below the floor of 20", "at least 20 people"),
    "raised floor": (
        {"people": 60, "people_floor": 100},
        INSTANT,
        "60, below the floor of 100",
        "at least 100 people",
    ),
    "floor alone": (
        {"people_floor": 100},
        INSTANT,
        "`people_floor=` is the least that `people=` may be, and no number of people is used here",
        "Give `people=` too, or leave `people_floor=` out",
    ),
    "lowered floor": ({"people": 5, "people_floor": 1}, INSTANT, "5, below the floor of 20", "at least 20"),
    "people, sparse": (
        {"people": 50, "max_alarms": 1},
        INSTANT,
        "changes nothing in an answer of this kind",
        "Leave `people=` out",
    ),
    "no threshold": ({"at_most": None}, INSTANT, "how many visitors to ask about", "Give `at_most=`"),
    "alpha alone": ({"alpha": "0.1"}, INSTANT, "belong to `at_least=`", "Give `at_least=` too"),
    "at least, sparse": (
        {"at_least": 9, "alpha": "0.1", "max_alarms": 1},
        DAY,
        "`at_least=` needs a noisy count",
        "Ask without `at_least=`",
    ),
    "at least below": (
        {"at_least": 2, "alpha": "0.1"},
        INSTANT,
        "`at_least=2` and at most 2 can both be true",
        "above every `at_most=`",
    ),
    "at least, certain": ({"at_least": 9}, INSTANT, "never certain", "Give `alpha=`"),
    "at least, alpha 0": ({"at_least": 9, "alpha": 0}, INSTANT, "never certain", "Give `alpha=`"),
    "order alone": ({"order": "random"}, INSTANT, "`order=` belongs to `max_alarms=`", "Leave `order=` out"),
    "no such order": (
        {"order": "size", "max_alarms": 1},
        DAY,
        '"size" is not an order places can be asked in',
        '"popularity", "random", "release:DIR" .+ or "file:PATH"',
    ),
    "guarantee": ({"guarantee": "ldp"}, INSTANT, 'no guarantee "ldp"', '`guarantee="adp"` or "dp"'),
    "delta": ({"delta": "1e-6"}, INSTANT, "belong to ordinary differential privacy", '`guarantee="dp"`'),
    "decision": ({"decision": True}, INSTANT, "belong to ordinary differential privacy", '`guarantee="dp"`'),
    "dp, sparse": (
        {"guarantee": "dp", "delta": "1e-6", "max_alarms": 1},
        DAY,
        'The method "sparse" is never wrong under the asymmetric definition only',
        'Leave `guarantee="dp"` out',
    ),
    "dp, delta 0": ({"guarantee": "dp"}, INSTANT, "no answer is ever certain", "Give `delta=` above 0"),
    "alarms": ({"max_alarms": 0}, DAY, "`max_alarms=` is 0", "at least 1"),
    "huge threshold": (
        {"at_most": 2**62 + 1},
        INSTANT,
        "`at_most=` is negative or above 2\\^62",
        "0 or more",
    ),
    "negative threshold": ({"at_most": -1}, INSTANT, "`at_most=` is -1", "at least 0"),
    "epsilon": ({"epsilon": 0}, INSTANT, "epsilon is 0", "above zero"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_that_cannot_be_asked(name: str) -> None:
    given, when, what, do = QUESTIONS[name]
    terms = {"epsilon": 1, "at_most": 2, **given}
    with pytest.raises(SafesideError) as caught:
        ask(places=places(), when=when, **terms)
    says(caught, what, do)


def test_orders_that_cannot_be_read(tmp_path: Path) -> None:
    terms = {"epsilon": 1, "at_most": 2, "max_alarms": 1}

    def asked(order: str, listed: Places) -> None:
        ask(places=listed, when=DAY, order=order, **terms)

    with pytest.raises(SafesideError) as caught:
        asked("popularity", places(popularity=None))
    says(caught, "no popularity", "Add a column `popularity`")
    with pytest.raises(SafesideError) as caught:
        asked(f"file:{tmp_path / 'none'}", places())
    says(caught, "cannot be read", "one place in each line")
    (tmp_path / "short").write_text("p0\np1\n")
    with pytest.raises(SafesideError) as caught:
        asked(f"file:{tmp_path / 'short'}", places())
    says(caught, "does not list every place of the places file exactly once", "each place once")
    simulation = simulated(tmp_path / "out", [0] * 6, {"epsilon": 1, "at_most": 2})
    with pytest.raises(SafesideError) as caught:
        asked(f"release:{simulation.directory}", places())
    says(caught, "is a simulation", "earlier release")
    with pytest.raises(SafesideError) as caught:
        asked(f"release:{tmp_path / 'nothing'}", places())
    says(caught, "There is no release", "release.json")


def test_forecasts_are_learned_from_releases_by_selection_alone(tmp_path: Path) -> None:
    made = simulated(tmp_path / "out", [0] * 6, {"epsilon": 1, "at_most": 2})
    with pytest.raises(SafesideError) as caught:
        ask(places=places(), when=DAY, at_most=2, epsilon=1, method="selection", learn_from=[made.directory])
    says(caught, "is not a release that was answered by selection", "directories of earlier releases")


def test_homes_and_coverings_are_refused_before_anything_is_spent() -> None:
    with pytest.raises(SafesideError) as caught:
        read_places(pl.DataFrame({"place": ["a", "b"], "kind": ["shop", "home"]}))
    says(caught, "homes", "public venues only")
    frame = pl.DataFrame(
        {
            "place": [f"c{i}" for i in range(9)],
            "latitude": [35.0 + i // 3 / 10 for i in range(9)],
            "longitude": [139.0 + i % 3 / 10 for i in range(9)],
        }
    )
    with pytest.raises(SafesideError) as caught:
        read_places(frame)
    says(caught, "lattice", "public venues")


def test_simulations_that_cannot_be_made(tmp_path: Path) -> None:
    terms = {"epsilon": 1, "at_most": 2}
    frame = table(places(2))
    with pytest.raises(SafesideError) as caught:
        simulate({"p0": 1}, **terms, out=tmp_path / "out", places=frame)
    says(caught, "one is missing, or one is not on the list", "0 where nobody is")
    with pytest.raises(SafesideError) as caught:
        simulate({"p0": 1, "p1": 90}, epsilon=1, at_most=2, people=50, out=tmp_path / "out")
    says(caught, "", "")
    for text, what in [
        ("", 'The counts file ".+" has no rows'),
        ("place,number\na,1\n", "has no rows, or no columns `place` and `count` \\(`group` and `count`\\)"),
        ("place,count\na,1\na,2\n", "is wrong in line 3: each place once, each count a whole number"),
        ("place,count\na,1.5\n", "line 2"),
        ("place,count\na,-1\n", "line 2"),
    ]:
        (tmp_path / "counts.csv").write_text(text)
        with pytest.raises(SafesideError) as caught:
            simulate(tmp_path / "counts.csv", **terms, out=tmp_path / "out")
        says(caught, what, "`place` and `count`")
    with pytest.raises(SafesideError) as caught:
        simulate(tmp_path / "none.csv", **terms, out=tmp_path / "out")
    says(caught, "cannot be read", "`place` and `count`")
    assert not (tmp_path / "out").exists()


def test_basemaps_that_cannot_be_drawn(tmp_path: Path) -> None:
    path = tmp_path / "base.geojson"
    for text, what in [
        ("not json", "cannot be read as JSON"),
        ("[1]", "is not GeoJSON"),
        ('{"features": [{"geometry": {"type": "Circle"}}]}', "not a GeoJSON shape"),
        ('{"features": [NaN]}', "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ('{"type": "Polygon", "coordinates": null}', "not a GeoJSON shape in degrees"),
        ('{"type": "Polygon", "coordinates": [[["a", "b"]]]}', "not a GeoJSON shape in degrees"),
        ('{"type": "Polygon", "coordinates": [[[377000, 3900000]]]}', "not a GeoJSON shape in degrees"),
        ('{"type": "GeometryCollection", "geometries": [1]}', "not a GeoJSON shape in degrees"),
        ('{"type": "GeometryCollection", "geometries": {}}', "not a GeoJSON shape in degrees"),
        ('{"type": "MultiPoint", "coordinates": {}}', "not a GeoJSON shape in degrees"),
        ('{"type": "MultiCircle", "coordinates": []}', "not a GeoJSON shape in degrees"),
        ('{"type": "LineString", "coordinates": [[true, 1], [1, 1]]}', "not a GeoJSON shape in degrees"),
        ('{"type": "Point", "coordinates": [1]}', "not a GeoJSON shape in degrees"),
        ('{"features": [["Point"]]}', "not a GeoJSON shape in degrees"),
    ]:
        path.write_text(text)
        with pytest.raises(SafesideError) as caught:
            read_basemap(path)
        says(caught, what, "leave `basemap=` out")
    path.write_text(json.dumps({"type": "FeatureCollection", "features": []}))
    assert read_basemap(path) == []
    line = {"type": "LineString", "coordinates": [[139.7, 35.6], [139.8, 35.7, 12]]}
    both = {"type": "GeometryCollection", "geometries": [line, {"type": "Point", "coordinates": [0, 0]}]}
    path.write_text(json.dumps({"geometry": both, "properties": ["odd"]}))
    drawn, named = read_basemap(path)
    assert (drawn.form, drawn.points.tolist(), drawn.tags) == ("line", [[139.7, 35.6], [139.8, 35.7]], {})
    assert (named.form, named.points.tolist()) == ("point", [[0, 0]])
    path.write_text(json.dumps({"features": [{"geometry": None, "properties": {"name": "nowhere"}}]}))
    assert read_basemap(path) == []
