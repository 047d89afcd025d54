"""Entropy and exact integer samplers; knows nothing of privacy."""
