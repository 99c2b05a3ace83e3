"""The campaign's result as text: counts by kind and class, then every failure with what makes it again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.classify import GOOD, Class


@dataclass(frozen=True)
class Finding:
    """One input and what became of it."""

    kind: str
    index: int
    what: str
    found: Class
    why: str
    command: str


@dataclass
class Findings:
    """All of a campaign."""

    rows: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def bad(self) -> list[Finding]:
        """What was neither clean nor right."""
        return [row for row in self.rows if row.found not in GOOD]

    @property
    def good(self) -> bool:
        """Whether nothing went wrong."""
        return not self.bad


def show(findings: Findings, seed: int, keep: Path) -> str:
    """The whole report."""
    counts = Counter((row.kind, row.found) for row in findings.rows)
    kinds = list(dict.fromkeys(row.kind for row in findings.rows))
    lines = [f"{'':14}" + "".join(f"{name:>10}" for name in Class)]
    lines += [f"{kind:14}" + "".join(f"{counts[kind, name] or '·':>10}" for name in Class) for kind in kinds]
    total = Counter(row.found for row in findings.rows)
    lines.append(f"{'all':14}" + "".join(f"{total[name]:>10}" for name in Class))
    lines.append(f"{len(findings.rows):,} inputs, seed {seed}, {findings.seconds:.0f} s")
    for row in sorted(findings.bad, key=lambda row: (row.found, row.kind, row.index)):
        lines.append(f"\n{failure(row, seed, keep)}")
    return "\n".join(lines)


def failure(row: Finding, seed: int, keep: Path) -> str:
    """One failure: what, why, how to make it again, and where its files are."""
    lines = [f"{row.found}: {row.kind} {row.index}: {_tame(row.what)}", f"  {_tame(row.why)}"]
    lines.append(f"  again: python -m tests.hostile --seed {seed} --only {row.kind} --index {row.index}")
    if row.command:
        lines.append(f"  files: cd {keep / f'{row.kind}-{row.index}'} && unskew {_tame(row.command, 1000)}")
    return "\n".join(lines)


def _tame(text: str, longest: int = 400) -> str:
    """Hostile words as they may be printed."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:longest])
