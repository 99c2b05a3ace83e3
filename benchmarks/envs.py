"""Virtual environments for peers: one each, made on demand from ``peers/NAME.txt``, kept in ``.envs/NAME``."""

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PEERS_FOLDER = HERE / "peers"
ENVS_FOLDER = HERE / ".envs"


@dataclass(frozen=True)
class Peer:
    """A library to measure against.

    Args:
        title: its name in tables.
        script: measured by ``peers/peer_SCRIPT.py``.
        env: its requirement file and environment; ``None`` runs in our own.
        bar: whether our floors are measured against it.
        by_hand: the caller, not the library, aligns users and items and vouches for them; a floor of its own.
        same_work: it gives the full table, not only naive metrics; a ceiling of its own.
    """

    title: str
    script: str
    env: str | None
    bar: bool = True
    by_hand: bool = False
    same_work: bool = False

    @property
    def module(self) -> str:
        """The module that measures it, seen from this folder."""
        return f"peers.peer_{self.script}"


PEERS = (
    Peer("RecTools", "rectools", "rectools"),
    Peer("pytrec_eval", "pytrec_eval", "pytrec_eval"),
    Peer("ranx", "ranx", "ranx"),
    Peer("ranx, arrays aligned by hand", "ranx_arrays", "ranx", by_hand=True),
    Peer("ir-measures", "ir_measures", "ir_measures"),
    Peer("plain polars", "polars", None, bar=False),
    Peer("plain polars, full table", "polars_full", None, bar=False, same_work=True),
)


def python_of(peer: Peer) -> Path:
    """The interpreter of a peer's environment, which is made or brought up to date first."""
    if peer.env is None:
        return Path(sys.executable)
    folder, requirements = ENVS_FOLDER / peer.env, PEERS_FOLDER / f"{peer.env}.txt"
    stamp = folder / "requirements.txt"
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not (stamp.exists() and stamp.read_text() == requirements.read_text()):
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run(
            [*install, "--only-binary=:all:", "-r", str(requirements)], capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{peer.title}: its environment could not be made.\n{done.stderr}")
        stamp.write_text(requirements.read_text())
    return python
