"""A study as a TOML file: data, models, questions. Every key is checked, and paths are relative to the file."""

from __future__ import annotations

import json
import re
import tomllib
from ast import literal_eval
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from unskew.errors import InputError, UnskewError
from unskew.log import Log, read_log
from unskew.log.column_maps import MODELS, ColumnMap
from unskew.log.datasets import load
from unskew.plain import plain, plain_path
from unskew.simulate import World
from unskew.studies.recovery.draws import Paired, Source, Worlds
from unskew.studies.recovery.makers import Fitted, Imported, Maker, Saved, Written
from unskew.studies.recovery.questions import Question

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
# als = { lists = "als-{seed}.parquet" }                   # lists made elsewhere, from the same training parts
# factors = { saved = "model-{seed}.npz" }                 # written by model.save of ours, factors included

[questions.popularity]          # one way to estimate; as many as you like
estimators = ["naive", "snips", "gs(strata=5)"]
propensity = "popularity(gamma=1)"

[questions.path]                # a question may have its own target and metrics
estimators = ["exposure_path"]
target = "pooled"
"""

READING = ("columns", "feedback", "invalid", "duplicates")  # how files are read
COLUMNS = ("user", "item", "value", "time", "policy", "propensity")
DATA = ("log", "random", "dataset", "world", "relevant", "likes", "split", *READING)
STUDY = ("seeds", "metrics", "target", "candidates", "keep_lists")
QUESTION = ("estimators", "propensity", "outcome", "target", "metrics", "likes", "verdicts", "random", "options")

_ARGUMENT = re.compile(rf"\b({'|'.join(READING)})=(\{{[^}}\n]*\}}|'[^'\n]*')")  # columns={'user': 'sku'} in a message


@dataclass(frozen=True, eq=False)
class StudyConfig:
    """What a file asks for: the arguments of ``study``."""

    path: Path
    source: Source
    models: Mapping[str, Maker]
    questions: Sequence[Question]
    options: Mapping[str, Any]


def read_config(path: str | Path) -> StudyConfig:
    """Read and check a file."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{plain_path(path)}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{plain_path(path)}: this is not UTF-8 text, as TOML must be.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{plain_path(path)}: this is not TOML: {plain(error)}.\nunskew study --example prints a file to start "
            "from."
        ) from None
    file = _File(path)
    file.known("", content, ("title", "data", "study", "models", "questions"))
    data, asked = file.table(content, "data"), file.table(content, "study", needed=False)
    file.known("data", data, DATA)
    file.known("study", asked, STUDY)
    models = file.models(file.table(content, "models"))
    questions = file.questions(file.table(content, "questions"))
    return StudyConfig(path, file.source(data), models, questions, asked)


class _File:
    """Messages name the file and the place in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def wrong(self, where: str, what: str) -> InputError:
        """An error at a place."""
        at = f", [{where}]" if where else ""
        return InputError(
            f"{plain_path(self.path)}{at}: {what}\nunskew study --example prints a file with everything that is known."
        )

    def known(self, where: str, found: Mapping[str, Any], names: Sequence[str]) -> None:
        """Refuse what nobody knows."""
        if strange := [name for name in found if name not in names]:
            raise self.wrong(where, f"'{plain(strange[0])}' is not known here. Known: {', '.join(names)}.")

    def table(self, found: Mapping[str, Any], name: str, *, needed: bool = True) -> dict[str, Any]:
        """A section."""
        value = found.get(name)
        if value is None and not needed:
            return {}
        if not isinstance(value, dict) or not value:
            raise self.wrong("", f"there is no section [{name}], or nothing in it.")
        return value

    def text(self, where: str, found: Mapping[str, Any], name: str) -> str | None:
        """A text that may be missing."""
        value = found.get(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(where, f"{name} must be a text, not {plain(value)}.")
        return value

    def flag(self, where: str, found: Mapping[str, Any], name: str, usual: bool = False) -> bool:
        """true or false."""
        value = found.get(name, usual)
        if not isinstance(value, bool):
            raise self.wrong(where, f"{name} must be true or false, not {plain(value)}.")
        return value

    def texts(self, where: str, found: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
        """One text or a list of them, or nothing."""
        value = found.get(name)
        if value is None:
            return None
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not listed or not all(isinstance(each, str) for each in listed):
            raise self.wrong(where, f"{name} must be a text or a list of texts, not {plain(value)}.")
        return tuple(listed)

    def place(self, text: str) -> str:
        """A path relative to the file."""
        return str(self.path.parent / text)

    def source(self, data: Mapping[str, Any]) -> Source:
        """Where draws come from."""
        given = [name for name in ("dataset", "world", "log") if name in data]
        if len(given) != 1:
            raise self.wrong("data", "give one of dataset, log (with random) or world.")
        if "world" in data:
            return self._world(data)
        relevant, split = self.text("data", data, "relevant"), self.text("data", data, "split")
        log, random = self._logs(data)
        called = self.text("data", data, "dataset") or ""
        options = {} if split is None else {"split": split}
        try:
            found = Paired(
                log, random, relevant=relevant, likes=self.flag("data", data, "likes"), called=called, **options
            )
            found.places([0])
        except UnskewError as error:
            raise self.wrong("data", str(error)) from None
        return found

    def _world(self, data: Mapping[str, Any]) -> Source:
        world = data["world"]
        if not isinstance(world, dict):
            raise self.wrong("data", "world must be a table: world = { users = 2000, items = 500 }.")
        self.known("data", data, ("world",))
        self.known("data.world", world, tuple(World.__dataclass_fields__))
        try:
            return Worlds(World(**world))
        except UnskewError as error:
            raise self.wrong("data", str(error)) from None

    def _logs(self, data: Mapping[str, Any]) -> tuple[Log, Log]:
        if "dataset" in data:
            found = load(str(data["dataset"]))
            if found.mcar is None:
                raise self.wrong("data", f"dataset '{plain(found.name)}' has no random sample, which shows the truth.")
            return found.mnar, found.mcar
        if "random" not in data:
            raise self.wrong("data", "log needs random: pairs that were drawn at random show the truth.")
        reading = {name: data[name] for name in READING if name in data and name != "columns"}
        if "relevant" in data:
            reading.setdefault("feedback", "ratings")
        asked = {"test": COLUMNS, "random": COLUMNS, MODELS: ()}
        try:
            said = ColumnMap(data.get("columns"), COLUMNS, ("log", "random"), asked)
            log, random = (
                read_log(self.place(self.text("data", data, name) or ""), columns=said.of(name, *COLUMNS), **reading)
                for name in ("log", "random")
            )
        except InputError as error:
            raise self.wrong("data", _ARGUMENT.sub(_as_toml, str(error))) from None
        return log, random

    def models(self, found: Mapping[str, Any]) -> dict[str, Maker]:
        """Makers by name."""
        made: dict[str, Maker] = {}
        for name, given in found.items():
            try:
                made |= self._makers(name, given)
            except UnskewError as error:
                if str(error).startswith(plain_path(self.path)):
                    raise
                raise self.wrong("models", f"{plain(name)}: {error}") from None
        if len(made) < 2:
            raise self.wrong("models", "a study compares models: give at least two.")
        return made

    def _makers(self, name: str, given: Any) -> dict[str, Maker]:
        if isinstance(given, str):
            return {name: Fitted(given)}
        kinds = {"model": None, "class": ("class", "options"), "lists": ("lists",), "saved": ("saved",)}
        kind = next((kind for kind in kinds if isinstance(given, dict) and kind in given), None)
        if kind is None:
            raise self.wrong("models", f"{plain(name)}: write a canonical string, or a table with {', '.join(kinds)}.")
        known = kinds[kind]
        if known is not None:
            self.known(f"models.{name}", given, known)
        if kind == "model":
            return _grid(name, given)
        if kind == "class":
            return {name: Imported(given["class"], given.get("options", {}))}
        path = self.place(str(given[kind]))
        return {name: Written(path) if kind == "lists" else Saved(path)}

    def questions(self, found: Mapping[str, Any]) -> list[Question]:
        """Questions by name."""
        made = []
        for name, given in found.items():
            where = f"questions.{name}"
            if not isinstance(given, dict):
                raise self.wrong("questions", f"{plain(name)} must be a section of its own: [{plain(where)}].")
            self.known(where, given, QUESTION)
            try:
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
            except UnskewError as error:
                if str(error).startswith(plain_path(self.path)):
                    raise
                raise self.wrong(where, str(error)) from None
        return made


def _as_toml(argument: re.Match[str]) -> str:
    """An argument that a message names, as the file would have it: ``columns = { user = "customer_id" }``."""
    name, value = argument[1], literal_eval(argument[2])
    if isinstance(value, dict):
        keys = {key: key if key.isidentifier() else _quoted(key) for key in value}
        return f"{name} = {{ {', '.join(f'{keys[key]} = {_quoted(each)}' for key, each in value.items())} }}"
    return f"{name} = {_quoted(value)}"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _grid(name: str, given: Mapping[str, Any]) -> dict[str, Maker]:
    """One model for every combination of the options that are lists."""
    options = {key: value if isinstance(value, list) else [value] for key, value in given.items() if key != "model"}
    several = [key for key, values in options.items() if len(values) > 1]
    made: dict[str, Maker] = {}
    for values in product(*options.values()):
        chosen = dict(zip(options, values, strict=True))
        told = ", ".join(f"{key}={_written(value)}" for key, value in chosen.items())
        tail = ", ".join(f"{key}={_written(chosen[key])}" for key in several)
        made[f"{name}({tail})" if tail else name] = Fitted(f"{given['model']}({told})" if told else str(given["model"]))
    return made


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
