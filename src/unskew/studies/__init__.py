"""Does it hold? The papers' experiments, run again: one folder per paper, one file per experiment.

Every number is a ``Record``: ours beside the paper's, with its error, the rule by which it is judged, and the verdict.
"""
