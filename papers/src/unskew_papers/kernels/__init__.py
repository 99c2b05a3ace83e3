"""Compiled functions that only the experiments need."""
