"""What an engine brings whose rows lie elsewhere: parts of the users, to each of which a function is carried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs
from unskew.alignment.part import AlignedPart, PartFacts


class Adds(Protocol):
    """Something of some users, to which that of other users is added."""

    def merge(self, other: Self) -> Self:
        """That of both sets of users."""


M = TypeVar("M", bound=Adds)


class AlignedParts(Protocol):
    """Aligned parts of the users, kept where they are."""

    def fold(self, of: Callable[[AlignedPart], M], stage: str) -> M:
        """What a function finds in every part that has users, merged in any order, each part once."""

    def remade(self, of: Callable[[AlignedPart], tuple[AlignedPart, M]], stage: str) -> tuple[AlignedParts, M]:
        """The parts as a function makes them anew, kept in place of these, and what it finds in all of them."""


class Partitions(Protocol):
    """The inputs of an evaluation in parts of the users, each of which fits into memory.

    A part is an ``Inputs`` with the rows of some users in all logs, lists and tables. Its logs and lists are coded over
    the vocabularies of items of the whole, which ``facts`` names; users are coded inside a part. Users whose ids differ
    only in how they are written must be in the same part.
    """

    @property
    def facts(self) -> InputFacts:
        """What is known of all inputs before any part is looked at; how many users there are is not."""

    @property
    def people(self) -> tuple[str, ...]:
        """The columns of the population."""

    def fold(self, of: Callable[[Inputs], M], stage: str) -> M:
        """What a function finds in every part that has users, of logs and population only (no lists)."""

    def align(
        self, of: Callable[[Inputs], AlignedPart], also: Callable[[Inputs], M]
    ) -> tuple[AlignedParts, PartFacts, M]:
        """Align every part and keep it; the facts of all, and what another function finds in the parts."""
