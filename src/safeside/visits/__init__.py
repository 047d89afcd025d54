"""From raw visits to exact counts of people, on any engine: read/, times/, places/ and count/."""

from safeside.visits.count.check import Report, check_visits
from safeside.visits.count.people import Counts, count_visits
from safeside.visits.count.row_groups import default_cache
from safeside.visits.count.unlisted import Confirm, LeftOut, never_confirm
from safeside.visits.findings import Doubt, Finding, amount
from safeside.visits.places.free_ground import require_free_ground
from safeside.visits.places.places import Places, read_places
from safeside.visits.read.format import Expected, StayRule, VisitFormat
from safeside.visits.read.paths import COVERS
from safeside.visits.times.every import Windows, hull, split
from safeside.visits.times.window import When, Window, local_midnight

__all__ = [
    "COVERS",
    "Confirm",
    "Counts",
    "Doubt",
    "Expected",
    "Finding",
    "LeftOut",
    "Places",
    "Report",
    "StayRule",
    "VisitFormat",
    "When",
    "Window",
    "Windows",
    "amount",
    "check_visits",
    "count_visits",
    "default_cache",
    "hull",
    "local_midnight",
    "never_confirm",
    "read_places",
    "require_free_ground",
    "split",
]
