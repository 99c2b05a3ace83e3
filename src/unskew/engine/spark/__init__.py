"""Spark moves the rows: users come together in parts, Python workers add them up, and sums are merged in a tree."""
