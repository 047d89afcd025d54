"""What stands behind the sentences about groups of people, and a release of them to read those from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from safeside import Account, ask, create_ledger, publish

_NEVER_WRONG: Final = (
    "tests/property/test_zero_tolerance.py::test_ageo_is_never_on_the_wrong_side",
    "tests/releases/test_grouped.py::test_a_release_of_groups_verifies_and_every_bound_is_true",
    "tests/releases/test_grouped.py::test_the_published_bound_is_never_below_the_count_whatever_is_drawn",
)
_STOPS: Final = (
    "tests/groups/test_count.py::test_what_is_doubtful_stops_every_engine_and_is_not_quoted",
    "tests/groups/test_count.py::test_rows_are_named_by_file_and_line",
)
_PROMISE: Final = (
    "tests/groups/test_privacy.py::test_the_policy_of_groups_enumerated",
    "tests/groups/test_privacy.py::test_the_sentences_of_the_promise_hold_for_every_record",
)
_ROUNDED: Final = (
    "tests/groups/test_shares.py::test_a_threshold_is_the_most_people_that_are_no_more_than_the_share",
    "tests/groups/test_shares.py::test_what_is_shown_is_never_below_the_share_and_less_than_a_tenth_above",
)
CHECKED: Final[Mapping[str, tuple[str, ...]]] = {
    "is certain: it is never said of a school where more people": _NEVER_WRONG,
    "certain of 781 of the 803 schools": (
        "tests/studies/test_county.py::test_one_sided_noise_certifies_most_schools_and_is_never_wrong",
    ),
    "nearly every row says something certain": _NEVER_WRONG,
    "with a slider that says of how many schools it is certain at every other share": (
        "tests/browser/test_groups.py::"
        "test_every_row_says_what_was_published_and_the_slider_reads_the_same_numbers",
    ),
    "with file, line, column and reason, never with a value: rows without a group": _STOPS,
    "It is part of the question, of the policy and of every statement": (
        "tests/releases/test_grouped.py::test_the_policy_is_the_negation_of_exactly_what_is_counted",
        "tests/releases/test_grouped.py::"
        "test_a_release_that_says_another_question_of_groups_is_found_even_when_signed",
    ),
    "Conditions that together are true of everybody": (
        "tests/groups/test_measures.py::test_conditions_that_are_true_of_everybody_are_refused",
        "tests/groups/test_measures.py::test_the_most_measures_of_a_record_are_those_of_an_enumeration",
    ),
    "bands of age may then cover every age": (
        "tests/groups/test_measures.py::test_conditions_that_are_true_of_everybody_are_refused",
    ),
    "A count above its size is a limit that the data broke": (
        "tests/releases/test_grouped.py::"
        "test_a_count_above_its_size_stops_for_the_curator_and_closes_every_date",
    ),
    "If that is true of every group, the question is refused": (
        "tests/releases/test_sizes.py::test_where_every_group_is_small_nothing_is_asked",
    ),
    "made from declared domains, hold the noise and every sentence to it": _PROMISE,
    "had you been one of those counted in none of them": _PROMISE,
    "the odds that you are one of them in at least one of these": _PROMISE,
    "The true share is never larger": (*_NEVER_WRONG, *_ROUNDED),
    "a share that is shown is rounded up": _ROUNDED,
    "It is the same for every school and was known before any data was read": (
        "tests/mechanisms/test_additive.py::test_beta_at_most",
    ),
}
NO_PROMISE: Final[dict[str, str]] = {
    "Those of which it is certain": "names the rows that a filter shows",
    "Those of which it cannot be said": "names the rows that a filter shows",
    "Each column it looks at declares its domain": "says what the owner declares",
    "It never comes from the data": "asks the owner to take sizes from public knowledge",
    "Any of them whose probabilities can be written down": "says what the audit can be used for",
}


def released(home: Path) -> Mapping[str, Path]:
    """The pages of one release of groups."""
    with create_ledger(home / "groups.db") as ledger:
        ledger.create_dataset("pupils", "person", epsilon=2)
    question = ask(
        groups=pl.DataFrame({"group": ["east", "north"], "size": [4, 5]}),
        as_of="2021-06-01",
        at_most="25%",
        epsilon=1,
        noun="unvaccinated pupil/unvaccinated pupils",
        group_noun="school/schools",
    )
    people = pl.DataFrame({"person": ["ana", "ben"], "group": ["east", "north"]})
    account = Account(ledger=home / "groups.db", dataset="pupils", key=home / "key", out=home / "groups")
    made = publish(people, question, account)
    return {name: made.directory / name for name in ("statement.txt", "report.html", "map.html")}
