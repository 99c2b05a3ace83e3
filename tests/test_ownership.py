"""Whose folder is it? What would be loaded as code must lie where nobody else can change it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from unskew.core.errors import InputError
from unskew.engine.stream.spill import folder_for
from unskew.kernels import ownership
from unskew.kernels.ownership import OthersError, own_folder, read_own

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have other owners there")


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    made = tmp_path / "outer" / "inner"
    made.mkdir(parents=True, mode=0o755)
    made.parent.chmod(0o755)
    return made


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o2775])
@pytest.mark.parametrize("which", ["inner", "outer"])
def test_others_who_can_write_are_named_with_the_folder(inner: Path, which: str, mode: int) -> None:
    place = {"inner": inner, "outer": inner.parent}[which]
    place.chmod(mode)
    with pytest.raises(OthersError, match=rf"{which}.*{mode:o}"):
        own_folder(inner)


def test_all_may_write_above_where_nobody_can_rename_what_is_ours(inner: Path) -> None:
    inner.parent.chmod(0o1777)
    own_folder(inner)
    inner.chmod(0o1777)
    with pytest.raises(OthersError, match=r"inner \(mode 1777\)"):
        own_folder(inner)


def test_a_group_that_we_have_alone_is_nobody_else(inner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Fedora, Ubuntu and others make one for every user, with a umask of 002."""
    members: list[str] = []
    group = "ann"
    user = SimpleNamespace(pw_gid=inner.stat().st_gid, pw_name="ann")
    monkeypatch.setattr("pwd.getpwuid", lambda number: user)
    monkeypatch.setattr("grp.getgrgid", lambda number: SimpleNamespace(gr_name=group, gr_mem=members))
    alone = ownership._alone.__wrapped__
    monkeypatch.setattr("os.geteuid", lambda: 5)
    assert alone(5, user.pw_gid)
    assert not alone(5, user.pw_gid + 1)
    assert not alone(6, user.pw_gid)
    members.append("bob")
    assert not alone(5, user.pw_gid)
    members.clear()
    group = "staff"
    assert not alone(5, user.pw_gid)
    monkeypatch.setattr(ownership, "_alone", lambda user, group: True)
    monkeypatch.setattr("os.geteuid", os.getuid)
    inner.chmod(0o775)
    own_folder(inner)


def test_what_belongs_to_somebody_else_is_refused(inner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = os.lstat(inner)
    fields = list(found)
    fields[stat.ST_UID] = found.st_uid + 7
    theirs = os.stat_result(fields)
    monkeypatch.setattr("os.lstat", lambda path: theirs if Path(path) == inner else os.stat(path))
    with pytest.raises(OthersError, match=str(theirs.st_uid)):
        own_folder(inner)
    own_folder(inner, friends=(theirs.st_uid,))


def test_parts_of_users_are_not_pickled_where_others_could_swap_them(
    inner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(inner))
    with folder_for(0) as folder:
        assert folder.parent == inner
    inner.chmod(0o777)
    with pytest.raises(InputError, match=r"(?s)777.*TMPDIR"), folder_for(0):
        pass
    assert not list(inner.iterdir())


def test_only_plain_files_are_read(inner: Path) -> None:
    """A pipe is not waited for, and no link is followed."""
    (inner / "file").write_bytes(b"x")
    assert read_own(inner / "file") == b"x"
    os.mkfifo(inner / "pipe")
    (inner / "link").symlink_to("file")
    with pytest.raises(OthersError, match="pipe"):
        read_own(inner / "pipe")
    with pytest.raises(OSError):
        read_own(inner / "link")
    (inner / "file").chmod(0o666)
    with pytest.raises(OthersError, match="666"):
        read_own(inner / "file")
