"""The part of the registry for sentences that say "every" (see registry.py)."""

from __future__ import annotations

from typing import Final

_KILLED: Final = (
    "tests/faults/test_publish_kill.py::test_killed_again_and_again_at_every_step_in_turn_it_is_still_one_release",
)
_EXCLUDED: Final = (
    "tests/releases/test_bad_input.py::test_an_unknown_place_may_be_excluded_and_then_every_statement_says_so",
)
_MARKED: Final = ("tests/releases/test_simulate.py::test_every_file_says_that_it_is_a_simulation",)
_VERIFIED: Final = (
    "tests/releases/test_verify.py::test_every_kind_of_release_verifies",
    "tests/releases/test_verify.py::test_one_changed_byte_in_any_file_is_found",
    "tests/releases/test_verify.py::test_a_state_that_does_not_follow_is_found_even_when_signed",
)
_SAID: Final = ("tests/visits/count/test_people.py::test_what_the_answer_must_say",)
_STAYS: Final = (
    "tests/visits/count/test_stay_detection.py::test_short_stays_are_left_out_and_the_answer_says_so",
)
_COORDINATES: Final = (
    "tests/visits/places/test_coordinates.py::test_a_fix_counts_at_every_place_it_may_be_at",
)
_LISTED: Final = ("tests/visits/count/test_people.py::test_every_listed_place_is_answered_and_none_other",)

CHECKED: Final[dict[str, tuple[str, ...]]] = {
    "It is the same for every place": ("tests/mechanisms/test_additive.py::test_beta_at_most",),
    "of everything from this dataset, at most": (
        "tests/ledger/test_status.py::test_the_promise_is_the_cap_whatever_came_back",
        "tests/releases/test_claims.py::test_one_false_value_is_found_even_when_signed",
    ),
    "protects every person in the data": (
        "tests/theorems/test_composition.py::test_two_releases_enumerated",
    ),
    "the policy is united over every question": (
        "tests/theorems/test_composition.py::test_the_policy_of_the_branch_alone_is_caught",
    ),
    "exactly when everything x' visited, x visited too": (
        "tests/privacy/test_direction.py::test_directions_under_the_product_policy",
    ),
    "Coordinates count for every place within the declared radius": _COORDINATES,
    "every question that was ever asked of it, what each cost": (
        "tests/ledger/test_ledger.py::test_a_question_is_written_exactly",
    ),
    "Both are published with every release that needs them": (
        "tests/releases/test_limits.py::test_the_limit_of_the_dataset_is_used_where_one_is_needed",
    ),
    "the keyed fingerprint of every input file that holds rows is recorded": (
        "tests/releases/test_files.py::test_a_file_is_bound_once_and_before_anything_is_drawn",
    ),
    "and every dataset linked to one, keeps such a release charged": (
        "tests/ledger/test_ledger.py::test_a_balance_that_is_public_for_one_is_public_for_all_that_share_it",
    ),
    "Every process folds the list itself": (
        "tests/ledger/test_tampering.py::test_an_event_that_the_rules_forbid",
    ),
    "ledger verify reads everything, long lists of places included": (
        "tests/ledger/test_tampering.py::test_a_question_whose_list_was_changed",
    ),
    "So every event is also appended to a witness": (
        "tests/ledger/test_witness.py::test_every_event_is_told_to_every_witness",
    ),
    "Every release carries the ledger's id and the reference": (
        "tests/releases/test_forks.py::test_a_fork_is_seen_by_the_releases_alone",
        "tests/releases/test_reference.py::test_the_ledger_finds_the_reservation_by_the_reference",
    ),
    "makes the ledger anew from its witness, which holds every event": (
        "tests/ledger/test_rebuild.py::test_a_ledger_that_is_gone_is_made_anew_from_its_witness",
    ),
    "It is printed with every release, with the numbers": (
        "tests/releases/test_checked.py::test_every_kind_of_release_that_is_really_published_verifies",
    ),
    "what was counted, in sentences, with every declared exclusion": _SAID,
    "size and SHA-256 of every other file": _VERIFIED,
    "tests kill, interrupt and end a process at every one": _KILLED,
    "its time closed to every other question": (
        "tests/releases/test_limits.py::test_what_stops_at_a_limit_stays_charged_and_its_time_closed",
    ),
    "Every answer speaks from the moment it names": (
        "tests/releases/test_publish.py::test_the_moment_it_speaks_from_is_the_reservation_or_declared",
    ),
    "and every artefact repeats as the publisher's declaration": (
        "tests/releases/test_corrections.py::test_superseding_is_refused_unless_its_schedule_is_declared",
    ),
    "checks, for every mechanism": _VERIFIED,
    "the digest of every file, and the schema": _VERIFIED,
    "that every bound is possible and every state is the one": _VERIFIED,
    "marked as a simulation in every file": _MARKED,
    "marks in every file; the moment it speaks from": _MARKED,
    "simulations are marked in every file": _MARKED,
    "declare an exclusion, which then becomes part of every answer": _EXCLUDED,
    "noise is drawn once, everything is signed": _KILLED,
    "every threshold can be read from the same release": (
        "tests/browser/test_map.py::test_places_are_drawn_and_the_slider_reads_the_same_bounds",
    ),
    "reads every row once and says what would stop a count": (
        "tests/visits/count/test_row_checks.py::test_what_trips_a_check",
    ),
    "holds, exactly, for everything published from a dataset together": (
        "tests/theorems/test_composition.py::test_two_releases_enumerated",
        "tests/theorems/test_refunds.py::test_histories_enumerated",
    ),
    "publishing stops until everything published since is charged again": (
        "tests/releases/test_forks.py::test_a_forked_ledger_publishes_nothing_until_it_is_mended",
    ),
    "ledger verify and every later command say how many events are missing": (
        "tests/ledger/test_forgery.py::test_a_rolled_back_ledger_is_noticed_whatever_is_put_in_its_place",
    ),
    "every declared place is in every file": (
        *_LISTED,
        "tests/releases/test_simulate.py::test_the_files_hold_the_columns_they_should_and_no_count",
        "tests/releases/test_reference.py::test_stops_and_other_input_leave_no_trace_in_what_a_release_says_of_its_ledger",
    ),
    "Ed25519 over the manifest, SHA-256 of every file": _VERIFIED,
    "by one rule for people and places on every engine": (
        "tests/visits/read/test_identifiers.py::test_all_engines_agree_with_plain_python",
    ),
    'everything that stands for "missing" stops the work': (
        "tests/visits/read/test_identifiers.py::test_two_people_without_an_identifier_of_their_own_are_not_one",
    ),
    "say so, and so does every answer": _SAID,
    "A stay counts in every window it touches": (
        "tests/visits/count/test_people.py::test_a_stay_counts_in_every_interval_it_touches",
    ),
    "a person counts once at a place in each window that a visit of theirs touches": (
        "tests/engines/test_many_windows.py::test_stays",
        "tests/engines/test_many_windows.py::test_sightings",
        "tests/engines/test_many_windows.py::test_a_date_counts_in_every_hour_of_its_day",
        "tests/engines/test_many_windows.py::test_naive_times_where_the_clock_jumps",
        "tests/engines/test_spark_times.py::test_many_windows_are_one_pass_on_spark",
    ),
    "Days (`--every 1d`) are local days": (
        "tests/visits/times/test_every.py::test_days_are_days_of_the_local_calendar",
    ),
    "counts in every interval that begins by": (
        "tests/visits/count/test_people.py::test_in_an_interval_each_one_that_holds_counts",
    ),
    "A date counts for every moment at which the local clock": (
        "tests/visits/times/test_clocks.py::test_dates_of_a_whole_day_are_that_day_alone",
    ),
    "Coordinates count at every listed place they may be at": _COORDINATES,
    "Every answer then reads": _STAYS,
    "Without it every fix counts": _STAYS,
    "A stay counts at every place any of its fixes may have been at": (
        "tests/visits/count/test_stay_detection.py::test_looking_near_the_window_finds_every_stay_there_is",
    ),
    "every day that is looked at so is charged": (
        "tests/releases/test_days.py::test_every_day_that_stay_detection_looks_at_is_charged",
    ),
    "Every listed place is answered, with zero if nobody was there": _LISTED,
    "within about a kilometre of every place must be no target": (
        "tests/messages/test_visits.py::test_every_message",
    ),
    "leaves such visits out instead, and every answer then says so": _EXCLUDED,
    "Every choice of these that you make is a sentence in the answer": _SAID,
    "The interval holds every visit that touches it": (
        "tests/visits/count/test_people.py::test_a_stay_counts_in_every_interval_it_touches",
    ),
    "what the question needs, never the last moment in the data": (
        "tests/visits/count/test_coverage.py::test_an_export_that_was_cut_at_noon_is_not_the_whole_day",
    ),
    ", in every answer": (
        *_SAID,
        "tests/releases/test_checked.py::test_every_kind_of_release_that_is_really_published_verifies",
    ),
    "a sentence in every answer": (*_SAID, *_EXCLUDED, *_STAYS),
    "never left out: a stop, with line and reason": (
        "tests/visits/count/test_row_checks.py::test_what_trips_a_check",
    ),
    "looks at all of every row": ("tests/visits/count/test_row_checks.py::test_what_trips_a_check",),
}

NO_PROMISE: Final[dict[str, str]] = {
    "Every way a row can be left out": "leads to a list, whose rows have their entries",
    "something in it is missing, cannot be read or looks wrong": "names a kind of row",
    "A record is everything known of one person": "a definition",
    "exactly as counted, after every declared exclusion": "a definition",
    "Every definition on this page is the same sentence": "introduces a definition",
    "For every set Z of outputs": "a definition",
    "every proposition of P that is true of x": "a definition",
    "leaves everybody somewhere else to be is, in the end": "states a limit",
    "everything a person ever did": "explains a unit",
    "every ledger and address it has signed for": "names the content of a file",
    "Somebody who restores the database and every witness": "states a limit",
    "Here epsilon is 1 for everything published": "introduces an example",
    "can be seen by everybody": "states a limit",
    "caps and promise of everything from the dataset": "names a field",
    "is made up, and the same for everybody": "describes the example data",
    "Noisy counts of every place over a day need": "explains an option",
    "Knows everything except one person's visits": "describes the adversary",
    "Sees every file that is ever published": "describes the adversary",
    "such as fsq- before every identifier": "gives an example",
    "to every CSV reader that is one long field": "describes a damage",
    "facts about everybody": "says what a certified zero means",
    "would tell everybody what they say": "warns the curator",
    "the same for every reason": "said of a notice, which has its entry",
}
