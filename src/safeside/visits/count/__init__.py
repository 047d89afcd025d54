"""Distinct people at each listed place: `people` counts a window, `check` reports all that would stop it.

`scan` is the query that both run, with `row_checks` in it and `packing` as its fast path, whose keys
`sorted_keys` counts; `wrong_rows` and `unlisted` say what was found and where; `coverage` is about what an
export covers; `row_groups` leaves out parts of files that hold nothing of a window; `stay_detection` makes
stays of fixes.
"""
