"""DuckDB on the files of ``many_models.py``, ``FOLDER MODELS``: the estimate of each model, and nothing else."""

import sys
from pathlib import Path

import duckdb

from peers.common import Watch, report

QUERY = """
    SELECT sum(hits) / sum(every) FROM (
        SELECT t.user, sum(CASE WHEN l.rank <= 10 THEN 1.0 / t.propensity ELSE 0.0 END) AS hits,
               sum(1.0 / t.propensity) AS every
        FROM read_parquet('{test}') t LEFT JOIN read_parquet('{lists}') l ON t.user = l.user AND t.item = l.item
        GROUP BY t.user
    )
"""


def main() -> None:
    folder, models = Path(sys.argv[1]), int(sys.argv[2])
    watch, connection = Watch(), duckdb.connect()
    values = {}
    for number in range(models):
        asked = QUERY.format(test=folder / "test.parquet", lists=folder / f"{number}.parquet")
        values[str(number)] = float(connection.execute(asked).fetchone()[0])
    report(watch.read(), ("duckdb",), values=values)


if __name__ == "__main__":
    main()
