"""Damaged files: whatever happens to their bytes, the count is right or there is none."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.visits import plain
from tests.visits.making import DAY, PLACES, count_visits, places, stays, table, write_csv
from tests.visits.plain import Stay

from safeside.errors import SafesideError
from safeside.visits import VisitFormat

TOKYO = VisitFormat(timezone="Asia/Tokyo")
PIECES = [
    b",",
    b"\n",
    b'"',
    b"\r",
    b"\x00",
    b"\xff",
    b"0",
    b"9",
    b"bar",
    b"ana",
    b" ",
    b"Z",
    b"T",
    b"\xef\xbb\xbf",
    b"1e5",
    b";",
]


def mutated(data: st.DataObject, content: bytes, pieces: list[bytes]) -> bytes:
    """The bytes after one to three accidents: flipped, lost, inserted, cut off, a stretch written twice."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        end = at + data.draw(st.integers(1, 12))
        kind = data.draw(st.sampled_from(["flip", "lose", "insert", "replace", "cut", "repeat", "line"]))
        if kind == "flip" and content:
            content = (
                content[:at] + bytes([content[at] ^ (1 << data.draw(st.integers(0, 7)))]) + content[at + 1 :]
            )
        elif kind == "lose":
            content = content[:at] + content[end:]
        elif kind == "insert":
            content = content[:at] + data.draw(st.sampled_from(pieces)) + content[at:]
        elif kind == "replace":
            content = content[:at] + data.draw(st.sampled_from(pieces)) + content[end:]
        elif kind == "cut":
            content = content[:at]
        elif kind == "repeat":
            content = content[:end] + content[at:]
        elif kind == "line":
            lines = content.split(b"\n")
            content = b"\n".join(lines[: at % len(lines)] + lines[at % len(lines) + 1 :])
    return content


def read_plainly(content: bytes) -> list[Stay]:
    """The rows of a CSV file as Python's own reader understands them, each in full."""
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    return [Stay(row["person"], row["place"], read_time(row["start"]), read_time(row["end"])) for row in rows]


def read_time(text: str) -> datetime:
    """ISO 8601; a leap second is the next minute, and digits beyond microseconds are kept as one more."""
    leap = re.sub(r"(:\d\d):60", r"\1:59", text)
    read = datetime.fromisoformat(leap) + timedelta(seconds=leap != text)
    return read if read.tzinfo else read.replace(tzinfo=plain.ZoneInfo("Asia/Tokyo"))


@given(stays, st.data())
@settings(max_examples=150)
def test_damaged_text(rows: list[Stay], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = write_csv(table(rows), Path(directory) / "visits.csv")
        content = mutated(data, path.read_bytes(), PIECES)
        path.write_bytes(content)
        try:
            counted = count_visits(path, places(), DAY, TOKYO).values.tolist()
        except SafesideError:
            return
    assert counted == plain.count(read_plainly(content), PLACES, DAY)


COUNTING = """
import json, sys
from pathlib import Path
from tests.visits.making import DAY, count_visits, places
from safeside.errors import SafesideError

for path in sys.argv[1:]:
    try:
        counted = count_visits(Path(path), places(), DAY).values.tolist()
    except SafesideError:
        counted = None
    print(json.dumps(counted), flush=True)
"""


def count_in_children(paths: list[Path]) -> list[list[int] | None]:
    """Counts of files that may end the process which reads them: Polars asks for all the memory they name."""
    counted: list[list[int] | None] = []
    while len(counted) < len(paths):
        left = [str(path) for path in paths[len(counted) :]]
        child = subprocess.run(
            [sys.executable, "-c", COUNTING, *left], capture_output=True, text=True, check=False
        )
        counted += [json.loads(line) for line in child.stdout.splitlines()]
        if child.returncode:
            assert child.returncode == -signal.SIGABRT, child.stderr[-2000:]
            counted.append(None)
    return counted


def damaged_table(chance: random.Random) -> bytes:
    rows = [
        Stay(
            f"u{chance.randrange(12)}",
            chance.choice(PLACES),
            start,
            start + timedelta(minutes=chance.randrange(500)),
        )
        for start in (DAY.start + timedelta(minutes=chance.randrange(-2000, 2000)) for _ in range(30))
    ]
    sink = io.BytesIO()
    pq.write_table(
        table(rows).to_arrow(),
        sink,
        compression=chance.choice(["none", "snappy", "zstd"]),
        use_dictionary=chance.random() < 0.5,
        row_group_size=chance.choice([10, 100]),
        data_page_version=chance.choice(["1.0", "2.0"]),
    )
    content = bytearray(sink.getvalue())
    for _ in range(chance.choice([1, 1, 2, 4])):
        at = chance.randrange(len(content))
        kind = chance.random()
        if kind < 0.7:
            content[at] ^= 1 << chance.randrange(8)
        elif kind < 0.85:
            content[at] = chance.randrange(256)
        elif kind < 0.95:
            del content[at : at + chance.randrange(1, 9)]
        else:
            del content[at + 1 :]
    return bytes(content)


def rows_of(path: Path) -> list[Stay]:
    """The rows as another reader finds them; people by their bytes, whether or not these spell anything."""
    left = pq.read_table(path)
    left = left.set_column(0, "person", left["person"].cast(pa.large_binary()))
    left = left.set_column(1, "place", left["place"].cast(pa.large_binary()))
    rows = left.to_pylist()
    return [
        Stay(row["person"], row["place"].decode("utf-8", "replace"), row["start"], row["end"]) for row in rows
    ]


def test_damaged_tables(tmp_path: Path) -> None:
    """Where another reader can make sense of what is left, the count is that of the rows it finds."""
    chance = random.Random(7)
    paths = [tmp_path / f"{number}.parquet" for number in range(400)]
    for path in paths:
        path.write_bytes(damaged_table(chance))
    counted = count_in_children(paths)
    compared = 0
    for path, values in zip(paths, counted, strict=True):
        if values is None:
            continue
        try:
            found = rows_of(path)
        except (OSError, pa.ArrowException, OverflowError):
            continue
        assert values == plain.count(found, PLACES, DAY), path.name
        compared += 1
    assert compared > 40
    assert counted.count(None) > 100


@given(stays, st.data())
@settings(max_examples=40)
def test_statistics_are_not_believed(rows: list[Stay], data: st.DataObject) -> None:
    """A row group whose statistics lie is read all the same: they are a claim, the rows are the data."""
    sink = io.BytesIO()
    schema = table(rows).to_arrow()
    pq.write_table(schema, sink, row_group_size=5, use_dictionary=False, compression="none")
    content = bytearray(sink.getvalue())
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    footer = len(content) - metadata.serialized_size - 8
    for number in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(number).column(column)
            if chunk.path_in_schema not in ("start", "end"):
                continue
            raw = chunk.statistics.min.timestamp()
            lie = data.draw(st.sampled_from([-(10**9), 10**9]))
            for moment in (chunk.statistics.min, chunk.statistics.max):
                true = round(moment.timestamp() * 10**6).to_bytes(8, "little", signed=True)
                false = round((raw + lie) * 10**6).to_bytes(8, "little", signed=True)
                content[footer:] = content[footer:].replace(true, false)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "visits.parquet"
        path.write_bytes(content)
        assert count_visits(path, places(), DAY).values.tolist() == plain.count(rows, PLACES, DAY)
