"""Benchmarks against peers, each in one run, printed as ratios."""
