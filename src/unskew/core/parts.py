"""A part declares itself once: its name, its options as dataclass fields, and what each option may be.

    @metrics.register                                # or an entry point of the group "unskew.parts"
    @dataclass(frozen=True)
    class Geometric(RankingMetric):
        ratio: float = option(0.5, SHARE, "what a rank is worth, of the one before it")
        name = "geometric"

From the fields come parsing (``geometric(ratio=0.3)``), validation, printing (``str(part)`` is the canonical string)
and the reference page; no table beside the class repeats them. A family (metrics, estimators, …) knows its parts by
name: built-in ones are imported when they are first used, others register with a decorator or through an entry point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from unskew.core.bounds import Number, Whole, any_of, refused
from unskew.core.errors import InputError
from unskew.core.spec import Spec, arguments, parse, show
from unskew.core.text import plain

T = TypeVar("T")
P = TypeVar("P", bound="type[Part]")

PAPERS = {"adam_mf", "biased_mf", "bpr", "factors", "mmmf", "nmf", "plain_mf", "pmf"}  # what unskew-papers brings
GROUP = "unskew.parts"  # of entry points: modules that register parts when they are imported
_KEY = "unskew option"


@dataclass(frozen=True)
class Words:
    """One of some words."""

    words: tuple[str, ...]

    def of(self, value: object, what: str) -> str:
        """The word; ``what`` is wrong otherwise."""
        if isinstance(value, str) and value in self.words:
            return str(value)
        raise refused(what, self, value, "unknown-name")

    def __str__(self) -> str:
        return any_of(self.words)


@dataclass(frozen=True)
class Flag:
    """True or false, also as words."""

    def of(self, value: object, what: str) -> bool:
        """The truth value; ``what`` is wrong otherwise."""
        if isinstance(value, bool):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise refused(what, self, value, "wrong-type")

    def __str__(self) -> str:
        return "true or false"


@dataclass(frozen=True)
class Text:
    """Any text: the name of a column, a path."""

    def of(self, value: object, what: str) -> str:
        """The text; ``what`` is wrong otherwise."""
        if isinstance(value, str):
            return value
        raise refused(what, self, value, "wrong-type")

    def __str__(self) -> str:
        return "a word"


@dataclass(frozen=True)
class Made:
    """Something that a function makes of what is given: another part, strata, …

    Args:
        named: whether the function is told of which option of which part its errors should speak.
    """

    make: Callable[..., Any]
    called: str = "a part"
    example: str = ""
    named: bool = False

    def of(self, value: object, what: str) -> Any:
        """What the function makes of it."""
        return self.make(value, what) if self.named else self.make(value)

    def __str__(self) -> str:
        return self.called


def part_of(room: str) -> Callable[[Any], Any]:
    """Makes a part of a room from its canonical string, or gives it back; the room is imported when it is needed."""

    def make(given: Any) -> Any:
        family = import_module(room).FAMILY
        return family.make(given if isinstance(given, family.base) else str(given))

    return make


Kind = Whole | Number | Words | Flag | Text | Made


@dataclass(frozen=True)
class Option:
    """What one option of a part may be.

    Args:
        kind: a range of numbers, some words, any text, or something that is made of what is given.
        help: one line for ``--help`` and the reference page.
        unnamed: may be given without its name, in the order of the fields.
        changed: printed only where it differs from the default; else always, unless it is ``None``.
        cut: given behind @ instead of between brackets.
    """

    kind: Kind
    help: str = ""
    unnamed: bool = False
    changed: bool = False
    cut: bool = False


def option(
    default: Any,
    kind: Kind,
    help: str = "",
    *,
    unnamed: bool = False,
    changed: bool = False,
    cut: bool = False,
) -> Any:
    """A dataclass field that is an option of a part; a default that is a function makes one for every part."""
    metadata = {_KEY: Option(kind, help, unnamed, changed, cut)}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


class Part:
    """Something with a canonical string: the base of metrics, estimators, propensities, outcome models and models.

    Subclasses are dataclasses; a ``__post_init__`` of their own must call this one.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for entry, rule in options_of(self):
            value = getattr(self, entry.name)
            if value is None and entry.default is None:
                continue
            kept = rule.kind.of(value, f"'{self.name}': {entry.name}")
            if kept is not value:
                object.__setattr__(self, entry.name, kept)

    @classmethod
    def of_spec(cls, spec: Spec, **context: Any) -> Self:
        """The part that a parsed string names; what it takes of the context besides its options is passed on."""
        known = options_of(cls)
        cut = next((entry.name for entry, rule in known if rule.cut), None)
        unnamed = [entry.name for entry, rule in known if rule.unnamed]
        given = arguments(spec, unnamed, [entry.name for entry, rule in known if not rule.cut], cut is not None)
        needed = {e.name for e, _ in known if e.default is MISSING and e.default_factory is MISSING}
        if lacking := [rule.kind for e, rule in known if e.name in needed - given.keys()]:
            example = getattr(lacking[0], "example", "") or lacking[0]
            raise InputError(f"'{cls.name}' needs {lacking[0]}: {cls.name}({example}).", code="missing-argument")
        if spec.at is not None and cut is not None:
            given[cut] = spec.at
        taken = {entry.name for entry in fields(cls)}  # type: ignore[arg-type]
        return cls(**given, **{name: value for name, value in context.items() if name in taken})

    def remember(self, **learnt: Any) -> Self:
        """Keep what a fit has learnt, and give the part back; options never change, what is learnt does."""
        for name, value in learnt.items():
            object.__setattr__(self, name, value)
        return self

    def copy(self) -> Self:
        """Another one with the same options, whose fit leaves this one as it is."""
        return copy(self)

    def shown(self) -> dict[str, Any]:
        """The options that the canonical string tells, in their order."""
        told = {}
        for entry, rule in options_of(self):
            value = getattr(self, entry.name)
            usual = rule.changed and value == entry.default
            if value is not None and not usual and not rule.cut:
                told[entry.name] = value
        return told

    def __str__(self) -> str:
        bare = {entry.name for entry, rule in options_of(self) if rule.unnamed}
        told = [
            show(value) if name in bare and isinstance(value, Part) else f"{name}={show(value)}"
            for name, value in self.shown().items()
        ]
        cut = next((getattr(self, entry.name) for entry, rule in options_of(self) if rule.cut), None)
        return self.name + (f"({', '.join(told)})" if told else "") + ("" if cut is None else f"@{cut}")


@cache
def _options(part: Any) -> tuple[tuple[Field[Any], Option], ...]:
    known = fields(part) if is_dataclass(part) else ()  # a plain class has no options
    return tuple((entry, entry.metadata[_KEY]) for entry in known if _KEY in entry.metadata)


def options_of(part: Any) -> tuple[tuple[Field[Any], Option], ...]:
    """The options of a part or of its class, with their rules, in the order of the fields."""
    return _options(part if isinstance(part, type) else type(part))


class Family(Generic[T]):
    """All parts of one kind by name.

    Args:
        kind: what messages call such a part.
        base: what every part of the family is.
        room: the package in which our own are.
        built_in: our own: classes, or name → "module:class" in that room, imported when first used.
        later: what else of the room is imported when it is first used, as "module:name".
    """

    def __init__(
        self,
        kind: str,
        base: Any,
        room: str,
        built_in: Mapping[str, str] | Iterable[type[Part]],
        later: Iterable[str] = (),
    ) -> None:
        self.kind, self.base, self.room = kind, base, room
        self.later = [f"{room}.{place}" for place in later]
        if isinstance(built_in, Mapping):
            self.built_in = {name: f"{room}.{place}" for name, place in built_in.items()}
        else:
            self.built_in = {part.name: _place(part) for part in built_in}
        self._registered: dict[str, Any] = {}

    def register(self, part: P) -> P:
        """Make a class of somebody else's known by its name (a decorator)."""
        name = getattr(part, "name", None)
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(
                f"a {self.kind} needs a name like 'my_{self.kind}': set name = … in {part.__name__}.", code="bad-name"
            )
        if not issubclass(part, self.base):
            bases = " or ".join(base.__name__ for base in (self.base if isinstance(self.base, tuple) else [self.base]))
            raise InputError(
                f"'{name}' is no {self.kind}: {part.__name__} must derive from {bases}.", code="wrong-type"
            )
        other = self.built_in.get(name) or self._registered.get(name)
        if other is not None and other is not part and _place(other) != _place(part):
            raise InputError(f"there is already a {self.kind} called '{name}'. Choose another name.", code="name-taken")
        self._registered[name] = part
        return part

    def make(self, text: str | T, **context: Any) -> T:
        """The part with this canonical string; a part is given back as it is.

        ``context`` is what parts that read files may want to know: how columns are called, say.
        """
        if isinstance(text, self.base):
            return cast(T, text)
        spec = parse(text, self.kind)  # type: ignore[arg-type]  # anything else is refused there
        made: T = self.class_of(spec.name).of_spec(spec, **context)
        return made

    def class_of(self, name: str) -> Any:
        """The class behind a name: registered, our own, or one that an entry point brings."""
        if name in self.built_in:
            return _loaded(self.built_in[name])
        if name not in self._registered:
            load_entry_points()
        if name in self._registered:
            return self._registered[name]
        names = sorted(self.names())
        near = self._with_cut_off(name) or get_close_matches(name.lower(), names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        if name in PAPERS:
            hint = f" '{name}' comes with the package unskew-papers: pip install unskew-papers."
        raise InputError(
            f"there is no {self.kind} called '{plain(name)}'.{hint} Known: {', '.join(names)}.",
            code="unknown-name",
            kind=self.kind,
            near=near,
        )

    def _with_cut_off(self, name: str) -> list[str]:
        """``recall@10``, where somebody wrote recall10 or recall_10."""
        found = re.fullmatch(r"([a-z_]+?)_?([0-9]+)", name.lower())
        if found is None or found[1] not in self.names():
            return []
        try:
            return [str(self.make(f"{found[1]}@{found[2]}"))]
        except InputError:  # it has no cut-off
            return []

    def names(self) -> Iterator[str]:
        """All names, entry points included."""
        load_entry_points()
        yield from {**self.built_in, **self._registered}

    def class_names(self) -> list[str]:
        """The names of our own classes: what ``dir`` of the room lists."""
        return sorted(place.partition(":")[2] for place in self.built_in.values())

    def attribute(self, name: str) -> Any:
        """One of our own, imported when it is first asked for: what ``__getattr__`` of the room is."""
        for place in (*self.built_in.values(), *self.later):
            if place.partition(":")[2] == name:
                return _loaded(place)
        raise AttributeError(f"module '{self.room}' has no attribute '{name}'")


def _place(part: Any) -> str:
    """Where a class is defined: importing a module twice is no second part."""
    return part if isinstance(part, str) else f"{part.__module__}:{part.__qualname__}"


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def load_entry_points() -> None:
    """Import the modules that installed packages name in the group ``unskew.parts``; they register their parts."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as problem:
            raise InputError(
                f"the package behind the entry point '{plain(entry.name)}' ({plain(entry.value)}) cannot be loaded: "
                f"{plain(problem, 200)}.\nMend or uninstall it.",
                code="broken-entry-point",
            ) from problem
