"""Ten minutes of fuzzed files and dataframes: every engine counts what plain Python counts, or stops.

A count that is smaller than the truth is what must never be; a larger one, and an error that is not ours,
are failures too. A failure is made smaller, row by row, and printed with its seed.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from soak._fuzz_cases import KINDS, identifiers
from soak._fuzz_rows import Case, Row, truth
from tests.visits.making import DAY

from safeside.errors import SafesideError
from safeside.visits import count_visits, read_places

SECONDS = 600.0
SMALL_SECONDS = 10.0
ONE_ON_SPARK = 100
"""One case of so many is on Spark, which takes a second where others take milliseconds."""
SHOWN = 12


def judge(case: Case, rows: list[Row]) -> str:
    """How the count of these rows went."""
    with tempfile.TemporaryDirectory() as folder:
        visits = case.make(rows, Path(folder))
        try:
            counts = count_visits(
                visits,
                read_places(list(case.listed)),
                DAY,
                case.fmt,
                exclude_unknown_places=case.exclude,
                expected=case.expected,
            )
        except SafesideError:
            return "stopped"
        except Exception as error:  # noqa: BLE001  (whatever it is, it is a failure to report)
            return f"FAILED: raised {type(error).__name__}"
    there = dict(zip(counts.places.ids, counts.values.tolist(), strict=True))
    pairs = [(there[place], number) for place, number in zip(case.listed, truth(case, rows), strict=True)]
    if any(counted < so for counted, so in pairs):
        return "FAILED: counted less than the truth"
    return "agreed" if all(counted == so for counted, so in pairs) else "FAILED: counted more than the truth"


def smaller(case: Case, outcome: str) -> list[Row]:
    """As few rows as still fail in the same way."""
    rows, size = case.rows, max(1, len(case.rows) // 2)
    while size:
        at = 0
        while at < len(rows):
            fewer = rows[:at] + rows[at + size :]
            if fewer and judge(case, fewer) == outcome:
                rows = fewer
            else:
                at += size
        size //= 2
    return rows


def main(words: list[str]) -> int:
    """Draw cases until the time is over; 1 if one failed."""
    warnings.simplefilter("ignore")
    small = "--small" in words
    seed = random.SystemRandom().getrandbits(32)
    say(f"seed {seed}")
    dice = random.Random(seed)
    over = time.monotonic() + (SMALL_SECONDS if small else SECONDS)
    outcomes: dict[str, Counter[str]] = {}
    failures, number = 0, 0
    while time.monotonic() < over and failures < SHOWN:
        number += 1
        spark = not small and number % ONE_ON_SPARK == 0
        case = identifiers(dice, spark=True) if spark else dice.choice(KINDS)(dice)
        with contextlib.redirect_stderr(None):
            outcome = judge(case, case.rows)
        outcomes.setdefault(case.kind, Counter())[outcome] += 1
        if outcome.startswith("FAILED"):
            failures += 1
            say(f"{case.kind}, {case.form}: {outcome}, such as")
            for row in smaller(case, outcome):
                say(f"  {row}")
    say(f"{number:,} inputs. Of each kind:")
    for kind, found in sorted(outcomes.items()):
        say(f"  {kind}: " + ", ".join(f"{times:,} {what}" for what, times in sorted(found.items())))
    if not failures:
        say("No count was smaller than the truth, and none larger; nothing but our own errors stopped one.")
    return int(failures > 0)


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
