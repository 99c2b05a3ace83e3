"""Kill a study at random moments, again and again: it must end with the same JSON, byte for byte.

python -m papers.tests.recovery.kills 20
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.report.every_output import content

from papers.tests.recovery.small import write

CONFIG = """
[data]
log = "chosen.parquet"
random = "random.parquet"
relevant = ">=4"
likes = true

[study]
seeds = 3
metrics = ["recall@5"]
target = "per_user"

[models]
popular = "most_popular"
knn = { model = "item_knn", neighbours = [2, 5, 10] }
chance = "random"

[questions.popularity]
estimators = ["naive", "snips", "gs(strata=3)"]
propensity = "popularity(gamma=1)"
"""


def command(folder: Path, store: str, out: str, workers: int) -> list[str]:
    """A run of the study."""
    paths = ["--store", str(folder / store), "--json", str(folder / out)]
    asked = ["study", str(folder / "study.toml"), "--workers", str(workers), "--quiet"]
    return [sys.executable, "-m", "unskew", *asked, *paths]


def survives(folder: Path, kills: int, workers: int, seed: int = 0) -> tuple[bool, int]:
    """Whether the last run gives what an undisturbed one gives, and how many runs were killed before their end."""
    write(folder)
    (folder / "study.toml").write_text(CONFIG)
    started = time.monotonic()
    subprocess.run(command(folder, "calm", "calm.json", workers), check=True)
    length = time.monotonic() - started
    rng, killed = random.Random(seed), 0
    for _ in range(kills):
        run = subprocess.Popen(command(folder, "store", "out.json", workers), start_new_session=True)
        try:
            run.wait(rng.uniform(0.2, 1.0) * length)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            killed += 1
        assert run.returncode in (0, -signal.SIGKILL)
        (folder / "out.json").unlink(missing_ok=True)
        # so that there is always work left to be killed in
        for unit in sorted((folder / "store").rglob("*.unit"))[: rng.randrange(6)]:
            unit.unlink()
    subprocess.run(command(folder, "store", "out.json", workers), check=True)
    same = content(folder / "out.json") == content(folder / "calm.json")
    return same, killed


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as place:
        same, killed = survives(Path(place), asked, workers=2)
    print(f"{killed} of {asked} runs were killed before their end; the result is {'the same' if same else 'another'}.")
    sys.exit(not same)
