"""What is said where visits may not cover the window, and of declarations that say nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.messages.visits_acts import GOOD, HEADER, ROWS, Act, Said
from tests.visits.making import DAY, NOON, places, table

from safeside.errors import BadFile, BadQuestion
from safeside.visits import Expected, VisitFormat, count_visits

DECLARE = (
    'If the export covers it, declare so (`covers="A/B"`, or covers in safeside.toml, or a file covers.toml'
    " beside the visits; where there is one file a day, named by its date, once:"
    ' `covers="visits-%Y-%m-%d.csv"`). If it does not, export again.'
)
LESS = "The visits must cover {} for this question, and are declared to cover less."
CORRECT = (
    "Ask about a time that the export covers, or export again; or correct what is declared (`covers=`,"
    " covers in safeside.toml, or covers.toml beside the visits)."
)
NAMES = "What the visits cover is declared by the names of files, and "
INSTEAD = 'Declare an interval (`covers="A/B"`) for a dataframe; and the zone of the dates (`timezone=`).'


def covering(covers: str | None, timezone: str | None = None, **more: object) -> Act:
    known, declared = Expected(covers=covers), VisitFormat(timezone=timezone)
    return lambda _: count_visits(table(ROWS), places(), DAY, declared, expected=known, **more)


def beside(manifest: str | None, name: str = "visits.csv", covers: str | None = None) -> Act:
    def act(folder: Path) -> object:
        (folder / name).write_text(HEADER + GOOD)
        if manifest is not None:
            (folder / "covers.toml").write_text(manifest)
        known, declared = Expected(covers=covers), VisitFormat(timezone="Asia/Tokyo")
        return count_visits(folder / name, places(), DAY, declared, expected=known)

    return act


def two_folders(folder: Path) -> object:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "visits.csv").write_text(HEADER + GOOD)
    (folder / "a" / "covers.toml").write_text('covers = "2024-03-03"')
    return count_visits([folder / "a", folder / "b"], places(), DAY, VisitFormat(timezone="Asia/Tokyo"))


SAID: Said = {
    "nothing shows it": (
        covering(None),
        BadFile,
        "Nothing shows that the visits cover all of the time asked about (2024-03-02T15:00+00:00 to"
        " 2024-03-03T15:00+00:00): nobody declared it, and no row lies wholly before or after it within a"
        " day.",
        DECLARE,
    ),
    "declared less": (
        covering("2024-03-03/2024-03-04", "UTC"),
        BadFile,
        LESS.format("2024-03-02T15:00+00:00 to 2024-03-03T15:00+00:00"),
        CORRECT,
    ),
    "declared less than until now": (
        covering("2024-03-03T00:00/PT10H", "Asia/Tokyo", until=NOON.start + timedelta(hours=1)),
        BadFile,
        LESS.format("2024-03-03T00:00+09:00 to 2024-03-03T13:00+09:00"),
        f"{CORRECT} If the time was not over at the export, give its moment as `known_on=`.",
    ),
    "a moment": (
        covering("2024-03-03T00:00Z"),
        BadQuestion,
        "What the visits cover is declared as one moment.",
        'Declare an interval or a date: `covers="2024-03-01/2024-03-08"`.',
    ),
    "names of a dataframe": (
        covering("visits-%Y-%m-%d.csv", "UTC"),
        BadQuestion,
        f"{NAMES}there are none.",
        INSTEAD,
    ),
    "names without a zone": (
        covering("visits-%Y-%m-%d.csv"),
        BadQuestion,
        f"{NAMES}no time zone is declared for the dates in them.",
        INSTEAD,
    ),
    "names without a date": (
        covering("visits-%Y.csv"),
        BadQuestion,
        "The names of files do not tell a date.",
        "Write them with %Y, %m and %d (and %H for hours), each once, and * for what differs:"
        ' `covers="visits-%Y-%m-%d-*.csv"`.',
    ),
    "another name": (
        beside(None, covers="visits-%Y-%m-%d.csv"),
        BadFile,
        "The name of visits.csv is not as it was declared to be, or tells no date (`covers=`).",
        "Give only files that are named so, or declare what they cover as an interval A/B.",
    ),
    "a manifest that says nothing": (
        beside("rows = 3"),
        BadFile,
        "covers.toml beside the visits does not say what they cover.",
        'Write one line into it, such as covers = "2024-03-01/2024-03-08", and nothing else.',
    ),
    "a manifest of some": (
        two_folders,
        BadFile,
        "A file covers.toml stands beside some of the visits, and none beside others.",
        "Write one for every folder, or one into the folder that holds them all.",
    ),
}
