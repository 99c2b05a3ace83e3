"""A part declares itself once: its name, its options as dataclass fields, and what each option may be.

    @metrics.register                                # or an entry point of the group "unskew.parts"
    @dataclass(frozen=True)
    class Geometric(RankingMetric):
        ratio: float = option(0.5, above=0, below=1, help="what a rank is worth, of the one before it")
        name = "geometric"

From the fields come parsing (``geometric(ratio=0.3)``), validation, printing (``str(part)`` is the canonical string)
and the reference page; no table beside the class repeats them. A family (metrics, estimators, …) knows its parts by
name: built-in ones are imported when they are first used, others register with a decorator or through an entry point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from math import isfinite
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, cast

from unskew.errors import InputError
from unskew.plain import plain
from unskew.spec import Spec, parse, show

T = TypeVar("T")
P = TypeVar("P", bound="type[Part]")

GROUP = "unskew.parts"  # of entry points: modules that register parts when they are imported
_KEY = "unskew option"
_KINDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """What one option of a part may be.

    Args:
        kind: int, float, str or bool; ``object`` where ``read`` decides.
        help: one line for ``--help`` and the reference page.
        least, most, above, below: bounds of a number, the first two included.
        one_of: the words that a word may be.
        words: words that may stand in place of a number.
        why: a sentence behind the error, where the bound is not obvious.
        unnamed: may be given without its name, in the order of the fields.
        shown: printed always, or only where it differs from the default; ``None`` is never printed.
        read: makes the value from what a string or a caller gives: another part, strata, …
        cut: given behind @ instead of in brackets.
    """

    kind: type
    help: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    one_of: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    why: str = ""
    unnamed: bool = False
    shown: Literal["always", "changed"] = "always"
    read: Callable[[Any], Any] | None = None
    cut: bool = False

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.one_of:
            return ("one of " if len(self.one_of) > 2 else "") + any_of(self.one_of)
        return any_of((f"{_KINDS.get(self.kind, 'a value')} {self._range}".strip(), *self.words))

    @property
    def _range(self) -> str:
        low = self.least if self.above is None else self.above
        high = self.most if self.below is None else self.below
        if low is not None and high is not None:
            if self.above is not None and self.below is not None:
                return f"between {low:,g} and {high:,g}"
            if self.above is None and self.below is None:
                return f"from {low:,g} to {high:,g}"
        told = (("of at least", self.least), ("above", self.above), ("of at most", self.most), ("below", self.below))
        return " and ".join(f"{word} {bound:,g}" for word, bound in told if bound is not None)

    def checked(self, part: str, name: str, value: Any) -> Any:
        """The value as it is kept; anything else than what is allowed is an error that names the option."""
        if self.read is not None:
            return self.read(value)
        value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
        if isinstance(value, str) and (value in self.words or (self.kind is str and not self.one_of)):
            return value
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) < 1e300 else value
        right = isinstance(value, self.kind) and not (isinstance(value, bool) and self.kind is not bool)
        if right and self._within(value):
            return value
        why = f" {self.why}" if self.why else ""
        raise InputError(f"'{part}': {name} must be {self.allowed}, not '{plain(show(value))}'.{why}")

    def _within(self, value: Any) -> bool:
        if self.one_of:
            return value in self.one_of
        if isinstance(value, str | bool):
            return True
        return (
            isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


def option(default: Any = MISSING, *, kind: type | None = None, factory: Any = MISSING, **rules: Any) -> Any:
    """A dataclass field that is an option of a part; the kind is that of the default unless it is told."""
    told = kind or (object if default in (MISSING, None) else type(default))
    metadata = {_KEY: Option(told, **rules)}
    if factory is not MISSING:
        return field(default_factory=factory, metadata=metadata)
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def any_of(words: tuple[str, ...]) -> str:
    """``a, b or c``."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


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
            kept = rule.checked(self.name, entry.name, value)
            if kept is not value:
                object.__setattr__(self, entry.name, kept)

    @classmethod
    def of_spec(cls, spec: Spec) -> Self:
        """The part that a parsed string names."""
        known = options_of(cls)
        cut = next((entry.name for entry, rule in known if rule.cut), None)
        if spec.at is not None and cut is None:
            raise InputError(f"cannot read '{plain(spec)}': '{cls.name}' takes no cut-off '@{spec.at}'.")
        unnamed = [entry.name for entry, rule in known if rule.unnamed]
        if len(spec.args) > len(unnamed):
            allowed = f"at most {len(unnamed)}" if unnamed else "no"
            raise InputError(f"cannot read '{plain(spec)}': '{cls.name}' takes {allowed} unnamed arguments.")
        given = dict(zip(unnamed, spec.args, strict=False))
        names = [entry.name for entry, rule in known if not rule.cut]
        for key, value in spec.options.items():
            if key in given:
                raise InputError(f"cannot read '{plain(spec)}': '{plain(key)}' is given twice.")
            if key not in names:
                there = ", ".join(names) or "none"
                raise InputError(
                    f"cannot read '{plain(spec)}': '{cls.name}' has no option '{plain(key)}' (known: {there})."
                )
            given[key] = value
        if lacking := [e.name for e, _ in known if e.name not in given and _required(e)]:
            raise InputError(f"'{cls.name}' needs {lacking[0]}: {cls.name}({lacking[0]}=…).")
        if spec.at is not None and cut is not None:
            given[cut] = spec.at
        return cls(**given)

    def shown(self) -> dict[str, Any]:
        """The options that the canonical string tells, in their order."""
        told = {}
        for entry, rule in options_of(self):
            value = getattr(self, entry.name)
            usual = rule.shown == "changed" and value == entry.default
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
    return tuple((entry, entry.metadata[_KEY]) for entry in fields(part) if _KEY in entry.metadata)


def options_of(part: Any) -> tuple[tuple[Field[Any], Option], ...]:
    """The options of a part or of its class, with their rules, in the order of the fields."""
    return _options(part if isinstance(part, type) else type(part))


def _required(entry: Field[Any]) -> bool:
    return entry.default is MISSING and entry.default_factory is MISSING


class Family(Generic[T]):
    """All parts of one kind by name.

    Args:
        kind: what messages call such a part.
        base: what every part of the family is.
        built_in: name → "module:class" of our own, imported when first used.
    """

    def __init__(self, kind: str, base: Any, built_in: Mapping[str, str]) -> None:
        self.kind, self.base = kind, base
        self._built_in = built_in
        self._registered: dict[str, Any] = {}

    def register(self, part: P) -> P:
        """Make a class of somebody else's known by its name (a decorator)."""
        name = getattr(part, "name", None)
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(f"a {self.kind} needs a name like 'my_{self.kind}': set name = … in {part.__name__}.")
        if not issubclass(part, self.base):
            raise InputError(f"'{name}' is no {self.kind}: {part.__name__} must derive from {self._bases()}.")
        other = self._built_in.get(name) or self._registered.get(name)
        if other is not None and other is not part and _place(other) != _place(part):
            raise InputError(f"there is already a {self.kind} called '{name}'. Choose another name.")
        self._registered[name] = part
        return part

    def make(self, text: str | T) -> T:
        """The part with this canonical string; a part is given back as it is."""
        if isinstance(text, self.base):
            return cast(T, text)
        spec = parse(str(text))
        made: T = self.class_of(spec.name).of_spec(spec)
        return made

    def class_of(self, name: str) -> Any:
        """The class behind a name: registered, our own, or one that an entry point brings."""
        if name in self._built_in:
            module, _, attribute = self._built_in[name].partition(":")
            return getattr(import_module(module), attribute)
        if name not in self._registered:
            load_entry_points()
        if name in self._registered:
            return self._registered[name]
        names = sorted(self.names())
        near = get_close_matches(name.lower(), names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InputError(f"there is no {self.kind} called '{plain(name)}'.{hint} Known: {', '.join(names)}.")

    def names(self) -> Iterator[str]:
        """All names, entry points included."""
        load_entry_points()
        yield from {**self._built_in, **self._registered}

    def _bases(self) -> str:
        bases = self.base if isinstance(self.base, tuple) else (self.base,)
        return " or ".join(base.__name__ for base in bases)


def _place(part: Any) -> str:
    """Where a class is defined: importing a module twice is no second part."""
    return part if isinstance(part, str) else f"{part.__module__}:{part.__qualname__}"


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
                f"{plain(problem, 200)}.\nMend or uninstall it."
            ) from problem
