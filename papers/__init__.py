"""The papers' package and its tests; the installed package is ``src/unskew_papers``."""
