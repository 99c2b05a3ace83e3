"""The sets by name: ``load`` reads one, ``add`` registers a user's copy."""

from __future__ import annotations

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from unskew.core.errors import InputError
from unskew.core.text import plain, plain_path
from unskew.log.datasets import places
from unskew.log.datasets.base import Dataset, Source
from unskew.log.datasets.coat import Coat
from unskew.log.datasets.ml_100k import MovieLens100K
from unskew.log.datasets.movietweetings import MovieTweetings
from unskew.log.datasets.online_retail import OnlineRetail
from unskew.log.datasets.open_bandit import OpenBandit
from unskew.log.datasets.yahoo_r3 import YahooR3

SOURCES: dict[str, Source] = {
    source.about.name: source
    for source in (Coat(), MovieLens100K(), MovieTweetings(), OnlineRetail(), OpenBandit(), YahooR3())
}
NAMES = tuple(SOURCES)


def load(name: str) -> Dataset:
    """Read a named data set from this machine.

    Args:
        name: ``coat``, ``ml-100k``, ``movietweetings``, ``online-retail``, ``open-bandit`` or ``yahoo-r3``. Nothing
            is downloaded; where no copy is found, the error says how to get one.
    """
    source = source_of(name)
    folder = places.find(source)
    if folder is None:
        gone = f" The copy at {was} is gone." if (was := places.registry().get(name)) else ""
        raise InputError(
            f"the data set '{name}' is not on this machine.{gone}\n{how_to_get(source)}",
            code="missing-dataset",
            dataset=name,
        )
    if folder == places.store(name):
        places.compare_checksums(folder, source.files, f"Download it again with: unskew data fetch {name} --again")
    return source.read(folder)


def add(name: str, path: str | PathLike[str]) -> Dataset:
    """Check a copy that the user has, and remember where it lies.

    Args:
        path: the folder with its files, one above it, or one of its files.
    """
    source = source_of(name)
    try:
        given = Path(path).expanduser()
        given.stat()
    except (OSError, ValueError, RuntimeError, TypeError) as problem:  # an unknown ~user is a RuntimeError
        why = getattr(problem, "strerror", None) or problem
        raise InputError(
            f"{plain_path(path)}: there is no such folder: {plain(why)}.\nCheck the path.", code="missing-folder"
        ) from None
    around = given.parent if given.is_file() else given
    folder = places.locate(source, around)
    if folder is None:
        packed = " Unpack the archive first." if given.suffix == ".zip" else ""
        raise InputError(
            f"{plain_path(around)}: this is not a copy of '{name}': {', '.join(source.lacking(around))} is missing."
            f"{packed}\nGive the folder that holds the files as their publisher offers them: {source.about.homepage}",
            code="wrong-dataset",
            dataset=name,
        )
    dataset = source.read(folder)
    places.register(name, folder)
    return dataset


def source_of(name: str) -> Source:
    """The reader of a set; an unknown name gets the nearest known one."""
    if not isinstance(name, str):
        raise InputError(
            f"a data set is called by its name, not by a {type(name).__name__}. Known: {', '.join(NAMES)}.",
            code="wrong-type",
        )
    source = SOURCES.get(name)
    if source is None:
        near = get_close_matches(name.lower(), NAMES, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InputError(
            f"there is no data set called '{plain(name)}'.{hint} Known: {', '.join(NAMES)}.",
            code="unknown-name",
            near=near,
        )
    return source


def folder_of(name: str) -> Path | None:
    """Where a copy of the set lies on this machine."""
    return places.find(source_of(name))


def how_to_get(source: Source) -> str:
    """What a user without a copy can do, and under which licence."""
    about = source.about
    get = f"Download it with: unskew data fetch {about.name}" if source.downloads else about.obtain
    return (
        f"{get}\nIf you have a copy, register it with: unskew data add {about.name} PATH (or put it into the folder "
        f"{about.name} of UNSKEW_DATA).\nPublisher: {about.homepage}\nLicence: {about.licence}."
    )
