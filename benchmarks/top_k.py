"""The best 100 of 20,000 items for 100,000 users from 64 factors, seen items left out, beside peers in one run.

    python benchmarks/top_k.py [--users 100000] [--items 20000] [--dim 64] [--times 3]

Each library in a process of its own, in turn, medians of some runs: the bare matrix product in single precision (one
buffer, batches of 1,024 users), unskew, ranks of ten held-out items of each user by unskew, numpy's argpartition,
implicit, faiss (flat index) and torch. Lists of unskew are exact in double precision: those of the first users are
compared with an exhaustive pass, and how many lists of the others are the same is counted.
``--write`` keeps the figures in ``benchmarks/results/top_k.json``, and the page is written again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from envs import HERE, Peer, python_of
from promise import Promise, as_fast, as_long
from store import Measured, conditions, keep, machine, surroundings
from workloads import TOP_K

LIBRARIES = {
    "product": None,
    "unskew": None,
    "ranks": None,
    "numpy": None,
    "implicit": "implicit",
    "faiss": "faiss",
    "torch": "torch",
}
TITLES = {
    "product": "matrix product alone",
    "unskew": "**unskew**, exact",
    "ranks": "**unskew**, exact ranks of 10 held-out items",
    "numpy": "numpy argpartition",
    "implicit": "implicit",
    "faiss": "faiss, flat",
    "torch": "torch topk",
}
OURS = ("product", "unskew", "ranks")  # what is no peer
K, SEEN = 100, 50


def write(folder: Path, users: int, items: int, dim: int) -> None:
    """Factors and seen items."""
    rng = np.random.default_rng(0)
    for side, many in (("users", users), ("items", items)):
        np.save(folder / f"{side}.npy", rng.standard_normal((many, dim), dtype=np.float32))
    step = rng.integers(1, items // SEEN, users)
    np.save(folder / "seen.npy", (np.arange(SEEN)[None, :] * step[:, None]).ravel())
    np.save(folder / "indptr.npy", np.arange(0, users * SEEN + 1, SEEN))


def measure(folder: Path, library: str, times: int) -> dict[str, Any]:
    """One library's runs."""
    python = python_of(Peer(library, library, LIBRARIES[library]))
    command = [str(python), "-W", "ignore", "-m", "peers.peer_top_k", str(folder), library, str(K), str(times)]
    path = os.pathsep.join([str(HERE), str(HERE.parent / "src")])
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings() | {"PYTHONPATH": path}, cwd=HERE)
    if done.returncode:
        sys.exit(f"{library}: {done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def promises(stored: Measured | None) -> list[Promise]:
    """Time beside the bare product, and beside the fastest library, by medians."""
    size = [stored["asked"][side] for side in ("users", "items", "dim")] if stored else []
    found = stored["libraries"] if stored and size == [100_000, 20_000, 64] else {}
    jobs = {
        library: {unit: statistics.median(one[unit]) for unit in ("seconds", "cpu")} for library, one in found.items()
    }
    ours, product = jobs.get("unskew"), jobs.get("product")
    peers = {library: job["seconds"] for library, job in jobs.items() if library not in OURS}
    best = min(peers, key=lambda library: peers[library]) if peers else ""
    what = "top-100 of 100,000 × 20,000 × 64"
    return [
        as_long(f"{what}, times the bare matrix product", 1.5, ours, product, stored),
        as_fast(f"{what}, beside the fastest library", 2, ours, jobs.get(best), stored, beside=TITLES.get(best, "")),
    ]


def sections(stored: Measured) -> dict[str, str]:
    """The table."""
    found, asked = stored["libraries"], stored["asked"]
    lines = [
        f"`python benchmarks/top_k.py --write` on {conditions(stored)}.",
        "",
        f"The best {K} of {asked['items']:,} items for {asked['users']:,} users from {asked['dim']} factors, {SEEN} "
        f"seen items of each user left out; every library in a process of its own, medians of {asked['times']} runs. "
        "The matrix product is in single precision, by OpenBLAS through numpy, into one buffer.",
        "",
        "| | seconds | of the matrix product | seconds of all cores | memory | lists like ours |",
        "|---|---|---|---|---|---|",
    ]
    base = statistics.median(found["product"]["seconds"])
    for library, one in found.items():
        same = "" if one.get("same") is None else f"{one['same']:.2%}"
        seconds, cpu, memory = statistics.median(one["seconds"]), statistics.median(one["cpu"]), one["memory"] / 2**30
        lines.append(
            f"| {TITLES[library]} | {seconds:.2f} | {seconds / base:.2f} | {cpu:.2f} | {memory:.2f} GiB | {same} |"
        )
    if "checked" in found["unskew"]:
        same, checked = found["unskew"]["checked"]
        lines += ["", f"Of the first {checked:,} lists of unskew {same:,} are those of an exhaustive pass."]
    lines += [
        "",
        "Ours are of double precision summed in fixed order, ties by a hash of ids; those of others are of single",
        "precision, so that nearly equal scores may change places. How: `src/unskew/kernels/screened.py`.",
    ]
    return {TOP_K: "\n".join(lines)}


def main() -> None:
    """Measure in turn, print the table, keep it where asked for."""
    parser = argparse.ArgumentParser()
    for name, default in (("users", 100_000), ("items", 20_000), ("dim", 64), ("times", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="*", choices=list(LIBRARIES), default=list(LIBRARIES))
    asked = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, asked.users, asked.items, asked.dim)
        for library in asked.only:
            one = found[library] = measure(folder, library, asked.times)
            lists = folder / f"lists-{library}.npy"
            if lists.exists() and (folder / "lists-unskew.npy").exists():
                same = np.load(lists) == np.load(folder / "lists-unskew.npy")
                one["same"] = float(same.all(axis=1).mean())
            print(f"{TITLES[library]}: {min(one['seconds']):.2f} s, {min(one['cpu']):.2f} s of cores", flush=True)
    size = {name: getattr(asked, name) for name in ("users", "items", "dim", "times")}
    stored = {"asked": size, "libraries": found, **machine()}
    print(sections(stored)[TOP_K])
    if asked.write:
        keep("top_k", stored)


if __name__ == "__main__":
    main()
