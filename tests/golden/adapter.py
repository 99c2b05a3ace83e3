"""The only file here that knows the package's names: recorded calls go in as plain data, and plain numbers come out.

``call("evaluate", test=…, models=…, metrics=[…])`` gives ``{"estimates": …, "judgements": …}``. Calls and records keep
the names of the day they were recorded. What is renamed is entered here once: parts and options of strings in
``PARTS``, arguments in ``OPTIONS``, fields of results in ``FIELDS``, each from the recorded name to today's.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import unskew as us
from unskew_papers.shop import ShopOverTime

Found = dict[str, Any]

PARTS: Mapping[str, str] = {}
OPTIONS: Mapping[str, str] = {}
FIELDS: Mapping[str, str] = {}

ESTIMATE = (
    "value", "ess", "hits", "max_weight_share", "clipped_share", "support_gap", "unsupported", "few_clicks", "users",
    "interactions",
)  # fmt: skip
ESTIMATE_JUDGED = ("se", "low", "high", "draws_se", "standing")
VERDICT = ("difference", "users_apart", "ess", "few_clicks")
VERDICT_JUDGED = (
    "se", "low", "high", "p", "p_adjusted", "verdict", "tipping", "tipping_low", "tipping_kind", "users_needed",
    "turns_at",
)  # fmt: skip
CELL = ("segment", "metric", "estimator", "target")
LISTS = (
    "users_without_list", "silent_users_without_list", "lists_outside_the_population", "training_items_in_lists",
    "places_beyond_the_catalogue", "lists_with_gaps_in_ranks",
)  # fmt: skip
# What an account of numbers judges with, wherever it stands; all else in it is an estimate.
JUDGED = {
    "se", "p", "statistic", "ratio_low", "ratio_high", "p_adjusted", "error", "df", "fails", "passed", "signs", "power",
    "power_random", "half_width", "differs", "decided", "other_decided", "sign",
}  # fmt: skip


def call(do: str, **arguments: Any) -> Found:
    """What a call gives, or with which kind of error and which code it is refused."""
    asked = {OPTIONS.get(name, name): _today(value) for name, value in arguments.items()}
    try:
        return _CALLS[do](**asked)
    except us.UnskewError as error:
        return {"estimates": {"refused": type(error).__name__, "code": error.code}, "judgements": {}}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return text


def _today(value: Any) -> Any:
    """Canonical strings with today's names of parts."""
    if isinstance(value, str):
        return _renamed(value, PARTS)
    if isinstance(value, Mapping):
        return {key: _today(item) for key, item in value.items()}
    return [_today(item) for item in value] if isinstance(value, list | tuple) else value


def _recorded(text: Any) -> str:
    """A canonical string as it was recorded."""
    return _renamed(str(text), {new: old for old, new in PARTS.items()})


def _field(record: Any, name: str) -> Any:
    return getattr(record, FIELDS.get(name, name))


def _code(text: str) -> str | None:
    """What a sentence is about; empty where it has no code, ``None`` where nothing is said."""
    return getattr(text, "code", "") if text else None


def _codes(texts: Iterable[str]) -> list[str]:
    return sorted(_code(text) or "" for text in texts)


def _table(rows: Sequence[Any], by: Sequence[str], columns: Sequence[str]) -> Found:
    """Records column by column, without columns that hold nothing; ``of`` says what each row is about."""
    labels = [" ".join(_recorded(v) for n in by if (v := _field(row, n)) is not None) for row in rows]
    return {"of": labels, **_columns(rows, columns)} if rows else {}


def _columns(rows: Sequence[Any], columns: Sequence[str]) -> Found:
    """The same without labels, which stand in the estimates."""
    found = {name: [_plain(_field(row, name)) for row in rows] for name in columns}
    return {name: column for name, column in found.items() if any(v is not None for v in column)}


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, bool | np.bool_) or value is None:
        return None if value is None else bool(value)
    return int(value) if isinstance(value, int | np.integer) else _recorded(value)


def _both(estimates: Found, judgements: Found) -> Found:
    return {
        "estimates": {name: value for name, value in estimates.items() if value not in ({}, [], None)},
        "judgements": {name: value for name, value in judgements.items() if value not in ({}, [], None)},
    }


def _merged(parts: Mapping[str, Found]) -> Found:
    return _both(*({name: part[kind] for name, part in parts.items()} for kind in ("estimates", "judgements")))


def _numbers(value: Any, judged: bool) -> Any:
    """Numbers and single words of an account, those that judge or the others; sentences and zeros are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        names = [name for name in value if judged or name not in JUDGED]
        found = {n: _every(value[n]) if n in JUDGED else _numbers(value[n], judged) for n in names}
        return {_recorded(name): item for name, item in found.items() if item not in (None, {}, [], 0, "")}
    if isinstance(value, list | tuple):
        items = [_numbers(item, judged) for item in value]
        if items and all(isinstance(item, dict) for item in items):
            return {name: [item.get(name) for item in items] for name in dict.fromkeys(n for i in items for n in i)}
        return items
    return None if judged else _every(value)


def _every(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _every(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_every(item) for item in value]
    return None if isinstance(value, str) and (" " in value or not value) else _plain(value)


def _account(value: Any) -> Found:
    return _both({"account": _numbers(value, False)}, {"account": _numbers(value, True)})


def _digest(frame: pl.DataFrame) -> str:
    """Rows in their order, as a short text that changes when any of them does."""
    text = frame.with_columns(pl.all().cast(pl.String)).write_csv()
    return f"{len(frame)} {sha256(text.encode()).hexdigest()[:16]}"


def _moments(values: Any) -> list[float]:
    """A long column in three numbers: its length, its sum, and a sum that knows the order."""
    column = np.asarray(values, dtype=np.float64)
    known = np.where(np.isfinite(column), column, 0.0)
    return [
        float(np.isfinite(column).sum()),
        float(known.sum()),
        float(known @ (0.5 + np.arange(len(known)) * 37 % 101)),
    ]


def _result(result: Any) -> Found:
    """One evaluation."""
    inputs = result.inputs
    counts = {name: inputs.get(name) for name in ("items", "outcome")}
    counts |= {name: (inputs.get("users") or {}).get(name) for name in ("population", "with_held_out")}
    of_models = inputs.get("models", {}).items()
    counts |= {f"{model} {name}": said.get(name) for model, said in of_models for name in LISTS}
    told = {name: inputs.get(name) for name in ("answers", "census", "sample", "propensity_column")}
    refused = [(_recorded(" ".join(str(r[n]) for n in CELL[1:])), _code(r["reason"])) for r in inputs["refused"]]
    estimates = {
        "estimates": _table(result.estimates, (*CELL, "model"), ESTIMATE),
        "verdicts": _table(result.verdicts_, (*CELL, "a", "b"), VERDICT),
        "weights": [_moments(np.multiply(w.count, w.low))[1:] for w in result.weights],
        "scenarios": {_cell(s): _spans(s) for s in result.scenarios},
        "inputs": _numbers(counts | told, False),
        "refused": {"of": [cell for cell, _ in refused], "reason": [code for _, code in refused]} if refused else {},
    }
    judged = _columns(result.verdicts_, VERDICT_JUDGED)
    for name in ("assumption", "trust", "no_margin", "not_covered"):
        said = [_code(_field(v, name)) for v in result.verdicts_]
        judged |= {name: said} if any(text is not None for text in said) else {}
    board = [f"{row['model']} {row['place']} {row['against_best']}" for row in result.leaderboard().to_dicts()]
    judgements = {
        "estimates": _columns(result.estimates, ESTIMATE_JUDGED),
        "verdicts": judged,
        "scenarios": {_cell(s): _spans_judged(s) for s in result.scenarios},
        "board": board,
        "inputs": _numbers(told, True),
        "codes": _codes(result.warnings),
    }
    return _both(estimates, judgements)


def _cell(record: Any) -> str:
    return " ".join(_recorded(value) for name in CELL if (value := _field(record, name)) is not None)


def _spans(table: Any) -> Found:
    """Of every model its values in the first and the last scenario, and the sum over all."""
    return {v.model: [v.value[0], v.value[-1], sum(v.value)] for v in table.values} | {"points": len(table.points)}


def _spans_judged(table: Any) -> Found:
    ends = {v.model: [v.low[0], v.high[-1], sum(v.low), sum(v.high)] for v in table.values}
    signs = {f"{d.a} {d.b}": "".join("-0+"[s + 1] for s in d.sign) for d in table.differences}
    return ends | signs | {"estimated": table.estimated, "left": None if table.left is None else list(table.left)}


def _evaluate(test: Any, models: Any, *, per_user: bool = False, **options: Any) -> Found:
    result = us.evaluate(test, models, per_user=per_user, **options)
    found = _result(result)
    if per_user:
        rows = result.per_user().sort(pl.all().exclude("numerator", "divisor"))
        found["estimates"]["rows"] = [_moments(rows[name]) for name in ("numerator", "divisor")]
    return found


def _written(folder: Path, given: Any, name: str) -> Any:
    """Frames as files of this name; all else as it is."""
    if isinstance(given, Mapping):
        return {key: _written(folder, item, f"{name}-{key}") for key, item in given.items()}
    if not isinstance(given, pl.DataFrame):
        return given
    given.write_parquet(folder / f"{name}.parquet")
    return str(folder / f"{name}.parquet")


def _stream(**arguments: Any) -> Found:
    with tempfile.TemporaryDirectory(prefix="unskew-golden-") as folder:
        paths = {name: _written(Path(folder), value, name) for name, value in arguments.items()}
        return _evaluate(**paths, engine="stream")


def _spark(test: Any, models: Any, *, session: Any, **arguments: Any) -> Found:
    """The same on frames of Spark; lists stay as they are."""

    def carried(given: Any) -> Any:
        return session.createDataFrame(given.to_pandas()) if isinstance(given, pl.DataFrame) else given

    there = {name: carried(value) for name, value in arguments.items()}
    lists = {name: carried(given) for name, given in models.items()}
    return _result(us.spark.evaluate(carried(test), lists, **there, partitions=3))


def _several(test: Any, models: Any, **options: Any) -> Found:
    found = us.compare_propensities(test, models, **options)
    moves = ("model", "metric", "estimator", "target", "smallest_under", "largest_under")
    kept = _merged({_recorded(name): _result(each) for name, each in found.results.items()})
    kept["estimates"]["moves"] = _table(found.all_moves(), moves, ("smallest", "largest", "spread"))
    kept["estimates"]["reason"] = [_code(lost.reason) for lost in found.missing]
    kept["judgements"]["moves"] = _columns(found.all_moves(), ("ratio",))
    kept["judgements"]["changes"] = _table(
        found.all_changes(), ("metric", "estimator", "target", "a", "b", "propensity", "verdict"), ("other_verdict",)
    )
    return kept


_FOLD = ("fold", *CELL[1:], "model")


def _folds(log: Any, models: Any, **options: Any) -> Found:
    return _of_folds(us.cross_validate(log, models, **options))


def _of_folds(found: Any) -> Found:
    kept = _merged({"macro": _result(found.macro), "pooled": _result(found.pooled)})
    kept["estimates"]["folds"] = _table(found.folds_, ("fold",), ("users", "train_rows", "test_rows", "left_out"))
    kept["estimates"]["values"] = _table(found.values_, _FOLD, ("value", "hits"))
    kept["estimates"]["rows"] = _table(found.rows(), (*CELL[1:], "model"), ("folds", "folds_won", "fold_sd"))
    kept["estimates"]["skipped"] = [_code(each.reason) for each in found.skipped]
    kept["judgements"]["values"] = _columns(found.values_, ("low", "high", "se"))
    return kept


def _protocols(log: Any, models: Any, **options: Any) -> Found:
    found = us.compare_protocols(log, models, **options)
    values = ("protocol", *CELL[1:], "model")
    pair = (*CELL[1:], "protocol", "other")
    return _both(
        {
            "values": _table(found.values_, values, ("value", "rank", "ratio", "folds", "folds_won", "fold_sd")),
            "rankings": _table(found.rankings_, pair, ("tau", "pairs")),
            "levels": _table(found.levels_, (*pair, "model"), ("ratio",)),
            "reordered": _table(found.reordered_, (*pair, "a", "b"), ("ratio",)),
            "steadiness": _table(found.steadiness_, ("protocol", *CELL[1:]), ("folds", "tau_to_all")),
            "reason": [_code(lost.reason) for lost in found.missing],
        },
        {
            "values": _columns(found.values_, ("low", "high", "ratio_low", "ratio_high", "chance_sd")),
            "rankings": _columns(found.rankings_, ("tau_low", "tau_high", "agree", "reversed", "open")),
            "levels": _columns(found.levels_, ("ratio_low", "ratio_high", "differs")),
            "reordered": _columns(found.reordered_, ("ratio_low", "ratio_high", "decided")),
        },
    )


def _impact(log: Any, models: Any, splits: Any, **options: Any) -> Found:
    found = us.policy_impact(log, models, splits, **options)
    value, pair = ("split", "policy", *CELL[1:], "model"), ("split", "policy", "other", *CELL[1:])
    tested = ("split", "kind", "policy", "other", *CELL[1:], "model", "against")
    weighed = ("split", "policy", "metric", "target", "estimator", "model")
    return _both(
        {
            "groups": _numbers(found.groups, False),
            "values": _table(found.values_, value, ("value", "rank", "ratio", "folds")),
            "differences": _table(found.differences_, tested, ("ratio",)),
            "rankings": _table(found.rankings_, pair, ("tau", "pairs")),
            "corrections": _table(found.corrections_, weighed, ("naive", "corrected", "goes_away")),
            "reason": [_code(lost.reason) for lost in found.missing],
        },
        {
            "values": _columns(found.values_, ("low", "high", "ratio_low", "ratio_high")),
            "differences": _columns(found.differences_, ("low", "high", "p_adjusted", "differs")),
            "rankings": _columns(found.rankings_, ("tau_low", "tau_high", "agree", "reversed", "open")),
            "corrections": _columns(found.corrections_, ("low", "high", "change")),
        },
    )


def _audit(log: Any, **options: Any) -> Found:
    found = us.audit(log, **options)
    said = asdict(found)
    for name in ("findings", "advice", "supports", "source", "opening"):
        said.pop(name)
    kept = _account({name: _thinned(item) for name, item in said.items()})
    kept["estimates"]["supports"] = [_recorded(f"{s.estimator} {s.target}") for s in found.supports if s.supported]
    kept["judgements"]["findings"] = [str(each.level) for each in found.findings]
    kept["judgements"]["codes"] = sorted(map(_code_of, found.findings))
    kept["judgements"]["advice"] = sorted(map(_code_of, found.advice))
    return kept


def _code_of(said: Any) -> str:
    """The code of a finding or a piece of advice."""
    return str(getattr(said, "code", None) or _code(said.text) or "")


def _thinned(value: Any) -> Any:
    """Long curves as three numbers."""
    if isinstance(value, Mapping):
        return {name: _thinned(item) for name, item in value.items()}
    long = isinstance(value, list | tuple) and len(value) > 6 and all(isinstance(v, int | float) for v in value)
    return _moments(value) if long else value


def _plan(models: Any, *, draw: int | None = None, seed: int = 0, **options: Any) -> Found:
    found = us.plan(models, **options)
    kept = _account({"settings": found.settings, "pairs": found.pairs, "round": found.round})
    power = found.power([50.0, 200.0, 1000.0])
    kept["judgements"]["power"] = {name: power[name].to_list() for name in ("power", "power_random")}
    kept["judgements"]["codes"] = _codes(found.notes)
    if draw is not None:
        drawn = found.draw(draw, seed)
        kept["estimates"]["drawn"] = _digest(drawn.frame.select("user", "item"))
        kept["estimates"]["drawn_with"] = _moments(drawn.frame["propensity"])
    return kept


def _log(frame: Any, feedback: str | None = None) -> Any:
    return us.Log.from_frame(frame, feedback=None if feedback is None else us.Feedback(feedback))


def _sample(log: Any, strategy: str, **options: Any) -> Found:
    found = us.sample(log, strategy, **options)
    weights = found.columns.get("sampling_weight")
    kept = {"rows": _digest(found.to_frame().select("user", "item"))}
    return _both(kept | ({} if weights is None else {"weights": _moments(weights)}), {})


def _split(log: Any, splitter: str, feedback: str | None = None) -> Found:
    found = us.split.make_splits(_log(log, feedback), splitter)
    rows = [[_digest(part.to_frame().select("user", "item")) for part in (f.train, f.test)] for f in found.folds]
    return _both({"folds": rows, "shares": [f.share for f in found.folds], "skipped": len(found.skipped)}, {})


def _recommend(model: str, log: Any, k: int, feedback: str | None = None) -> Found:
    train = _log(log, feedback)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rounds are enough here
        lists = us.models.make(model).fit(train).recommend(train.users, k, seen=train)
    return _both({"lists": _digest(lists.to_frame().select("user", "item", "rank"))}, {})


def _propensity(text: str, log: Any, feedback: str | None = None, **inputs: Any) -> Found:
    """P of the log's own rows, and of pairs that were not seen."""
    train, fit = _log(log, feedback), _fit_inputs(inputs)
    model = us.propensity.make(text).fit(train, inputs=fit)
    scored = model.of(train)
    kept: Found = {"rows": _moments(scored.rows), "floored": scored.floored, "capped": scored.capped}
    if not model.reads:
        users, items = _some_pairs(train)
        kept["pairs"] = _moments(model.predict(users, items))
    return _both(kept | {"level": str(model.level)}, {})


def _some_pairs(log: Any) -> tuple[pl.Series, pl.Series]:
    users, items = log.users.values[:40], log.items.values[:40]
    return users, items.gather(list(range(len(users))))


def _fit_inputs(inputs: Mapping[str, Any]) -> Any:
    made = {"mcar": _log(*inputs["mcar"])} if "mcar" in inputs else {}
    for name, key in (("user_features", "user"), ("item_features", "item")):
        if name in inputs:
            made[name] = us.log.read_features(inputs[name], key)
    return us.propensity.FitInputs(**made)


def _outcome(text: str, log: Any, feedback: str, **inputs: Any) -> Found:
    train = _log(log, feedback)
    model = us.outcome.make(text).fit(train, inputs=_fit_inputs(inputs))
    users, items = _some_pairs(train)
    return _both({"rows": _moments(model.of(train)), "pairs": _moments(model.predict(users, items))}, {})


def _check(propensities: Any, log: Any, feedback: str | None = None, **options: Any) -> Found:
    found = us.propensity.check(propensities, _log(log, feedback), **options)
    kept = _merged({f"check {n}": _account(each) for n, each in enumerate(found.checks)})
    kept["judgements"]["codes"] = _codes(text for each in found.checks for text in each.findings)
    kept["estimates"]["reason"] = [_code(each.reason) for each in found.refused]
    return kept


def _world(metrics: Sequence[str], target: str = "pooled", depth: int = 10, **options: Any) -> Found:
    """A simulated shop: its logs, and the truth of two recommenders."""
    world = us.simulate.World(**options)
    popular: Any = us.models.MostPopular().fit(world.train)
    models = {"popular": popular, "challenger": world.challenger()}
    lists = {name: m.recommend(world.train.users, depth, seen=world.train) for name, m in models.items()}
    logs = {"train": world.train, "test": world.test, "full": world.full_log()}
    return _both(
        {name: _digest(log.to_frame().select("user", "item")) for name, log in logs.items()}
        | {"propensity": _moments(world.test.propensity)}
        | {f"{m} {name}": world.truth(made, m, target) for m in metrics for name, made in lists.items()},
        {},
    )


def _rating_world(log: Any, metrics: Sequence[str], seed: int = 0, **options: Any) -> Found:
    world = us.simulate.RatingWorld.like(_log(log, "ratings"), **options)
    drawn = world.draw(seed)
    truths = {f"{m} {n}": world.true_value(m, p) for m in metrics for n, p in world.predictions(seed).items()}
    return _both({"rows": _moments(drawn.value), "propensity": _moments(drawn.propensity)} | truths, {})


def _shop(**options: Any) -> Found:
    """A shop over time: what it logs."""
    shop = ShopOverTime(**options)
    frame = shop.log.to_frame()
    return _both({"log": _digest(frame.select("user", "item", "policy", "time"))}, {})


def _require(statements: Sequence[str], **arguments: Any) -> Found:
    found = us.evaluate(**arguments).require(*statements)
    columns = ("answer", "difference", "low", "high", "bound")
    kept = {name: [_plain(getattr(r, name)) for r in found] for name in columns}
    return _both({}, kept | {"codes": _codes(r.reason for r in found)})


def _study(
    world: Mapping[str, Any], models: Sequence[str], questions: Sequence[Mapping[str, Any]], seeds: int
) -> Found:
    from unskew_papers.recovery import Question, Worlds, study

    made: list[dict[str, Any]] = [{n: tuple(v) if isinstance(v, list) else v for n, v in q.items()} for q in questions]
    asked = [Question(**each) for each in made]
    with tempfile.TemporaryDirectory(prefix="unskew-golden-") as folder:
        found = study(Worlds(us.simulate.World(**world)), list(models), asked, seeds=seeds, store=folder)
    return _account({"scores": found.scores_, "truth": found.truths})


_CALLS: Mapping[str, Callable[..., Found]] = {
    "evaluate": _evaluate,
    "stream": _stream,
    "spark": _spark,
    "several": _several,
    "folds": _folds,
    "protocols": _protocols,
    "impact": _impact,
    "audit": _audit,
    "plan": _plan,
    "sample": _sample,
    "split": _split,
    "recommend": _recommend,
    "propensity": _propensity,
    "outcome": _outcome,
    "check": _check,
    "world": _world,
    "rating_world": _rating_world,
    "shop": _shop,
    "require": _require,
    "study": _study,
}
