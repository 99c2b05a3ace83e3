"""What ``--recs``, ``--predictions`` and ``--model`` name: files are read, canonical strings of models are fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from unskew.cli.options import named
from unskew.core.errors import InputError
from unskew.core.text import plain

if TYPE_CHECKING:
    from unskew.log import Log

Report = Callable[[str, int, int], None]
T = TypeVar("T")


def _is_file(text: str) -> bool:
    """Whether --model names a file: canonical strings do not end like this."""
    return text.lower().endswith(".npz")


def _exists(text: str) -> bool:
    """Whether there is a file of this name; what cannot be one (too long, a loop of links) is none."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


class Sources(NamedTuple):
    """Where the models come from, by name: files of lists, files of predictions, and what ``--model`` says."""

    lists: dict[str, str]
    predictions: dict[str, str]
    specs: dict[str, str]

    @classmethod
    def of(cls, recs: list[str] | None, model: list[str] | None, predictions: list[str] | None) -> Sources:
        """Read the ``name=value`` pairs."""
        lists, specs = named("--recs", recs or []), named("--model", model or [])
        return cls(lists, named("--predictions", predictions or []), specs)

    @property
    def names(self) -> list[str]:
        """What the models are called."""
        return [*self.lists, *self.predictions, *self.specs]

    @property
    def files(self) -> list[Path]:
        """The files that are read."""
        return [Path(text) for text in (*self._tables.values(), *filter(_is_file, self.specs.values()))]

    @property
    def unread(self) -> dict[str, Any]:
        """All of them before anything is read or fitted: paths, and models."""
        from unskew import models

        specs = {name: text if _is_file(text) else models.make(text) for name, text in self.specs.items()}
        return {**self._tables, **specs}

    @property
    def only_predictions(self) -> bool:
        """Whether there is nothing that could be ranked."""
        return bool(self.predictions) and not self.lists and not self.specs

    @property
    def _tables(self) -> dict[str, str]:
        return {**self.lists, **self.predictions}

    def check(self) -> None:
        """Refuse names that come twice, no models at all, and models where lists should be."""
        called = self.names
        if both := [name for name in called if called.count(name) > 1]:
            raise InputError(
                f"two models are called '{plain(both[0])}'. Give each a name of its own.", code="repeated-name"
            )
        if not called:
            raise InputError(
                "there is nothing to evaluate: give --recs name=FILE, --predictions name=FILE, --model name=FILE.npz, "
                "or --model name=SPEC with --train.",
                code="missing-argument",
            )
        for name, source in self._tables.items():
            if _is_file(source):
                raise InputError(
                    f"{plain(source)}: an .npz file holds a model, not lists or predictions.\n"
                    f"Give it with --model {plain(name)}={plain(source)}.",
                    code="wrong-extension",
                )

    def ready(self, asked: Mapping[str, Any], report: Report, train: str = "--train") -> dict[str, Any]:
        """Everything that can be evaluated, by name; files of lists are read later, with the logs.

        Args:
            asked: the other arguments of ``evaluate``, which say how files are read and what is trained on.
            report: hears of every model.
            train: the option that names the training log.
        """
        found: dict[str, Any] = dict(self.lists)
        for done, (name, path) in enumerate(self.predictions.items()):
            report(f"reading {plain(name)}", done, len(self.predictions))
            found[name] = path if asked.get("engine") == "stream" else _read_predictions(name, path, asked)
        return found | (self._models(asked, report, train) if self.specs else {})

    def _models(self, asked: Mapping[str, Any], report: Report, train: str) -> dict[str, Any]:
        """The models by name, in their order."""
        from unskew import models

        read = {name: text for name, text in self.specs.items() if _is_file(text)}
        ready: dict[str, Any] = {}
        for name, text in read.items():
            report(f"reading {plain(name)}", len(ready), len(read))
            ready[name] = models.load(text)
        for name, text in self.specs.items():
            if name not in read and _exists(text):
                raise InputError(
                    f"--model {plain(name)}={plain(text)}: a model is read from a file that ends in .npz: what save "
                    f"wrote, or plain factors.\nGive lists with --recs {plain(name)}={plain(text)}, and predictions "
                    f"with --predictions {plain(name)}={plain(text)}.",
                    code="wrong-extension",
                )
        unfitted = {name: models.make(text) for name, text in self.specs.items() if name not in read}
        if unfitted and asked["train"] is None:
            raise InputError(f"--model fits a recommender on a training log: give {train}.", code="missing-argument")
        if unfitted:
            log = _training_log(list(unfitted.values()), asked)
        for done, (name, model) in enumerate(unfitted.items()):
            report(f"fitting {plain(name)}", done, len(unfitted))
            ready[name] = model.fit(models.training_rows(model, log, asked["relevant"]))
        return {name: ready[name] for name in self.specs}


def as_typed(result: T, asked: Mapping[str, Any], sources: Sources) -> T:
    """A result whose account says what was typed, so that the next command can say it again.

    Of a fitted model that is what ``--model`` said (``model``), of everything else its path (``path``).
    """
    from unskew.result import Result

    if not isinstance(result, Result):
        return result
    models = {name: {"model": spec} for name, spec in sources.specs.items()}
    models |= {name: {"path": path} for name, path in sources.lists.items()}
    told = {name: {**account, **models.get(name, {})} for name, account in result.inputs["models"].items()}
    inputs = {**result.inputs, "models": told}
    for role, option in (("test", "test"), ("train", "train"), ("population", "users")):
        if inputs.get(role) and asked.get(option) is not None:
            inputs[role] = {**inputs[role], "path": str(asked[option])}
    if (named := inputs.get("items", {}).get("named")) and asked.get("items") is not None:
        inputs["items"] = {**inputs["items"], "named": {**named, "path": str(asked["items"])}}
    return replace(result, inputs=inputs)


def _read_predictions(name: str, path: str, asked: Mapping[str, Any]) -> Any:
    from unskew.alignment.sources import Names
    from unskew.log import read_predictions

    return read_predictions(path, columns=Names(asked["columns"]).of_predictions(name), invalid=asked["invalid"])


def _training_log(models: list[Any], asked: Mapping[str, Any]) -> Log:
    """The log that models are fitted on; where the test log is a share of the whole, training is the rest."""
    from unskew.alignment.sources import Names
    from unskew.log import read_log

    names, share = Names(asked["columns"]), asked["share"]
    weighed = any(getattr(model, "propensity", None) is not None for model in models)
    columns = names.of_train_with_propensity if weighed else names.of_train
    reading = {name: asked[name] for name in ("feedback", "invalid", "duplicates")}
    log = read_log(asked["train"], columns=columns, **reading)
    return replace(log, share=1.0 - share) if isinstance(share, float) and 0.0 < share < 1.0 else log
