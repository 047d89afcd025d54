"""Mechanisms, one idea a file: each has release(), a guarantee, an exact pmf() and error bounds."""
