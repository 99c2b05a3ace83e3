"""Post-click conversions at size: many recommenders, many users, and obp on the same rounds.

Each job runs in a process of its own, for its time and peak memory; the page is docs/conversion_benchmarks.md.

    python benchmarks/conversions.py              all jobs, and the page
    python benchmarks/conversions.py recommenders one job: recommenders · size USERS ITEMS · rounds
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from envs import Peer, python_of

HERE = Path(__file__).parent
DATA = HERE / ".data"
PAGE = HERE.parent / "docs" / "conversion_benchmarks.md"
OBP = Peer("obp", "obp", "obp")
ROUNDS, ACTIONS, POLICIES, REPLICATES = 20_000, 1_000, 5, 1_000
SIZES = ((100_000, 10_000), (100_000, 100_000), (300_000, 100_000), (1_000_000, 10_000), (1_000_000, 100_000))
LENGTH, MODELS, SEEN = 50, 5, 10

Floats = npt.NDArray[np.float64]


def megabytes() -> float:
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Watch:
    """Time by the clock, and of all cores together, since it was made."""

    def __init__(self) -> None:
        self.clock, self.cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Both."""
        return {"seconds": time.perf_counter() - self.clock, "cpu": time.process_time() - self.cpu}


def sigmoid(z: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


@dataclass(frozen=True)
class Factors:
    """A recommender whose scores are products of factors."""

    users: Floats
    items: Floats
    ids: Any

    def recommend(self, users: Any, k: int, *, seen: Any = None) -> Any:
        """The k best items of every user."""
        from unskew.models.base import from_scores

        return from_scores(lambda rows: self.users[rows] @ self.items.T, self.ids, users, k, seen)


def guesser(users: Any, items: Any, people: Floats, things: Floats, level: float) -> Any:
    """An outcome model with these factors, as if it had been fitted elsewhere."""
    from unskew.outcome.factored import Found
    from unskew.outcome.logistic_mf import LogisticMF

    return LogisticMF(
        dim=people.shape[1],
        found=Found(
            users,
            items,
            np.column_stack([people, np.zeros(len(people))]),
            np.column_stack([things, np.zeros(len(things))]),
            level,
            np.ones(len(people), dtype=np.bool_),
            np.ones(len(things), dtype=np.bool_),
        ),
    )


def log_of(users: Any, items: Any, user: Any, item: Any, value: Floats, propensity: Floats) -> Any:
    """A conversions log of rows that ascend by user and item."""
    from unskew.log import Feedback, Log

    indptr = np.searchsorted(user, np.arange(len(users) + 1)).astype(np.int64)
    return Log(
        users,
        items,
        indptr,
        item.astype(np.int32),
        value=value,
        propensity=propensity,
        feedback=Feedback.CONVERSIONS,
    )


def numbered(count: int) -> Any:
    from unskew.log import Ids

    return Ids(pl.Series("id", np.arange(count)))


def recommenders(users: int = 15_400, items: int = 1_000, models: int = 32, dim: int = 10) -> dict[str, float]:
    """naive, ips and dr of many factor models, lists made on the way; once to compile, then measured."""
    import unskew as us

    rng = np.random.default_rng(0)
    people, things = numbered(users), numbered(items)
    taste = rng.normal(size=(users, dim)) * 0.5
    kind = rng.normal(size=(items, dim))
    p = sigmoid(rng.normal(size=(users, 1)) + rng.normal(size=items) - 3.5)
    user, item = np.nonzero(rng.random((users, items)) < p)
    value = (rng.random(len(user)) < sigmoid((taste[user] * kind[item]).sum(axis=1) - 2.0)).astype(np.float64)
    log = log_of(people, things, user, item, value, p[user, item])
    given = {f"m{j}": Factors(taste + rng.normal(size=taste.shape) * j / 16.0, kind, things) for j in range(models)}
    outcome = guesser(people, things, taste, kind, -2.0)

    def run() -> Any:
        return us.evaluate(
            log, given, metrics=["dcg@10"], estimators=["naive", "ips", "dr"], propensity="known", outcome=outcome
        )

    run()
    watch = Watch()
    result = run()
    taken = watch.read()
    assert len(result.estimates) == 3 * models
    watch = Watch()
    us.outcome.crossfit(us.outcome.make("logistic_mf(dim=10)"), log, propensity=log.propensity)
    return taken | {"rows": float(len(user)), "fit": watch.read()["cpu"]}


def size(users: int, items: int) -> dict[str, float]:
    """naive, ips and dr of five top-50 lists; the outcome model is cross-fitted on the way."""
    import unskew as us
    from unskew.log import Recommendations

    rng = np.random.default_rng(0)
    people, things = numbered(users), numbered(items)
    step = items // SEEN
    item = (np.arange(SEEN) * step + rng.integers(0, step, (users, SEEN))).astype(np.int32).ravel()
    user = np.repeat(np.arange(users), SEEN)
    propensity = rng.uniform(0.05, 1.0, len(user))
    value = (rng.random(len(user)) < 0.1).astype(np.float64)
    log = log_of(people, things, user, item, value, propensity)
    starts = np.arange(users + 1, dtype=np.int64) * LENGTH
    rank = np.tile(np.arange(1, LENGTH + 1, dtype=np.int32), users)
    part = items // LENGTH
    spread = (np.arange(LENGTH) * part).astype(np.int32)
    lists = {}
    for j in range(MODELS):
        listed = rng.integers(0, part, (users, LENGTH), dtype=np.int32) + spread
        lists[f"m{j}"] = Recommendations(people, things, starts, listed.ravel(), rank)
    small = log.take(log.user < 100)
    asked: dict[str, Any] = {"metrics": ["dcg@50"], "propensity": "known", "outcome": "means(shrink=10)"}
    us.evaluate(small, lists, estimators=["naive", "ips", "dr"], users=pl.DataFrame({"user": range(100)}), **asked)
    before = megabytes()
    watch = Watch()
    us.evaluate(log, lists, estimators=["naive", "ips"], **asked)
    without = watch.read()["cpu"]
    watch = Watch()
    us.evaluate(log, lists, estimators=["naive", "ips", "dr"], **asked)
    return watch.read() | {"without": without, "before": before}


def rounds_file() -> Path:
    """Rounds of one shown item each, drawn once: factors of the guess, and the top item of several policies."""
    path = DATA / f"rounds-{ROUNDS}-{ACTIONS}.npz"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(0)
        taste, kind = rng.normal(size=(ROUNDS, 8)) * 0.5, rng.normal(size=(ACTIONS, 8))
        score = taste @ kind.T
        shown = np.exp(score - score.max(axis=1, keepdims=True))
        shown /= shown.sum(axis=1, keepdims=True)
        item = (rng.random((ROUNDS, 1)) > np.cumsum(shown, axis=1)).sum(axis=1).clip(max=ACTIONS - 1)
        true = sigmoid(score - 1.0)
        np.savez(
            path,
            rounds=ROUNDS,
            actions=ACTIONS,
            user=np.arange(ROUNDS),
            item=item,
            value=(rng.random(ROUNDS) < true[np.arange(ROUNDS), item]).astype(np.float64),
            propensity=shown[np.arange(ROUNDS), item],
            listed=np.array([np.argmax(score + rng.normal(size=score.shape) * j, axis=1) for j in range(POLICIES)]),
            user_factors=taste * 0.8,
            item_factors=kind,
            level=-1.0,
        )
    return path


def rounds() -> dict[str, Any]:
    """dr with bootstrap intervals of the same rounds that obp gets: every round a user, every list one item long."""
    import unskew as us
    from unskew.log import Recommendations

    data = np.load(rounds_file())
    people, things = numbered(ROUNDS), numbered(ACTIONS)
    outcome = guesser(people, things, data["user_factors"], data["item_factors"], float(data["level"]))
    log = log_of(people, things, data["user"], data["item"], data["value"], data["propensity"])
    starts, rank = np.arange(ROUNDS + 1, dtype=np.int64), np.ones(ROUNDS, dtype=np.int32)

    def run() -> Any:
        lists = {
            f"m{j}": Recommendations(people, things, starts, listed.astype(np.int32), rank)
            for j, listed in enumerate(data["listed"])
        }
        return us.evaluate(
            log,
            lists,
            metrics=["recall@1"],
            estimators=["dr"],
            propensity="known",
            outcome=outcome,
            interval="bootstrap",
            replicates=REPLICATES,
        )

    run()
    watch = Watch()
    result = run()
    return watch.read() | {"found": [(e.value, e.low, e.high) for e in result.estimates]}


def alone(*arguments: str) -> dict[str, Any]:
    """Run one job in a fresh process."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # our threads share the work; BLAS need not start its own
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed.\n{done.stderr}")
    print(done.stdout.splitlines()[-1], file=sys.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def obp() -> dict[str, Any]:
    """obp in its own environment."""
    script = HERE / "peers" / "peer_obp.py"
    command = [str(python_of(OBP)), str(script), str(rounds_file()), str(REPLICATES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def page() -> str:
    """Measure everything and write it down."""
    rounds_file()
    many = alone("recommenders")
    sizes = {found: alone("size", *map(str, found)) for found in SIZES}
    ours, theirs = alone("rounds"), obp()
    both = list(zip(ours["found"], theirs["found"], strict=True))
    values = max(abs(a[0] - b[0]) for a, b in both)
    ends = max(abs(a[end] - b[end]) / (b[2] - b[1]) for a, b in both for end in (1, 2))
    assert values < 1e-9, "the two libraries disagree on dr"
    lines = [
        "# Post-click conversions at size",
        "",
        f"Made by `python benchmarks/conversions.py` on {time.strftime('%Y-%m-%d')}: {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} (the clock means little where the load exceeds the number of cores; CPU seconds are "
        "those of all cores together). Each job runs in a process of its own; compilation is not counted.",
        "",
        "## Many recommenders",
        "",
        "naive, ips and dr of dcg@10 with intervals, verdicts of all 496 pairs and tipping points against the leader, "
        f"for 32 factor models of 15,400 users × 1,000 items ({many['rows']:,.0f} seen pairs), their lists made on the "
        f"way: **{many['cpu']:.1f} CPU seconds** ({many['seconds']:.1f} s by the clock). Cross-fitting "
        f"`logistic_mf(dim=10)` takes {many['fit']:.1f} CPU seconds more.",
        "",
        "## Many users, many items",
        "",
        f"naive, ips and dr of dcg@{LENGTH} for {MODELS} lists of {LENGTH}, {SEEN} seen pairs per user, "
        "`means(shrink=10)` cross-fitted on the way. Inputs: what the process held before, the log and the lists.",
        "",
        "| users | items | naive, ips: CPU s | with dr: CPU s | by the clock | µs per listed pair | inputs, MB | "
        "peak above inputs, MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (users, items), m in sizes.items():
        each = m["cpu"] / (users * LENGTH * MODELS) * 1e6
        lines.append(
            f"| {users:,} | {items:,} | {m['without']:.1f} | {m['cpu']:.1f} | {m['seconds']:.1f} | {each:.3f} | "
            f"{m['before']:,.0f} | {m['peak'] - m['before']:,.0f} |"
        )
    lines += [
        "",
        "The cost follows the lists (users × length), whatever the number of items.",
        "",
        f"## obp {theirs['version']} on the same rounds",
        "",
        f"dr of {POLICIES} policies, {ROUNDS:,} rounds, {ACTIONS:,} actions, {REPLICATES:,} bootstrap replicates. "
        "Every round is a user of ours, every policy a list of one item. obp wants guesses and policies as arrays of "
        "rounds × actions; making the array of guesses is not counted in its time.",
        "",
        "| | CPU s | by the clock | peak MB |",
        "| --- | --- | --- | --- |",
        f"| unskew | {ours['cpu']:.2f} | {ours['seconds']:.2f} | {ours['peak']:,.0f} |",
        f"| obp | {theirs['cpu']:.2f} | {theirs['seconds']:.2f} | {theirs['peak']:,.0f} |",
        f"| ratio | {theirs['cpu'] / ours['cpu']:.0f}× | {theirs['seconds'] / ours['seconds']:.0f}× | "
        f"{theirs['peak'] / ours['peak']:.1f}× |",
        "",
        f"The estimates agree to {values:.0e}; ends of intervals differ by at most {ends:.1%} of their length (other "
        "random numbers). unskew's figures include verdicts of all pairs of policies and their tipping points.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="*", help="recommenders, size USERS ITEMS, or rounds")
    options = parser.parse_args()
    if not options.job:
        PAGE.write_text(page(), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(HERE.parent)}")
        return
    job, *rest = options.job
    found: dict[str, Any]
    if job == "recommenders":
        found = recommenders()
    elif job == "size":
        found = size(int(rest[0]), int(rest[1]))
    else:
        found = rounds()
    print(json.dumps(found | {"peak": megabytes()}))


main()
