"""Two users of one machine: nothing that one of them leaves where compiled functions are kept runs as the other.

The victim is root, and another user who was root while everything was imported; the intruder is a third one, who needs
no account. Every scenario shows first that the victim does load what lies in a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

VICTIM, INTRUDER = 65_002, 65_001
VICTIMS = (0, VICTIM)
pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two users: run these tests as root"
)

# Defines a function and calls it, as an import of our kernels and a first evaluation do, with a pause between the two.
PROGRAM = """
import importlib.util, os, sys, warnings
from pathlib import Path
from unskew.kernels.compiled import njit
source, user = Path(sys.argv[1]), int(sys.argv[2])
warnings.simplefilter("ignore")
njit(cache=False)(lambda x: 2 * x)(1)  # what the compiler needs is loaded by root
os.setgroups([])
os.setgid(user)
os.setuid(user)
os.umask(0o022)
def load():
    spec = importlib.util.spec_from_file_location("doubling", source)
    module = importlib.util.module_from_spec(spec)
    sys.modules["doubling"] = module
    spec.loader.exec_module(module)
    return njit(cache=True)(module.times)
function = load()
print("imported", flush=True)
sys.stdin.readline()
assert function(3) == 6
print(sum(function.stats.cache_hits.values()), flush=True)
"""
# Every file of the folder becomes one that says who runs it, under the same name and with a right checksum.
PAYLOAD = """
import hashlib, os, pickle, sys
class Run:
    def __reduce__(self):
        return os.system, (f"id -u >> {sys.argv[1]}",)
content = pickle.dumps(Run())
sys.stdout.buffer.write(hashlib.sha256(content).digest() + content)
"""


class Place:
    """A folder of the victim's with a compiled function, below one that is readable for all; as new for every test."""

    def __init__(self, folder: Path, victim: int) -> None:
        self.folder, self.victim = folder, victim
        folder.chmod(0o755)
        self.shared = folder / "shared"
        self.caches = self.shared / "caches"
        self.source = folder / "doubling.py"
        self.source.write_text("def times(x):\n    return 2 * x\n")
        (folder / "__pycache__").write_text("no folder")  # there is no other place
        self.owned = folder / "owned"
        self.owned.mkdir()
        self.owned.chmod(0o777)
        payload = [sys.executable, "-c", PAYLOAD, str(self.owned / "by")]
        (folder / "payload").write_bytes(subprocess.run(payload, capture_output=True, check=True).stdout)
        self.caches.mkdir(parents=True)
        self._give(self.caches)
        assert self.run() == 0
        (self.kept,) = self.caches.glob("*/*.nbc")
        self._honest = self.kept.read_bytes()

    def renew(self) -> None:
        """What there was at first: one kept function, in folders that only the victim can change."""
        shutil.rmtree(self.shared)
        self.kept.parent.mkdir(parents=True)
        self.kept.write_bytes(self._honest)
        for path in (self.caches, self.kept.parent, self.kept):
            self._give(path)

    def _give(self, path: Path) -> None:
        os.chown(path, self.victim, self.victim)

    def run(self, between: Callable[[], None] = lambda: None) -> int:
        """Import, pause, and call as the victim; how many compiled functions came from the folder."""
        nowhere = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.source), str(self.victim)],
            env={**os.environ, **nowhere, "NUMBA_CACHE_DIR": str(self.caches)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == "imported\n"
            between()
            said, _ = process.communicate("\n", timeout=120)
        assert process.returncode == 0
        return int(said)

    def intrude(self, script: str) -> None:
        """Run a script as the intruder: ``$IN`` is numba's folder, ``$FILE`` in it, ``$PAYLOAD`` the harmful file."""
        payload = self.folder / "payload"
        names = {"CACHES": self.caches, "IN": self.kept.parent, "FILE": self.kept, "PAYLOAD": payload}
        subprocess.run(
            ["/bin/sh", "-ec", script],
            env={"PATH": "/usr/bin:/bin", **{name: str(path) for name, path in names.items()}},
            user=INTRUDER, group=INTRUDER, extra_groups=[], check=True,
        )  # fmt: skip

    def clean(self) -> bool:
        """Whether nothing of the intruder's was run."""
        return not list(self.owned.iterdir())


SWAP_FOLDER = 'mv "$IN" "$IN.old" && mkdir "$IN" && cp "$PAYLOAD" "$FILE"'
SWAP_PARENT = 'mv "$CACHES" "$CACHES.old" && mkdir -p "$IN" && cp "$PAYLOAD" "$FILE"'
SWAP_FILE = 'rm -f "$FILE" && cp "$PAYLOAD" "$FILE" && chmod 644 "$FILE"'


def _shared_with_a_group(place: Place) -> None:
    os.chown(place.shared, place.victim, INTRUDER)
    place.shared.chmod(0o775)


OPENED: dict[str, tuple[Callable[[Place], None], str]] = {
    "the parent belongs to another user": (lambda place: os.chown(place.caches, INTRUDER, INTRUDER), SWAP_FOLDER),
    "the grandparent belongs to another user": (lambda place: os.chown(place.shared, INTRUDER, INTRUDER), SWAP_PARENT),
    "everybody may change the parent": (lambda place: place.caches.chmod(0o777), SWAP_FOLDER),
    "a group may change the grandparent": (_shared_with_a_group, SWAP_PARENT),
    "everybody may change the folder": (lambda place: place.kept.parent.chmod(0o777), SWAP_FILE),
}
WHEN = ("between import and call", "before the import")


@pytest.fixture(params=VICTIMS, ids=["root", "user"], scope="module")
def victims_place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Not below pytest's own folder, which nobody else may enter."""
    with tempfile.TemporaryDirectory(prefix="unskew-two-users-", dir="/tmp") as folder:
        yield Place(Path(folder), request.param)


@pytest.fixture
def place(victims_place: Place) -> Place:
    victims_place.renew()
    return victims_place


def test_what_is_ours_is_loaded_from_a_folder_of_ours(place: Place) -> None:
    """Also below a folder like /tmp, in which all may write and nobody can rename what is ours."""
    place.shared.chmod(0o1777)
    assert place.run() == 1


@pytest.mark.parametrize(("when", "how"), [(WHEN[0], how) for how in OPENED] + [(WHEN[1], how) for how in OPENED][::4])
def test_nothing_runs_from_a_folder_that_another_user_can_change(place: Place, how: str, when: str) -> None:
    open_it, swap = OPENED[how]

    def attack() -> None:
        open_it(place)
        place.intrude(swap)

    if when == WHEN[1]:
        attack()
        assert place.run() == 0
    else:
        assert place.run(between=attack) == 0
    assert place.clean()


def test_a_file_that_was_left_while_a_folder_was_open_is_not_loaded(place: Place) -> None:
    """The folder is ours alone again; its file is not."""
    place.kept.parent.chmod(0o777)
    place.intrude(SWAP_FILE)
    place.kept.parent.chmod(0o755)
    assert place.run() == 0
    assert place.clean()
    assert place.run() == 1, "it was not made anew"


def test_a_folder_of_another_user_is_not_filled(place: Place) -> None:
    """Whoever gets there first has it: names are known, since they are hashes of paths."""
    place.shared.chmod(0o1777)
    shutil.rmtree(place.caches)
    place.intrude('mkdir "$CACHES" && chmod 777 "$CACHES"')
    assert place.run() == 0
    assert not list(place.caches.rglob("*.nbc"))
