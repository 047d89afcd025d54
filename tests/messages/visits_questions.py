"""Messages about windows, columns and formats: questions that cannot be asked."""

from __future__ import annotations

import polars as pl
from tests.messages.visits_acts import FIX, ROWS, SEEN, Said, asked, window
from tests.visits.making import NOON, table

from safeside.errors import BadQuestion, NowhereElse
from safeside.visits import StayRule, VisitFormat, Window

COLUMNS = "person, place, start, end"
SAID: Said = {
    # Windows
    "a sentence": (
        window("a/b/c"),
        BadQuestion,
        "The window 'a/b/c' is neither an instant nor an interval.",
        "Write one instant (2024-03-01T18:00+09:00), an interval A/B, or one date.",
    ),
    "backwards": (
        window("2024-03-02T00:00Z/2024-03-01T00:00Z"),
        BadQuestion,
        "The window ends before or when it begins.",
        "Give an interval A/B with B after A; for one moment give the moment alone.",
    ),
    "a zone": (
        window("2024-03-01", "Asia/Tokio"),
        BadQuestion,
        "There is no time zone 'Asia/Tokio'.",
        'Name one of the tz database, such as Europe/Berlin. Did you mean "Asia/Tokyo" or "Asia/Tomsk"?',
    ),
    "half a zone": (
        window("2024-03-01", "New York"),
        BadQuestion,
        "There is no time zone 'New York'.",
        'Name one of the tz database, such as Europe/Berlin. Did you mean "America/New_York"?',
    ),
    "no time": (
        window("noon"),
        BadQuestion,
        "'noon' is not an ISO 8601 time.",
        "Write it as 2024-03-01T18:00+09:00, or 2024-03-01 for a day.",
    ),
    "a number for a time": (
        lambda _: Window.parse(18),  # type: ignore[arg-type]
        BadQuestion,
        "A time is given as a int.",
        "Give text, a datetime, a date, or a pair of the beginning and the end or length.",
    ),
    "too fine": (
        window("2024-03-01T00:00:00.0000001Z"),
        BadQuestion,
        "'2024-03-01T00:00:00.0000001Z' is finer than a microsecond.",
        "Give the window in whole microseconds or coarser.",
    ),
    "too early": (
        window("1850-01-01T00:00Z"),
        BadQuestion,
        "'1850-01-01T00:00Z' is not between 1900 and 2200.",
        "Check the year of the window.",
    ),
    "naive": (
        window("2024-03-01T18:00"),
        BadQuestion,
        "The time '2024-03-01T18:00' has no zone.",
        'Add an offset (2024-03-01T18:00+09:00) or declare the zone (`timezone="Asia/Tokyo"`).',
    ),
    "skipped": (
        window("2024-03-31T02:30", "Europe/Berlin"),
        BadQuestion,
        "The clock skipped the local time '2024-03-31T02:30'.",
        "Write it with its offset from UTC, so that it is one moment.",
    ),
    "shown twice": (
        window("2024-10-27T02:30", "Europe/Berlin"),
        BadQuestion,
        "The clock showed twice the local time '2024-10-27T02:30'.",
        "Write it with its offset from UTC, so that it is one moment.",
    ),
    "no length": (
        window("2024-03-01T00:00Z/PX"),
        BadQuestion,
        "'PX' is not a length of time.",
        "Write it as P1D, P1W or PT12H.",
    ),
    "no interval": (
        window("x/P1D"),
        BadQuestion,
        "'x' is not an ISO 8601 time.",
        "Write it as 2024-03-01T18:00+09:00, or 2024-03-01 for a day.",
    ),
    "a length beyond all years": (
        window("2024-03-01T00:00Z/P999999999D"),
        BadQuestion,
        "2024-03-01T00:00Z/P999999999D is not an interval.",
        "Write it as 2024-03-01/P1D.",
    ),
    "no holding time": (
        lambda _: VisitFormat(hold="a while"),
        BadQuestion,
        "The holding time is not a length of time.",
        "Give the holding time as 15min, 2h, 1d or PT1H30M.",
    ),
    "a holding time without end": (
        lambda _: VisitFormat(hold="99999d"),
        BadQuestion,
        "The holding time is longer than a century.",
        "Give it as 15min, 2h or 1d.",
    ),
    # Columns and formats
    "no columns": (
        lambda _: VisitFormat(columns="person"),
        BadQuestion,
        "The columns are not written as ROLE=COLUMN.",
        'Write `columns={"person": "patient_id", "time": "seen_at"}`.',
    ),
    "a role": (
        lambda _: VisitFormat(columns={"persn": "x"}),
        BadQuestion,
        "A visit has no role 'persn'.",
        "Use one of person, place, latitude, longitude, accuracy, start, end, time, date, state."
        ' Did you mean "person"?',
    ),
    "a separator": (
        lambda _: VisitFormat(separator=";;"),
        BadQuestion,
        "The separator is not one plain character.",
        "Give one, such as ; or |, or the word tab.",
    ),
    "radius and cells": (
        lambda _: VisitFormat(radius=1, h3_resolution=9),
        BadQuestion,
        "Both a radius and H3 cells are declared.",
        "Declare one of the two.",
    ),
    "a radius": (
        lambda _: VisitFormat(radius=20_000),
        NowhereElse,
        "A radius of 20000 m around every place does not describe venues.",
        "Declare a radius above 0 and up to 1000 m.",
    ),
    "cells": (
        lambda _: VisitFormat(h3_resolution=3),
        NowhereElse,
        "H3 cells of resolution 3 with rings around them (1) are no venues.",
        "Declare a resolution from 9 to 15 (`h3_resolution=11`); rings: 2 at most around cells of "
        "resolution 9, 8 of 10, 10 of smaller ones, and none of 8.",
    ),
    "a role without a column": (
        lambda _: VisitFormat(columns="person=,time=seen"),
        BadQuestion,
        "The role person is given no column.",
        "Write person=COLUMN; accuracy and state may be left without one.",
    ),
    "a stay": (
        lambda _: StayRule(minutes=0, longest_gap="1h"),
        BadQuestion,
        "Stay detection needs at least 1 minute and a distance above 0 m.",
        "Give the minutes a stay must last and the metres within which it happens.",
    ),
    "a silence without end": (
        lambda _: StayRule(minutes=5, longest_gap="4d"),
        BadQuestion,
        "The longest gap between two fixes of a stay is nothing, or longer than 12 hours.",
        "Declare how long a phone may be silent during a stay, as 30min or 2h: after a longer silence nobody "
        "knows where the person was.",
    ),
    "no such column": (
        asked(table(ROWS), columns="person=persom"),
        BadQuestion,
        f"There is no column person (persom). There are: {COLUMNS}.",
        'Map it to a column (`columns={"person": "COLUMN"}`). Did you mean "person"?',
    ),
    "another word": (
        asked(table(ROWS).rename({"person": "patient_id"})),
        BadQuestion,
        "There is no column person. There are: patient_id, place, start, end.",
        'Map it to a column (`columns={"person": "COLUMN"}`). Did you mean "patient_id"?',
    ),
    "one column twice": (
        asked(table(ROWS), columns="start=end"),
        BadQuestion,
        "Column end is used for two things.",
        "Map each of the roles to a column of its own.",
    ),
    "a role that is not used": (
        asked(table(ROWS).with_columns(x=pl.lit(1.0)), columns="latitude=x"),
        BadQuestion,
        "A column is mapped to latitude, which stays at places do not use.",
        "Map start and end, or time, or date; and place, or latitude and longitude with a radius.",
    ),
    "two ways to tell the time": (
        asked(table(ROWS).with_columns(time=pl.col("start"))),
        BadQuestion,
        "The visits could be read as sightings or as stays.",
        'Say which columns tell the time: start and end, or time, or date (`columns={"time": "COLUMN"}`); '
        'or, where one is the date and one the time of day, both together (`columns={"time": "DATE+TIME"}`).',
    ),
    "none": (
        asked(table(ROWS).drop("start", "end")),
        BadQuestion,
        "No column tells the time. There are: person, place.",
        'Map start and end, or time, or date to columns (`columns={"time": "COLUMN"}`).',
    ),
    "sightings": (
        asked(SEEN),
        BadQuestion,
        "Sightings tell when a person was seen, not how long they stayed.",
        'Declare how long a sighting holds (`hold="15min"`), or map start and end.',
    ),
    "stays that are held": (
        asked(table(ROWS), hold="1h"),
        BadQuestion,
        "A holding time is declared, but the visits are stays.",
        "Leave the holding time out.",
    ),
    "detected and held": (
        asked(FIX, radius=50, hold="1h", stay_rule=StayRule(minutes=5, longest_gap="1h")),
        BadQuestion,
        "Stays can be detected only in sightings without a holding time.",
        "Map time, latitude and longitude, declare a radius, and leave the holding time out.",
    ),
    "detected without coordinates": (
        asked(SEEN, stay_rule=StayRule(minutes=5, longest_gap="1h")),
        BadQuestion,
        "Stays are detected from coordinates.",
        "Declare a radius (`radius=50`) or H3 cells (`h3_resolution=11`).",
    ),
    "coordinates": (
        asked(FIX, hold="1h"),
        BadQuestion,
        "The visits have coordinates and no place.",
        "Declare how coordinates become places: a radius in metres (`radius=50`) or H3 cells "
        "(`h3_resolution=11`).",
    ),
    "places without coordinates": (
        asked(FIX, hold="1h", radius=50),
        BadQuestion,
        "The visits have coordinates, and the list of places has none.",
        "Add the columns latitude and longitude to the list of places.",
    ),
    "an instant of sightings": (
        asked(SEEN, NOON, hold="0s"),
        BadQuestion,
        "Where a person is at an instant cannot be told from sightings that hold for no time.",
        'Declare how long a sighting holds (`hold="15min"`), or ask about an interval.',
    ),
}
