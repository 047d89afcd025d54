"""The synthetic city and the experiments of the paper, one module a figure."""
