"""A study as a TOML file: data, models, questions. Every key is checked, and paths are relative to the file."""

from __future__ import annotations

import json
import re
import tomllib
from ast import literal_eval
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from unskew import InputError, UnskewError, load
from unskew.alignment import as_log
from unskew.core import files_in, plain, plain_path, shown
from unskew.evaluation import MOST_PARTS
from unskew.log import ColumnMap, Log, files_of, read_small
from unskew.log.datasets import folder_of
from unskew.simulate import World
from unskew_papers.recovery.draws import Paired, Source, Worlds
from unskew_papers.recovery.makers import Fitted, Imported, Maker, Saved, Written, makers_of
from unskew_papers.recovery.questions import Question
from unskew_papers.recovery.run import Settings

EXAMPLE = """\
# How well do estimators recover the truth?   unskew study study.toml --html study.html

[data]                          # a skewed log, and pairs of the same users that were drawn at random
dataset = "coat"                # a named data set that has both (unskew data), or files:
# log = "chosen.parquet"        #   user, item[, value]
# random = "random.parquet"     #   user, item[, value]
# columns = { user = "guest", "log:item" = "dish" }  #   where names are not recognised: in both files, or in one
# invalid = "drop"              #   wrong rows are dropped; by default they are an error
# duplicates = "first"          #   of repeated pairs: first, last, max, earliest
# world = { users = 2000 }      # or simulated worlds, whose truth is known (options of us.simulate.World)
relevant = ">=4"                # which values count; leave it out where there are none
likes = true                    # learn and estimate from relevant pairs only, as a log of clicks would
split = "holdout(share=0.2)"    # training and test parts, made anew for every seed

[study]
seeds = 20                      # how many draws, or a list of seeds
metrics = ["recall@5", "recall@10"]
target = "per_user"
# candidates = "all"            # count random pairs that stand in the training part, as misses; by default left out

[models]                        # each is fitted and ranked once per draw; its seed is that of the draw
popular = "most_popular"
neighbours = "item_knn(neighbours=50)"
wmf = { model = "wmf", dim = [10, 50] }                    # a list of values: one model for each
# mine = { class = "package.module:Class", options = { depth = 3 } }   # with fit(log), recommend(users, k, seen=…)
#                                            and, since it runs code: unskew study study.toml --module package.module
# als = { lists = "als-{seed}.parquet" }                   # lists made elsewhere, from the same training parts
# factors = { saved = "model-{seed}.npz" }                 # written by model.save of ours, factors included

[questions.popularity]          # one way to estimate; as many as you like
estimators = ["naive", "snips", "gs(strata=5)"]
propensity = "popularity(gamma=1)"

[questions.path]                # a question may have its own target and metrics
estimators = ["exposure_path"]
target = "pooled"
"""

LARGEST = 256_000  # bytes
DOTS = 500  # of a line
ANEW = "unskew study --example prints a file to start from."
READING = ("columns", "feedback", "invalid", "duplicates")  # how files are read
COLUMNS = ("user", "item", "value", "time", "policy", "propensity")
DATA = ("log", "random", "dataset", "world", "relevant", "likes", "split", *READING)
STUDY = ("seeds", "metrics", "target", "candidates", "keep_lists")
QUESTION = ("estimators", "propensity", "outcome", "target", "metrics", "likes", "verdicts", "random", "options")

_ARGUMENT = re.compile(rf"\b({'|'.join(READING)})=(\{{[^}}\n]*\}}|'[^'\n]*')")  # columns={'user': 'sku'} in a message


@dataclass(frozen=True, eq=False)
class StudyConfig:
    """What a file asks for: the arguments of ``study``.

    Args:
        inputs: the files that are read, this one included, which no output may replace.
    """

    path: Path
    source: Source
    models: Mapping[str, Maker]
    questions: Sequence[Question]
    options: Mapping[str, Any]
    inputs: Sequence[Path]


def read_config(path: str | Path, modules: Collection[str] = ()) -> StudyConfig:
    """Read and check a file.

    Args:
        modules: those that it may take classes from, whose code is then run.
    """
    path = Path(path)
    file = _File(path, modules)
    content = file.content()
    file.known("", content, ("title", "data", "study", "models", "questions"))
    file.text("", content, "title")
    data, asked = file.table(content, "data"), file.table(content, "study", needed=False)
    file.known("data", data, DATA)
    file.known("study", asked, STUDY)
    with file.at("study"):
        seeds = Settings.of(**asked).seeds
    models = file.models(file.table(content, "models"))
    questions = file.questions(file.table(content, "questions"))
    source = file.source(data, seeds)
    inputs, places = [path, *file.inputs(content)], source.places(seeds)
    for name, maker in models.items():
        with file.at("models", name):
            inputs += maker.files(places)
    return StudyConfig(path, source, models, questions, asked, inputs)


class _File:
    """Messages name the file and the place in it."""

    def __init__(self, path: Path, modules: Collection[str]) -> None:
        self.path, self.modules = path, modules

    def content(self) -> dict[str, Any]:
        """What stands in it."""
        content = read_small(self.path, LARGEST, ANEW)
        try:
            text = content.decode("utf-8")
            if any(line.count(".") > DOTS for line in text.splitlines()):  # tomllib takes minutes for such names
                raise ValueError(f"a line has more than {DOTS} dots")
            return tomllib.loads(text)
        except UnicodeDecodeError:
            raise InputError(
                f"{plain_path(self.path)}: this is not UTF-8 text, as TOML must be.", code="unreadable-file"
            ) from None
        except (ValueError, RecursionError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else plain(error)
            raise InputError(
                f"{plain_path(self.path)}: this is not TOML: {why}.\n{ANEW}", code="unreadable-file"
            ) from None

    def wrong(self, where: str, what: str, code: str) -> InputError:
        """An error at a place."""
        at = f", [{plain(where)}]" if where else ""
        return InputError(
            f"{plain_path(self.path)}{at}: {what}\nunskew study --example prints a file with everything that is known.",
            code=code,
            section=where,
        )

    @contextmanager
    def at(self, where: str, name: str = "") -> Iterator[None]:
        """What is wrong in this block is wrong at a place of the file."""
        try:
            yield
        except UnskewError as error:
            if str(error).startswith(f"{plain_path(self.path)}, ["):
                raise
            told = _ARGUMENT.sub(_as_toml, str(error))
            raise self.wrong(where, f"{plain(name)}: {told}" if name else told, error.code) from None

    def known(self, where: str, found: Mapping[str, Any], names: Sequence[str]) -> None:
        """Refuse what nobody knows."""
        if strange := [name for name in found if name not in names]:
            raise self.wrong(
                where, f"'{plain(strange[0])}' is not known here. Known: {', '.join(names)}.", "unknown-name"
            )

    def table(self, found: Mapping[str, Any], name: str, *, needed: bool = True) -> dict[str, Any]:
        """A section."""
        value = found.get(name)
        if value is None and not needed:
            return {}
        if not isinstance(value, dict) or not (value or not needed):
            raise self.wrong("", f"there is no section [{name}], or nothing in it.", "missing-section")
        return value

    def text(self, where: str, found: Mapping[str, Any], name: str) -> str | None:
        """A text that may be missing."""
        value = found.get(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(where, f"{name} must be a text, not {shown(value)}.", "wrong-type")
        return value

    def flag(self, where: str, found: Mapping[str, Any], name: str, usual: bool = False) -> bool:
        """true or false."""
        value = found.get(name, usual)
        if not isinstance(value, bool):
            raise self.wrong(where, f"{name} must be true or false, not {shown(value)}.", "wrong-type")
        return value

    def texts(self, where: str, found: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
        """One text or a list of them, or nothing."""
        value = found.get(name)
        if value is None:
            return None
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not listed or not all(isinstance(each, str) for each in listed):
            raise self.wrong(where, f"{name} must be a text or a list of texts, not {shown(value)}.", "wrong-type")
        return tuple(listed)

    def place(self, text: str) -> str:
        """A path relative to the file."""
        return str(self.path.parent / text)

    def inputs(self, content: Mapping[str, Any]) -> Iterator[Path]:
        """The files of the data, and whatever canonical strings may name."""
        data = content["data"]
        for name in ("log", "random"):
            yield from files_of(self.place(data.get(name, "")).partition("::")[0]) if name in data else ()
        if (folder := folder_of(data["dataset"]) if "dataset" in data else None) is not None:
            yield from folder.rglob("*")
        for text in _texts([content["models"], content["questions"]]):
            yield from files_in(text)

    def source(self, data: Mapping[str, Any], seeds: Sequence[int]) -> Source:
        """Where draws come from."""
        given = [name for name in ("dataset", "world", "log") if name in data]
        if len(given) != 1:
            raise self.wrong("data", "give one of dataset, log (with random) or world.", "missing-argument")
        if "world" in data:
            return self._world(data)
        relevant, split = self.text("data", data, "relevant"), self.text("data", data, "split")
        likes, called = self.flag("data", data, "likes"), self.text("data", data, "dataset") or ""
        with self.at("data"):
            log, random = self._logs(data)
            options = {} if split is None else {"split": split}
            found = Paired(log, random, relevant=relevant, likes=likes, called=called, **options)
            found.places(seeds)
        return found

    def _world(self, data: Mapping[str, Any]) -> Source:
        world = data["world"]
        if not isinstance(world, dict):
            raise self.wrong("data", "world must be a table: world = { users = 2000, items = 500 }.", "wrong-type")
        self.known("data", data, ("world",))
        self.known("data.world", world, tuple(World.__dataclass_fields__))
        with self.at("data"):
            return Worlds(World(**world))

    def _logs(self, data: Mapping[str, Any]) -> tuple[Log, Log]:
        if "dataset" in data:
            self.known("data", data, [name for name in DATA if name not in ("log", "random", "world", *READING)])
            found = load(str(data["dataset"]))
            if found.mcar is None:
                raise self.wrong(
                    "data",
                    f"dataset '{plain(found.name)}' has no random sample, which shows the truth.",
                    "no-random-sample",
                )
            return found.mnar, found.mcar
        if "random" not in data:
            raise self.wrong(
                "data", "log needs random: pairs that were drawn at random show the truth.", "no-random-sample"
            )
        reading = {name: data[name] for name in READING if name in data and name != "columns"}
        if "relevant" in data:
            reading.setdefault("feedback", "ratings")
        asked = {"test": COLUMNS, "random": COLUMNS, "models": ()}
        said = ColumnMap(data.get("columns"), COLUMNS, ("log", "random"), asked)
        log, random = (
            as_log(
                self.place(self.text("data", data, name) or ""), name=name, columns=said.of(name, *COLUMNS), **reading
            )
            for name in ("log", "random")
        )
        return log, random

    def models(self, found: Mapping[str, Any]) -> dict[str, Maker]:
        """Makers by name."""
        made: dict[str, Maker] = {}
        for name, given in found.items():
            with self.at("models", name):
                more = self._makers(name, given)
            if twice := made.keys() & more.keys():
                raise self.wrong(
                    "models",
                    f"two models are called '{plain(min(twice))}'. Give each a name of its own.",
                    "duplicate-name",
                )
            made |= more
        with self.at("models"):
            return makers_of(made)

    def _makers(self, name: str, given: Any) -> dict[str, Maker]:
        if isinstance(given, str):
            return {name: Fitted(given)}
        kinds = {"model": None, "class": ("class", "options"), "lists": ("lists",), "saved": ("saved",)}
        kind = next((kind for kind in kinds if isinstance(given, dict) and kind in given), None)
        if kind is None:
            raise self.wrong(
                "models", f"{plain(name)}: write a canonical string, or a table with {', '.join(kinds)}.", "wrong-type"
            )
        where, known = f"models.{name}", kinds[kind]
        if known is not None:
            self.known(where, given, known)
        text = self.text(where, given, kind) or ""
        if kind == "model":
            return _grid(name, given)
        if kind == "class":
            self._allow(where, text)
            return {name: Imported(text, given.get("options", {}))}
        return {name: Written(self.place(text)) if kind == "lists" else Saved(self.place(text))}

    def _allow(self, where: str, place: str) -> None:
        """A file of somebody else's must not bring code: who runs the study says which modules may."""
        module = place.partition(":")[0]
        if module not in self.modules:
            raise self.wrong(
                where,
                f"class '{plain(place)}' would run the code of a module, and nobody has said that it may. If you trust "
                f"it, say so: unskew study {plain_path(self.path)} --module {plain(module)}.",
                "module-not-allowed",
            )

    def questions(self, found: Mapping[str, Any]) -> list[Question]:
        """Questions by name."""
        made = []
        for name, given in found.items():
            where = f"questions.{name}"
            if not isinstance(given, dict):
                raise self.wrong(
                    "questions", f"{plain(name)} must be a section of its own: [{plain(where)}].", "wrong-type"
                )
            self.known(where, given, QUESTION)
            with self.at(where):
                made.append(
                    Question(
                        name,
                        self.texts(where, given, "estimators"),
                        self.text(where, given, "propensity"),
                        self.text(where, given, "outcome"),
                        self.texts(where, given, "target"),
                        self.flag(where, given, "likes"),
                        self.flag(where, given, "verdicts", True),
                        self.flag(where, given, "random"),
                        given.get("options", {}),
                        self.texts(where, given, "metrics"),
                    )
                )
        return made


def _texts(content: Any) -> Iterator[str]:
    """All texts, however deep they stand."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value


def _as_toml(argument: re.Match[str]) -> str:
    """An argument that a message names, as the file would have it: ``columns = { user = "customer_id" }``."""
    try:
        name, value = argument[1], literal_eval(argument[2])
    except (SyntaxError, ValueError):  # a name of the user's that only looks like Python
        return argument[0]
    if isinstance(value, dict):
        keys = {key: key if key.isidentifier() else _quoted(key) for key in map(str, value)}
        return f"{name} = {{ {', '.join(f'{keys[str(key)]} = {_quoted(each)}' for key, each in value.items())} }}"
    return f"{name} = {_quoted(value)}"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _grid(name: str, given: Mapping[str, Any]) -> dict[str, Maker]:
    """One model for every combination of the options that are lists."""
    options = {key: value if isinstance(value, list) else [value] for key, value in given.items() if key != "model"}
    for key, values in options.items():
        plain_values = all(isinstance(value, str | int | float) for value in values)
        if not values or not plain_values or len(set(values)) < len(values):
            raise InputError(
                f"{plain(key)} must be a value or a list of different values, not {shown(given[key])}.",
                code="bad-value",
                option=key,
            )
    if (count := prod(map(len, options.values()))) > MOST_PARTS:
        raise InputError(
            f"this grid has {count:,} models, and a study compares at most {MOST_PARTS:,}.", code="too-large"
        )
    several = [key for key, values in options.items() if len(values) > 1]
    made: dict[str, Maker] = {}
    for each in product(*options.values()):
        chosen = dict(zip(options, each, strict=True))
        told = ", ".join(f"{key}={_written(value)}" for key, value in chosen.items())
        tail = ", ".join(f"{key}={_written(chosen[key])}" for key in several)
        made[f"{name}({tail})" if tail else name] = Fitted(f"{given['model']}({told})" if told else given["model"])
    return made


def _written(value: str | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return shown(value) if isinstance(value, int) else str(value)  # Python does not print endless numbers
