"""What stands behind each sentence that promises something.

A key is a few words of the sentence, enough to tell it from others; capitals, line breaks and marks of
emphasis do not matter. `CHECKED` names the tests that would fail if the sentence were not true. `NO_PROMISE`
says why a sentence that sounds like a promise is none: it states a limit, gives advice, or names a thing.

A new or changed sentence needs an entry here; test_promises.py says which one and where.
"""

from __future__ import annotations

from typing import Final

from tests.promises import every, groups

_NEVER_WRONG: Final = (
    "tests/property/test_zero_tolerance.py::test_ageo_is_never_on_the_wrong_side",
    "tests/property/test_zero_tolerance.py::test_quiet_is_never_wrong",
    "tests/releases/test_simulate.py::test_at_most_is_never_wrong_and_states_follow_from_bounds",
    "tests/releases/test_city.py::test_the_hour_is_never_wrong_and_as_often_right_as_theory_says",
)
_DP_NEVER_WRONG: Final = (
    "tests/property/test_zero_tolerance.py::test_ordinary_privacy_with_a_pad_is_never_wrong",
    "tests/property/test_zero_tolerance.py::test_the_optimal_decision_is_never_wrong",
    "tests/releases/test_city.py::test_the_hour_under_ordinary_differential_privacy_is_never_wrong_either",
)
_TAKEN_TOGETHER: Final = (
    "tests/theorems/test_composition.py::test_two_releases_enumerated",
    "tests/theorems/test_conversions.py::test_counts_enumerated",
    "tests/theorems/test_refunds.py::test_histories_enumerated",
    "tests/ledger/test_status.py::test_the_promise_is_the_cap_whatever_came_back",
)
_ENUMERATED: Final = (
    "tests/mechanisms/test_additive.py::test_ageo_enumerated",
    "tests/mechanisms/test_sparse.py::test_sageo_enumerated",
    "tests/mechanisms/test_paddedgeo.py::test_padded_enumerated",
)
_DRAWN_ONCE: Final = (
    "tests/ledger/test_ledger.py::test_noise_is_committed_once",
    "tests/releases/test_planted.py::test_a_committed_draw_that_is_lost_stays_charged_and_is_never_drawn_again",
)
_FORGERY: Final = (
    "tests/releases/test_planted.py::test_a_forged_draw_is_refused_before_anything_is_paid",
    "tests/releases/test_planted.py::test_what_is_signed_is_what_was_checked_whatever_is_on_the_disk_meanwhile",
    "tests/releases/test_publish.py::test_nobody_else_can_look_into_a_draw_that_is_not_committed",
)
_REFUNDS: Final = (
    "tests/theorems/test_refunds.py::test_histories_enumerated",
    "tests/ledger/test_ledger.py::test_nothing_comes_back_beyond_the_published_alarms",
)
_NOT_QUOTED: Final = ("tests/visits/count/test_row_checks.py::test_what_is_wrong_is_never_quoted",)
_RECOVERY: Final = (
    "tests/ledger/test_recovery.py::test_a_lost_refusal_gives_nothing_back_and_a_lost_release_after_it_is_charged",
    "tests/ledger/test_forgery.py::test_recovering_it_leaves_no_more_than_there_was",
)
_SELECTION: Final = (
    "tests/mechanisms/test_selection.py::test_selection_enumerated",
    "tests/mechanisms/test_selection.py::test_random_universes",
    "tests/mechanisms/test_selection.py::test_what_is_said_is_true",
)
_REBUILT: Final = (
    "tests/ledger/test_rebuild.py::test_what_is_damaged_is_kept_aside",
    "tests/ledger/test_rebuild.py::test_a_ledger_that_is_gone_is_made_anew_from_its_witness",
)

CHECKED: Final[dict[str, tuple[str, ...]]] = every.CHECKED | {
    **groups.CHECKED,
    # What answers say
    "is certain: it is never said of a place where more people": _NEVER_WRONG,
    "never a busy one quiet": _NEVER_WRONG,
    "The true number is never larger": _NEVER_WRONG,
    "publishes that sentence so that it is never wrong": _NEVER_WRONG,
    "a count is never understated": _NEVER_WRONG,
    'Never wrong. "At most t" holds': _NEVER_WRONG,
    "and never be wrong when you say so": _NEVER_WRONG,
    "That is the price of answers that are never wrong": _NEVER_WRONG,
    "upper_bound is certain": _NEVER_WRONG,
    "is it certain that at most t people": (
        *_NEVER_WRONG,
        "tests/releases/test_publish.py::test_a_release_is_true_signed_and_paid",
    ),
    "PaddedGeo: never wrong under ordinary": _DP_NEVER_WRONG,
    "is never wrong either, within ordinary": _DP_NEVER_WRONG,
    "to have had no known infected visitor": (
        "tests/releases/test_verify.py::test_numbers_and_places_other_than_the_answers_are_found_even_when_signed",
    ),
    "shown for certain to have had nobody": (
        "tests/releases/test_verify.py::test_numbers_and_places_other_than_the_answers_are_found_even_when_signed",
    ),
    "The number cannot be moved here": (
        "tests/releases/test_claims.py::test_one_false_value_is_found_even_when_signed",
    ),
    "A state is never blank and never a code": (
        "tests/releases/test_simulate.py::test_every_kind_of_question_makes_a_whole_release",
        "tests/releases/test_simulate.py::test_the_files_hold_the_columns_they_should_and_no_count",
    ),
    "says what is certain and what is not, and asks nobody": (
        "tests/releases/test_checked.py::test_a_page_that_says_something_else_is_found_even_when_signed",
    ),
    "lets an answer be certain in one direction": _NEVER_WRONG,
    'It is what makes "at most t people were here" certain': _NEVER_WRONG,
    # Selection
    "changes every count by at most 1, however many": _SELECTION,
    "can be chosen at one epsilon, and never be wrong": _SELECTION,
    "A bad forecast costs answers, never truth or privacy": _SELECTION,
    "takes any length from a minute": (
        "tests/visits/times/test_every.py::test_a_day_has_as_many_hours_as_its_clock_shows",
        "tests/releases/test_question.py::test_every_hour_of_a_day_is_a_window_with_its_offset",
    ),
    "with `upper_bound` is what is certain": _SELECTION,
    "a bound above the threshold, which is certain as well": _SELECTION,
    "may have been left out by chance, so it says nothing": _SELECTION,
    "comes from the public column `popularity` and the profile": (
        "tests/audit/test_published.py::test_it_holds",
        "tests/studies/test_planted.py::test_is_caught",
    ),
    "do better on short lists, where nearly everything": (
        "tests/releases/test_question.py::test_without_a_method_the_one_that_certifies_most_is_taken",
    ),
    "every claim was held against a second count": (
        "tests/studies/test_reproduce.py::test_the_second_count_of_the_study_is_the_first",
    ),
    "what no mechanism that is never wrong can exceed": (
        "tests/mechanisms/test_selection.py::test_expected_is_the_mean_of_what_is_certified",
    ),
    "(proofs/selection.md) has every step": (
        "tests/mechanisms/test_proof_pages.py::test_the_proof_names_the_tests_that_enumerate_it",
    ),
    # What is promised to the people in the data
    "taken together, at most": _TAKEN_TOGETHER,
    "taken together, was at most": _TAKEN_TOGETHER,
    "taken together, is at most": _TAKEN_TOGETHER,
    "every set of complete histories is at most e^E": _TAKEN_TOGETHER,
    "The releases under ordinary differential privacy alone": (
        "tests/ledger/test_status.py::test_two_sentences_and_never_one_total",
        "tests/theorems/test_composition.py::test_two_releases_enumerated",
    ),
    "This release by itself is at most": (
        *_ENUMERATED,
        "tests/releases/test_corrections.py::test_what_a_release_says_of_itself_is_about_itself_alone",
    ),
    "At most 2.7183 times as probable": ("tests/privacy/test_account.py::test_the_promise_in_full",),
    "not the epsilon of one release, and never reduced by refunds": (
        "tests/ledger/test_status.py::test_the_promise_is_the_cap_whatever_came_back",
    ),
    "Both sentences are printed, and never one total": (
        "tests/ledger/test_status.py::test_two_sentences_and_never_one_total",
    ),
    "and one for the ordinary releases by themselves, and never one total": (
        "tests/ledger/test_status.py::test_two_sentences_and_never_one_total",
    ),
    # The account
    "A release says how many releases of the same people came before it": (
        "tests/releases/test_publish.py::test_the_digest_of_earlier_releases_is_computed_from_the_history_of_the_ledger",
    ),
    "a hash-chained ledger proves what was spent": (
        "tests/ledger/test_tampering.py::test_a_changed_amount_or_name",
    ),
    "They never change: they are what the people in the data were promised": (
        "tests/ledger/test_ledger.py::test_a_budget_is_never_reset",
    ),
    "it cannot be raised later; nor can limits be added": (
        "tests/ledger/test_ledger.py::test_a_budget_is_never_reset",
        "tests/releases/test_limits.py::test_no_limit_can_be_tried_that_the_dataset_was_not_made_with",
    ),
    "one that cannot be told from an existing one": (
        "tests/ledger/test_names.py::test_a_name_that_looks_like_one_that_exists_is_refused",
    ),
    "needs SELECT, INSERT, UPDATE and DELETE on its tables": (
        "tests/ledger/test_urls.py::test_the_rights_that_a_message_asks_for_are_enough",
        "tests/ledger/test_checkpoints.py::test_nothing_is_forgotten_by_one_who_begins_at_a_checkpoint",
        "tests/ledger/test_tampering.py::test_a_dropped_event",
    ),
    "A link cannot be undone": ("tests/ledger/test_links.py::test_linked_datasets_share_the_smaller_budget",),
    "The one exception is input that cannot be counted": (
        "tests/ledger/test_ledger.py::test_a_question_refused_before_anything_is_drawn_goes_back_in_full",
    ),
    "the probability ratio of a sparse release is at most e^": (
        "tests/mechanisms/test_sparse.py::test_a_refund_never_exceeds_what_the_transcript_left_unused",
    ),
    "along every possible history the ratios multiply to at most e^E": _REFUNDS,
    "So the ledger prints the cap, always": (
        "tests/ledger/test_status.py::test_the_promise_is_the_cap_whatever_came_back",
    ),
    "never more than they leave unused, and once": _REFUNDS,
    "The time of an event is never before": ("tests/ledger/test_ledger.py::test_time_never_runs_backwards",),
    "It takes and never gives": _RECOVERY,
    "where they protect different units, which cannot be added up": (
        "tests/ledger/test_recovery.py::test_two_copies_that_gave_it_different_units_publish_nothing_more_from_it",
    ),
    "database and schema, never a password": (
        "tests/ledger/test_rebuild.py::test_another_spelling_of_the_same_database_is_the_same_place",
        "tests/ledger/test_urls.py::test_a_password_is_in_no_message_and_no_traceback",
    ),
    "tables that end in damaged and the moment), never deleted": _REBUILT,
    "had not appeared when the database was lost stays charged and cannot be finished": (
        "tests/releases/test_forks.py::test_a_ledger_made_anew_from_its_witness_has_no_keys_and_draws_nothing_twice",
    ),
    "What proves that is the release": (
        "tests/releases/test_checked.py::test_whoever_has_the_ledger_can_check_what_it_paid",
    ),
    # How a release is made
    "made for this draw (never one that was there)": _FORGERY,
    "that the ledger has never reserved, publishing is refused": (
        "tests/releases/test_planted.py::test_a_forged_draw_is_refused_before_anything_is_paid",
    ),
    "accepts one manifest for each reservation, and never draws again": _DRAWN_ONCE,
    "They cannot have anything signed that was not drawn and paid for": _FORGERY,
    "If the visits cannot be counted for certain, nothing is drawn": (
        "tests/releases/test_bad_input.py::test_bad_input_publishes_nothing_and_is_free_to_repair",
    ),
    "a release never accepts a seed": (
        "tests/releases/test_publish.py::test_a_seed_and_another_policy_are_refused_before_anything",
        "tests/releases/test_simulate.py::test_verify_refuses_a_simulation",
    ),
    "and name files, lines and columns, never values": _NOT_QUOTED,
    "names are text in the page, never markup": (
        "tests/browser/test_map.py::test_names_are_text_and_never_markup",
    ),
    # Verify
    "shows who signed and that nothing was altered since": (
        "tests/releases/test_signature.py::test_a_stranger_checks_a_release_and_a_notice_without_safeside",
    ),
    "the pad, the guarantee with its sentence, the price": (
        "tests/releases/test_claims.py::test_whatever_number_is_a_little_off_is_found_even_when_signed",
    ),
    "the promise must be that of the caps, never net of what came back": (
        "tests/releases/test_claims.py::test_one_false_value_is_found_even_when_signed",
    ),
    "computes states, noise, guarantee and price anew": (
        "tests/releases/test_claims.py::test_whatever_number_is_a_little_off_is_found_even_when_signed",
    ),
    "where this version of safeside made the release; numbers always": (
        "tests/releases/test_checked.py::test_the_words_of_another_version_are_not_compared_but_its_numbers_are",
    ),
    # Definitions
    "distinct people, never events": (
        "tests/visits/count/test_people.py::test_people_are_counted_and_not_events",
    ),
    "never those that occur in the data": (
        "tests/privacy/test_direction.py::test_possible_vectors_decide_and_not_those_that_occur",
    ),
    "A declaration that its own cases refute cannot be made": (
        "tests/privacy/test_direction.py::test_a_declaration_is_checked_on_small_cases",
    ),
    # Visits
    "The time zone is never guessed": ("tests/visits/count/test_row_checks.py::test_what_trips_a_check",),
    "says whose clock they show; it is never guessed": (
        "tests/visits/count/test_row_checks.py::test_what_trips_a_check",
    ),
    "It names file, line, column and reason, never the value": _NOT_QUOTED,
    "line, column, reason, and never the value": _NOT_QUOTED,
    "have the numbers and never an identifier": _NOT_QUOTED,
    "as pandas writes its index, is never needed": (
        "tests/visits/count/test_people.py::test_columns_by_another_name_and_others_beside_them",
    ),
    "sightings from before the day or week still hold cannot be asked": (
        "tests/releases/test_days.py::test_an_instant_within_the_holding_time_of_a_border_is_refused_unpaid",
    ),
    "the phone was never silent for longer than declared": (
        "tests/visits/count/test_stay_detection.py::test_a_longer_silence_ends_a_stay_at_its_last_fix_whose_length_counts",
    ),
    "exact, never sketched; nobody's contributions are capped": (
        "tests/visits/count/test_people.py::test_nothing_is_capped",
        "tests/visits/count/test_people.py::test_people_are_counted_and_not_events",
    ),
    "Targets are never taken from the visits": (
        "tests/visits/count/test_people.py::test_every_listed_place_is_answered_and_none_other",
    ),
    "a time that cannot be read, has no zone": (
        "tests/visits/count/test_row_checks.py::test_what_trips_a_check",
    ),
    "A line break in the names of the columns always stops it": (
        "tests/messages/test_visits.py::test_every_message",
    ),
    "since others cannot change the count": (
        "tests/visits/count/test_ways_out.py::test_old_and_future_visits_beside_those_asked_about",
    ),
    "where only a higher number is certain": (
        "tests/releases/test_selection.py::test_no_bound_is_ever_false_and_every_draw_is_one_that_a_verifier_takes",
    ),
    "is what those who are counted are called": (
        "tests/words/test_catalogue.py::test_a_noun_is_what_those_who_are_counted_are_called_everywhere",
    ),
    "runs no script of its own there": (
        "tests/releases/test_release.py::test_a_notebook_runs_no_script_of_the_release",
    ),
    "prints one JSON document on standard output": (
        "tests/cli/test_publish.py::test_json_is_one_document_and_everything_else_goes_to_the_terminal",
    ),
    "one digest of them (`guarantee.earlier`": (
        "tests/releases/test_publish.py::test_a_release_names_earlier_ones_by_number_and_digest_and_not_what_came_to_nothing",
        "tests/releases/test_publish.py::test_the_digest_of_earlier_releases_is_computed_from_the_history_of_the_ledger",
    ),
    "statistics are never believed": (
        "tests/property/test_visits_files.py::test_statistics_are_not_believed",
        "tests/visits/count/test_row_groups.py::test_numbers_of_rows_that_lie_lose_nobody",
    ),
}

NO_PROMISE: Final[dict[str, str]] = every.NO_PROMISE | {
    **groups.NO_PROMISE,
    "Ordinary differential privacy cannot help": "says what another definition cannot do",
    "can say next to nothing for certain": "describes a figure; the studies' tests recompute it",
    "--guarantee dp": "the name of an option",
    "--every 1h": "the name of an option",
    "may show for certain": "states what is given up",
    "may learn for certain": "states what is given up",
    '"cannot say" is no warning': "says how to read an answer that says nothing",
    "an empty ring says that it cannot be said": "says how to read a mark",
    "Cannot say: ": "counts the places with that answer",
    "a limit that cannot fail": "advice for public schedules",
    "a K that cannot fail": "advice for public schedules",
    "give --allow-nobody always": "advice for public schedules",
    "is not a guarantee: another history": "says what is not promised",
    "it cannot see what was looked at": "states a limit",
    "where they cannot change it": "advice on where to keep the head",
    "whose locks cannot be relied on": "states what is not supported",
    "counts on both sides of a moment that it cannot express": "states how such times are counted",
    "always in UTC, and without saying so": "describes files of another program",
    '"At least" is not certain': "says what is not promised",
    "what proves it |": "the heading of a column",
    "only as certain as the count under it": "says what certainty rests on",
    "cannot be seen": "states a limit",
    "cannot be told apart in the file": "states a limit",
    "cannot see it": "states a limit",
}
