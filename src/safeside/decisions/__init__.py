""" "At most t" and "at least t": sanitizers, alpha, beta, bounds, planning."""

from safeside.decisions.bounds import (
    adp_at_least,
    adp_at_most,
    approximate_dp,
    dp,
    needed_delta,
    needed_epsilon_adp,
    needed_epsilon_dp,
    smallest_epsilon,
)
from safeside.decisions.onesided import sanitizer, separating_set
from safeside.decisions.planning import Definition, Plan, expected_beta, expected_beta_sparse, plan
from safeside.decisions.sanitizers import (
    beta_at_least,
    beta_at_most,
    boundary,
    boundary_coins,
    decide,
    decide_by_law,
    decide_sparse,
    margin,
)
from safeside.decisions.states import State

__all__ = [
    "Definition",
    "Plan",
    "State",
    "adp_at_least",
    "adp_at_most",
    "approximate_dp",
    "beta_at_least",
    "beta_at_most",
    "boundary",
    "boundary_coins",
    "decide",
    "decide_by_law",
    "decide_sparse",
    "dp",
    "expected_beta",
    "expected_beta_sparse",
    "margin",
    "needed_delta",
    "needed_epsilon_adp",
    "needed_epsilon_dp",
    "plan",
    "sanitizer",
    "separating_set",
    "smallest_epsilon",
]
