"""Hostile files, faults and interrupts: a seeded campaign against the command line, judged by a slow oracle.

    python -m tests.hostile --inputs 2000 --seed 0

Every input is a small world with known rows, spoilt in one to three ways. The oracle (``oracle.py``) reads the spoilt
files in plain Python and says what may come out: certain numbers, or a refusal. ``classify.py`` holds the run to it.
"""
