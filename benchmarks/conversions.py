"""Post-click conversions at size: many recommenders, many users, and obp on the same rounds.

Each job runs in a process of its own, for its time and peak memory; medians of several runs are kept.

    python benchmarks/conversions.py                everything; results/conversions.json keeps the numbers
    python benchmarks/conversions.py --part obp     one part anew (recommenders, sizes, obp)
    python benchmarks/conversions.py recommenders   one job alone; also size USERS ITEMS, rounds ROUNDS ACTIONS
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from envs import Peer, python_of
from promise import Promise
from store import HERE, Measured, conditions, keep, machine, stored
from store import alone as fresh
from workloads import GROWTH
from workloads import OBP as BESIDE_OBP

DATA = HERE / ".data"
OBP = Peer("obp", "obp", "obp")
ROUNDS = ((20_000, 1_000), (5_000, 5_000))
POLICIES, REPLICATES, RUNS = 5, 1_000, 3
SIZES = ((100_000, 10_000), (100_000, 100_000), (300_000, 100_000), (1_000_000, 10_000), (1_000_000, 100_000))
LENGTH, MODELS, SEEN = 50, 5, 10
WIDER = 1.5  # times the length of obp's interval
PARTS = ("recommenders", "sizes", "obp")

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


def typical(run: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What a job gives back, and the medians of its runs after one that compiles."""
    result, runs = run(), []
    for _ in range(RUNS):
        watch = Watch()
        run()
        runs.append(watch.read())
    return result, {unit: statistics.median(one[unit] for one in runs) for unit in runs[0]}


def sigmoid(z: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


def guesser(users: Any, items: Any, people: Floats, things: Floats, level: float) -> Any:
    """An outcome model with these factors, as if it had been fitted elsewhere."""
    from unskew.outcome.factored import Found
    from unskew.outcome.logistic_mf import LogisticMF

    return LogisticMF(
        dim=people.shape[1],
        found=Found(
            users,
            items,
            np.ones(len(people), dtype=np.bool_),
            np.ones(len(things), dtype=np.bool_),
            np.column_stack([people, np.zeros(len(people))]),
            np.column_stack([things, np.zeros(len(things))]),
            level,
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


def recommenders(users: int = 15_400, items: int = 1_000, models: int = 32, dim: int = 10) -> dict[str, Any]:
    """naive, ips and dr of many factor models, lists made on the way."""
    import unskew as us

    rng = np.random.default_rng(0)
    people, things = numbered(users), numbered(items)
    taste = rng.normal(size=(users, dim)) * 0.5
    kind = rng.normal(size=(items, dim))
    p = sigmoid(rng.normal(size=(users, 1)) + rng.normal(size=items) - 3.5)
    user, item = np.nonzero(rng.random((users, items)) < p)
    value = (rng.random(len(user)) < sigmoid((taste[user] * kind[item]).sum(axis=1) - 2.0)).astype(np.float64)
    log = log_of(people, things, user, item, value, p[user, item])
    given = {
        f"m{j}": us.models.GivenFactors(people, things, taste + rng.normal(size=taste.shape) * j / 16.0, kind)
        for j in range(models)
    }
    outcome = guesser(people, things, taste, kind, -2.0)

    def run() -> Any:
        return us.evaluate(
            log, given, metrics=["dcg@10"], estimators=["naive", "ips", "dr"], propensity="known", outcome=outcome
        )

    result, taken = typical(run)
    assert len(result.estimates) == 3 * models
    watch = Watch()
    us.outcome.crossfit(us.outcome.make("logistic_mf(dim=10)"), log, propensity=log.propensity)
    return taken | {"rows": float(len(user)), "fit": watch.read()["cpu"]}


def size(users: int, items: int) -> dict[str, Any]:
    """naive, ips and dr of five top-50 lists; the outcome model is cross-fitted on the way."""
    import unskew as us
    from unskew.log import Recommendations

    rng = np.random.default_rng(0)
    people, things = numbered(users), numbered(items)
    step = items // SEEN
    item = (np.arange(SEEN) * step + rng.integers(0, step, (users, SEEN))).astype(np.int32).ravel()
    user = np.repeat(np.arange(users), SEEN)
    propensity = np.full(len(user), 1.0 / step)  # one item of each part of the catalogue was seen
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


def rounds_file(rounds: int, actions: int) -> Path:
    """Rounds of one shown item each, drawn once: factors of the guess, and the top item of several policies."""
    path = DATA / f"rounds-{rounds}-{actions}.npz"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(0)
        taste, kind = rng.normal(size=(rounds, 8)) * 0.5, rng.normal(size=(actions, 8))
        score = taste @ kind.T
        shown = np.exp(score - score.max(axis=1, keepdims=True))
        shown /= shown.sum(axis=1, keepdims=True)
        item = (rng.random((rounds, 1)) > np.cumsum(shown, axis=1)).sum(axis=1).clip(max=actions - 1)
        true = sigmoid(score - 1.0)
        np.savez(
            path,
            rounds=rounds,
            actions=actions,
            user=np.arange(rounds),
            item=item,
            value=(rng.random(rounds) < true[np.arange(rounds), item]).astype(np.float64),
            propensity=shown[np.arange(rounds), item],
            listed=np.array([np.argmax(score + rng.normal(size=score.shape) * j, axis=1) for j in range(POLICIES)]),
            user_factors=taste * 0.8,
            item_factors=kind,
            level=-1.0,
        )
    return path


def judged(rounds: int, actions: int) -> dict[str, Any]:
    """dr with bootstrap intervals of the same rounds that obp gets: every round a user, every list one item long."""
    import unskew as us
    from unskew.log import Recommendations

    data = np.load(rounds_file(rounds, actions))
    people, things = numbered(rounds), numbered(actions)
    outcome = guesser(people, things, data["user_factors"], data["item_factors"], float(data["level"]))
    log = log_of(people, things, data["user"], data["item"], data["value"], data["propensity"])
    starts, rank = np.arange(rounds + 1, dtype=np.int64), np.ones(rounds, dtype=np.int32)

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

    result, taken = typical(run)
    return taken | {"found": [(e.value, e.low, e.high) for e in result.estimates]}


def alone(*arguments: str) -> dict[str, Any]:
    """Run one job in a fresh process."""
    found = fresh(Path(sys.executable), "conversions.py", *arguments)
    print(found, file=sys.stderr)
    return found


def obp(rounds: int, actions: int) -> dict[str, Any]:
    """obp in its own environment."""
    script = HERE / "peers" / "peer_obp.py"
    command = [str(python_of(OBP)), str(script), str(rounds_file(rounds, actions)), str(REPLICATES), str(RUNS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(part: str) -> dict[str, Any]:
    """One part of the page, with its day and the load at its end."""
    found: dict[str, Any]
    if part == "recommenders":
        found = alone("recommenders")
    elif part == "sizes":
        found = {f"{users} {items}": alone("size", str(users), str(items)) for users, items in SIZES}
    else:
        found = {}
        for rounds, actions in ROUNDS:
            alone("draw", str(rounds), str(actions))  # a process's peak starts from its parent's size: stay small here
            found[f"{rounds} {actions}"] = [alone("rounds", str(rounds), str(actions)), obp(rounds, actions)]
    return {"found": found, "statistic": "the median", **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """None: how it compares is shown, and no floor is set."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The numbers in words and tables."""
    return {BESIDE_OBP: "\n".join(_obp_lines(found["obp"])), GROWTH: "\n".join(_size_lines(found))}


def _kept(part: Measured) -> str:
    return f"{part.get('statistic', 'the shortest')} of {RUNS} runs"


def _size_lines(found: Measured) -> list[str]:
    many = found["recommenders"]["found"]
    lines = [
        "### Many recommenders",
        "",
        f"`python benchmarks/conversions.py --part recommenders` on {conditions(found['recommenders'])}.",
        "",
        "naive, ips and dr of dcg@10 with intervals, verdicts of all 496 pairs and tipping points against the leader, "
        f"for 32 factor models of 15,400 users × 1,000 items ({many['rows']:,.0f} seen pairs), their lists made on the "
        f"way: **{many['cpu']:.1f} CPU seconds** ({many['seconds']:.1f} s by the clock). Cross-fitting "
        f"`logistic_mf(dim=10)` takes {many['fit']:.1f} CPU seconds more. Compilation is not counted; "
        f"{_kept(found['recommenders'])}.",
        "",
        "### Doubly robust estimates of many users and items",
        "",
        f"`python benchmarks/conversions.py --part sizes` on {conditions(found['sizes'])}.",
        "",
        f"naive, ips and dr of dcg@{LENGTH} for {MODELS} lists of {LENGTH}, {SEEN} seen pairs per user, "
        "`means(shrink=10)` cross-fitted on the way. Inputs: what the process held before, the log and the lists.",
        "",
        "| users | items | naive, ips: CPU s | with dr: CPU s | by the clock | µs per listed pair | inputs, MB | "
        "peak above inputs, MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for key, m in found["sizes"]["found"].items():
        users, items = map(int, key.split())
        each = m["cpu"] / (users * LENGTH * MODELS) * 1e6
        lines.append(
            f"| {users:,} | {items:,} | {m['without']:.1f} | {m['cpu']:.1f} | {m['seconds']:.1f} | {each:.3f} | "
            f"{m['before']:,.0f} | {m['peak'] - m['before']:,.0f} |"
        )
    return [
        *lines,
        "",
        "The cost follows the lists (users × length), not users × items: with ten times the items only the caches miss "
        "more often. The memory above the inputs is that of a few columns of the log, so it grows with its rows, and "
        "not with users × items either.",
    ]


def _obp_lines(found: Measured) -> list[str]:
    peers = found["found"]
    version = next(iter(peers.values()))[1]["version"]
    lines = [
        f"`python benchmarks/conversions.py --part obp` on {conditions(found)}. obp {version}.",
        "",
        f"dr of {POLICIES} policies with {REPLICATES:,} bootstrap replicates. Every round is a user of ours, every "
        "policy a list of one item. obp wants guesses and policies as arrays of rounds × actions; making the array of "
        "guesses is not counted in its time, which is that of `estimate_policy_values` and `estimate_intervals`. "
        "unskew's figures include verdicts of all pairs of policies and bootstrapped tipping points. Each in a process "
        f"of its own, compilation not counted; {_kept(found)}.",
        "",
        "| rounds | actions | | CPU s | by the clock | peak MB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    values, ends, wider, intervals = 0.0, 0.0, 0, 0
    for key, (ours, theirs) in peers.items():
        rounds, actions = map(int, key.split())
        for a, b in zip(ours["found"], theirs["found"], strict=True):
            values = max(values, abs(a[0] - b[0]))
            intervals += 1
            if a[2] - a[1] > WIDER * (b[2] - b[1]):
                wider += 1
            else:
                ends = max(ends, *(abs(a[end] - b[end]) / (b[2] - b[1]) for end in (1, 2)))
        for name, m in (("unskew", ours), ("obp", theirs)):
            row = f"| {rounds:,} | {actions:,} | {name} | {m['cpu']:.2f} | {m['seconds']:.2f} | {m['peak']:,.0f} |"
            lines.append(row)
        ratio = {what: theirs[what] / ours[what] for what in ("cpu", "seconds", "peak")}
        lines.append(f"| | | ratio | {ratio['cpu']:.0f}× | {ratio['seconds']:.0f}× | {ratio['peak']:.1f}× |")
    if values > 1e-9:
        raise SystemExit(f"the two libraries disagree on dr by {values:g}.")
    text = (
        f"The estimates agree to {values:.0e}; ends of intervals differ by at most {ends:.1%} of their length (other "
    )
    text += "random numbers)."
    if wider:
        text += (
            f" That leaves out {wider} of {intervals} intervals, where unskew's is more than {WIDER:g} times as long: "
        )
        text += "few rounds carry the estimate there, and what the bootstrap cannot see is added."
    return [*lines, "", text]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="*", help="recommenders, size USERS ITEMS, or rounds ROUNDS ACTIONS")
    parser.add_argument("--part", choices=PARTS, help="measure this part only")
    options = parser.parse_args()
    if options.job:
        job, *rest = options.job
        jobs: dict[str, Callable[..., dict[str, Any]]] = {
            "recommenders": recommenders,
            "size": size,
            "draw": lambda rounds, actions: {"file": str(rounds_file(rounds, actions))},
            "rounds": judged,
        }
        print(json.dumps(jobs[job](*map(int, rest)) | {"peak": megabytes()}))
        return
    found = (stored("conversions") or {}) if options.part else {}
    for part in [options.part] if options.part else PARTS:
        found[part] = measure(part)
        print(f"measured {part}", file=sys.stderr)
    if set(found) != set(PARTS):
        raise SystemExit("results and page stay as they are: the other parts have not been measured yet.")
    keep("conversions", found)


if __name__ == "__main__":
    main()
