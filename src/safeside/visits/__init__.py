"""The data model, readers and checks; counting people per target on any engine."""

from safeside.visits.checking import check_visits
from safeside.visits.counting import Counts, count_visits
from safeside.visits.format import Manifest, StayRule, VisitFormat
from safeside.visits.leftout import LeftOut
from safeside.visits.places import Places, read_places
from safeside.visits.report import Doubt, Finding, Report
from safeside.visits.window import Window

__all__ = [
    "Counts",
    "Doubt",
    "Finding",
    "LeftOut",
    "Manifest",
    "Places",
    "Report",
    "StayRule",
    "VisitFormat",
    "Window",
    "check_visits",
    "count_visits",
    "read_places",
]
