"""Every workload, one process at a time: ``make bench``, or ``python benchmarks/suite.py [--only NAME …] [--all]``.

All processes may use the same two cores (or one, where there is no more), so that numbers of larger machines compare.
Environments of other libraries are made where they are missing, before anything is measured; with ``--no-peers`` the
workloads that need them are named and left out. Every workload that ends keeps its results and writes the page again,
so that Ctrl-C, or a workload that fails, costs nothing of what others have measured.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from rich.console import Console

import page
from envs import Peer, python_of
from store import HERE, fix_threads, stored
from workloads import WORKLOADS, Workload

QUIET = 0.5  # load above which times will be too long
console = Console(soft_wrap=True, highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    if options.list:
        return _list()
    chosen = [w for w in WORKLOADS if (w.name in options.only if options.only else options.all or not w.long)]
    left = [w for w in WORKLOADS if w not in chosen and not options.only]
    failures: dict[str, str] = {}
    load = os.getloadavg()[0]
    if load > QUIET:
        console.print(f"[yellow]The machine is busy (load {load:.1f}): times will be too long, and say so.[/]")
    try:
        _prepare(chosen, failures, peers=not options.no_peers)
        ready = [workload for workload in chosen if workload.name not in failures]
        threads = fix_threads()
        minutes = sum(_minutes(workload, options.all) for workload in ready)
        until = datetime.now() + timedelta(minutes=minutes)
        console.print(f"{len(ready)} workloads on {threads} cores, about {minutes:g} minutes: until {until:%H:%M}.")
        for number, workload in enumerate(ready, 1):
            told = f"about {_minutes(workload, options.all):g} minutes"
            console.print(f"[bold]{number}/{len(ready)} {workload.name}[/]: {workload.title}; {told}")
            _run(workload, options.all, failures)
    except KeyboardInterrupt:
        console.print("\nStopped; what has ended is kept in benchmarks/results/ and on the page.")
        return 130
    for workload in left:
        console.print(f"left out, as it takes {workload.minutes:g} minutes: {workload.command}")
    for name, why in failures.items():
        console.print(f"[red]not measured: {name}: {why}[/]")
    return 1 if failures and not options.no_peers else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, help="these workloads")
    parser.add_argument("--all", action="store_true", help="also what takes long: the study of gs23, 100 million rows")
    parser.add_argument("--no-peers", action="store_true", help="leave out what needs other libraries' environments")
    parser.add_argument("--list", action="store_true", help="name the workloads, and when they were measured")
    return parser.parse_args(arguments)


def _list() -> int:
    for workload in WORKLOADS:
        found = stored(workload.name)
        day = _day(found) if found else "not measured yet"
        minutes = f"{workload.minutes:g} min{', with --all' if workload.long else ''}"
        console.print(f"{workload.name:18} {workload.title} ({minutes}; {day})")
    return 0


def _day(found: dict[str, object]) -> str:
    """The day of a result, or the first day of its parts."""
    parts = [found, *(part for part in found.values() if isinstance(part, dict))]
    return min(str(part["day"]) for part in parts if "day" in part)


def _minutes(workload: Workload, thorough: bool) -> float:
    return workload.thorough[1] if thorough and workload.thorough else workload.minutes


def _prepare(chosen: Sequence[Workload], failures: dict[str, str], *, peers: bool) -> None:
    """Make the environments that are needed; note the workloads that must do without."""
    for workload in chosen:
        for env in workload.peers:
            if not peers:
                failures[workload.name] = f"it needs the environments {', '.join(workload.peers)}"
                break
            try:
                console.print(f"environment: {env}")
                python_of(Peer(env, env, env))
            except SystemExit as error:
                failures[workload.name] = str(error).splitlines()[0]
                break


def _run(workload: Workload, thorough: bool, failures: dict[str, str]) -> None:
    """One workload in a process of its own."""
    given = workload.thorough[0] if thorough and workload.thorough else workload.arguments
    began, before = time.monotonic(), page.PAGE.stat().st_mtime if page.PAGE.exists() else 0.0
    done = subprocess.run([sys.executable, str(HERE / workload.file), *given], cwd=HERE.parent)
    taken = (time.monotonic() - began) / 60
    if done.returncode:
        failures[workload.name] = f"{workload.command} ended with status {done.returncode}"
    elif page.PAGE.stat().st_mtime <= before:
        failures[workload.name] = f"{workload.command} kept no results"
    console.print(f"{workload.name}: {'failed' if workload.name in failures else 'done'} after {taken:.1f} minutes")


if __name__ == "__main__":
    sys.exit(main())
