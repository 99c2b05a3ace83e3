"""What may still be taken of memory: the least of the machine, the control groups and ulimit."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from unskew.core import memory


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GB available, no control groups and no limits."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\nSwapFree: 0 kB\n")
    (tmp_path / "proc" / "self" / "status").write_text("Name:\tpython\nVmSize:\t 1000 kB\nVmData:\t 500 kB\n")
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return tmp_path


def group(place: Path, files: dict[str, str]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (place / name).write_text(text)


def test_a_system_that_says_nothing_refuses_nothing(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PROC", machine / "nowhere")
    monkeypatch.delattr("os.sysconf")
    memory.require(10**15, "this", "nothing")


def test_the_tightest_control_group_around_the_process_counts(machine: Path) -> None:
    """Version 2; pages of files are given back when needed, so they count as free."""
    (machine / "proc" / "self" / "cgroup").write_text("0::/outer/inner\n")
    group(machine / "cgroup" / "outer" / "inner", {"memory.max": "max\n", "memory.current": "100\n"})
    stat = "anon 500\nactive_file 200\ninactive_file 100\n"
    group(machine / "cgroup" / "outer", {"memory.max": "2000\n", "memory.current": "800\n", "memory.stat": stat})
    assert memory.available() == 2000 - (800 - 300)


def test_control_groups_of_version_1(machine: Path) -> None:
    """In a container the process's own path is often not there; then the root of what is mounted holds its limit."""
    (machine / "proc" / "self" / "cgroup").write_text("4:cpu:/\n3:memory,hugetlb:/docker/abc\n0::/\n")
    files = {"memory.limit_in_bytes": "5000", "memory.usage_in_bytes": "1000", "memory.stat": "total_active_file 400\n"}
    group(machine / "cgroup" / "memory", files)
    assert memory.available() == 4400


@pytest.mark.parametrize(
    ("kind", "left"),
    [(resource.RLIMIT_AS, 4_000_000_000 - 1_024_000 - memory.THREADS), (resource.RLIMIT_DATA, 4_000_000_000 - 512_000)],
)
def test_ulimit_counts_less_what_is_taken(machine: Path, monkeypatch: pytest.MonkeyPatch, kind: int, left: int) -> None:
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(
        resource, "getrlimit", lambda asked: (4_000_000_000, unlimited) if asked == kind else (unlimited, unlimited)
    )
    assert memory.available() == left
