"""Tests of the papers' package."""
