"""Goldens: what some 350 calls gave when they were recorded, so that a rebuild changes no number unseen.

``pytest tests/golden`` holds every call (``calls_*.py``, plain data over the small worlds of ``worlds.py``) against the
files in ``estimates/`` (values, weights, counts, digests of lists, codes of refusals: frozen) and ``judgements/``
(intervals, p-values, words of verdicts, tipping points, codes of conditions: frozen but where the test of a verdict is
changed on purpose). When a function, an option or a column is renamed, only ``adapter.py`` is edited, and no record.
When a number changes on purpose, ``python -m tests.golden.record --judgements`` (or ``--estimates``, ``--only NAME``)
writes it anew and prints what changed; the difference of the files belongs into the same commit. In ``make verify``,
``python -m tests.golden.reproduction`` runs the papers' experiments again and compares their tables, and
``python -m tests.golden.mutations`` slips small errors into the package and shows that the records catch them.
"""
