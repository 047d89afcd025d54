"""People and the groups they are in, counted exactly: the room of every count that is not about places.

It shares the reading of visits (`visits/read`): files and dataframes of every engine, identifiers, findings.
`where` is the grammar of conditions, `measures` what is counted and by which declared domains, `listed` the
public list, `table` the rows and their checks, `count` the counts.
"""

from safeside.groups.count import GroupCounts, check_people, count_people, shown_whole
from safeside.groups.listed import read_groups
from safeside.groups.measures import COUNTED, Domain, Domains, Measure, Measures, measures
from safeside.groups.where import Term, Where

__all__ = [
    "COUNTED",
    "Domain",
    "Domains",
    "GroupCounts",
    "Measure",
    "Measures",
    "Term",
    "Where",
    "check_people",
    "count_people",
    "measures",
    "read_groups",
    "shown_whole",
]
