"""How much memory may still be taken, and a refusal in time: an allocation that fails inside polars ends the process.

The least of what the machine has available, what the control group leaves (containers, batch systems) and what
``ulimit -v`` and ``ulimit -d`` leave. Pages of files count as free: the kernel gives them back.

A look at all of these takes over a millisecond and changes little from one moment to the next: what one found is good
for ``FRESH`` seconds, so that many small fits after each other do not look for each of them.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from unskew.core.errors import InputError
from unskew.core.text import plain

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
THREADS = 700_000_000  # bytes of addresses that polars' threads reserve once they start, most of them never used
FRESH = 0.2  # seconds
LEAST = 256 << 20  # a limit below which nothing works
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_last: tuple[tuple[Path, Path], float, int] = (PROC, GROUPS), -FRESH, 0  # where and when one looked, and what was found


def available() -> int:
    """Bytes that this process may still take; very many where the system does not say."""
    global _last
    places, now = (PROC, GROUPS), time.monotonic()
    if _last[0] != places or now - _last[1] >= FRESH:
        _last = places, now, max(0, min([sys.maxsize, *_machine(), *_limits(), *_groups()]))
    return _last[2]


def require(size: int, what: str, remedy: str) -> None:
    """Refuse work that needs ``size`` bytes and clearly cannot have them: ``what`` needs it, ``remedy`` would help."""
    free = available()
    if size > free:
        raise InputError(
            f"{what} needs about {amount(size)} of memory, and {amount(free)} are available.\n{remedy}",
            code="not-enough-memory",
        )


def amount(size: int) -> str:
    """Bytes for people: ``3.2 GB``."""
    for unit, name in ((1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size / 1000:,.0f} kB"


def _machine() -> Iterator[int]:
    fields = _fields(PROC / "meminfo")
    if "MemAvailable" in fields:
        yield 1024 * fields["MemAvailable"] + 1024 * fields.get("SwapFree", 0)
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _limits() -> Iterator[int]:
    """What ``ulimit`` leaves."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    own = _fields(PROC / "self" / "status")
    started = own.get("Threads", 0) > (os.cpu_count() or 1) + 8
    addresses = 0 if started else THREADS
    for kind, taken, spare in ((resource.RLIMIT_AS, "VmSize", addresses), (resource.RLIMIT_DATA, "VmData", 0)):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit - spare - 1024 * own.get(taken, 0)


def _groups() -> Iterator[int]:
    """What the control groups leave, this process's own and those around it; version 2, then version 1."""
    for line in _text(PROC / "self" / "cgroup").splitlines():
        _, kinds, place = line.split(":", 2)
        if kinds == "":
            yield from _group(GROUPS, place, "memory.max", "memory.current", "")
        elif "memory" in kinds.split(","):
            limit, taken = "memory.limit_in_bytes", "memory.usage_in_bytes"
            yield from _group(GROUPS / "memory", place, limit, taken, "total_")


def _group(root: Path, place: str, limit: str, taken: str, prefix: str) -> Iterator[int]:
    inside = PurePosixPath(place.lstrip("/"))
    for group in {root / inside, *(root / parent for parent in inside.parents), root}:
        most, used = _text(group / limit).strip(), _text(group / taken).strip()
        if most.isdecimal() and used.isdecimal():
            files = _fields(group / "memory.stat")
            held = files.get(f"{prefix}active_file", 0) + files.get(f"{prefix}inactive_file", 0)
            yield int(most) - max(0, int(used) - held)


def _fields(path: Path) -> dict[str, int]:
    """Lines of ``name: number`` or ``name number``."""
    split = (line.replace(":", " ").split() for line in _text(path).splitlines())
    return {parts[0]: int(parts[1]) for parts in split if len(parts) > 1 and parts[1].isdecimal()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def memory_limit(given: str | int) -> int:
    """Bytes, from a number or a text such as ``2GiB``."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]i?)?b?\s*", str(given).lower())
    told = f"memory={given}" if isinstance(given, int) else f"memory={plain(given)!r}"
    if isinstance(given, bool) or found is None:
        raise InputError(f"{told}: write an amount of memory as 2GiB, 800MB, or a number of bytes.", code="bad-value")
    limit = int(float(found[1]) * _UNITS[found[2] or ""])
    if limit < LEAST:
        raise InputError(
            f"{told}: less than {amount(LEAST)} does not hold the program itself.", code="not-enough-memory"
        )
    return limit
