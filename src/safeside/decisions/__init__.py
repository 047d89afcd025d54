""" "At most t" and "at least t": sanitizers, alpha, beta, bounds, planning, forecasts."""
