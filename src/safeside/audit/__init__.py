"""Exact enumeration of ordered neighbours, and statistical tests of samplers."""
