"""Any scikit-learn classifier or regressor of y on the covariates of user and item, side by side.

    q_ui = P(y = 1 | x_u, x_i)   (a classifier, for outcomes of 0 and 1)
    q_ui = E[y | x_u, x_i], at least 0   (a regressor, for any outcome ≥ 0)

Rows weigh 1/P through the model's ``sample_weight``; a model without it is refused where weights differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from unskew.core.errors import InputError, MissingExtraError, UnskewError
from unskew.core.spec import Spec, show
from unskew.core.text import plain
from unskew.kernels.arrays import Floats
from unskew.log import Features, Ids, Log
from unskew.log.ids import Codes
from unskew.outcome.base import PairPredictor, RowModel, Rows
from unskew.propensity.base import NO_INPUTS, FitInputs

_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True)
class Learned(RowModel):
    """A scikit-learn model.

    Args:
        estimator: an unfitted classifier or regressor, pipelines included; it is cloned, never changed.
    """

    estimator: Any
    found: Any = field(default=None, compare=False, repr=False)
    inputs: FitInputs = field(default=NO_INPUTS, compare=False, repr=False)

    name = "sklearn"

    def __post_init__(self) -> None:
        _require()
        for method in ("fit", "predict", "get_params"):
            if isinstance(self.estimator, type) or not hasattr(self.estimator, method):
                raise InputError(
                    "'sklearn' needs an object of a scikit-learn classifier or regressor, and "
                    f"{plain(repr(self.estimator))} is none (it has no '{method}').",
                    code="wrong-type",
                )
        if hasattr(self.estimator, "_validate_params"):
            with _told(f"'{plain(self)}'"):
                self.estimator._validate_params()  # now, not after everything has been read

    @classmethod
    def of_spec(cls, spec: Spec, **context: Any) -> Learned:
        """``sklearn(LogisticRegression, C=0.1)``: a class of scikit-learn, with options of its own."""
        _require()
        from sklearn.utils import all_estimators

        known = dict(all_estimators(type_filter=["classifier", "regressor"]))
        if len(spec.args) != 1 or str(spec.args[0]) not in known:
            what = f"there is no '{plain(spec.args[0])}'" if spec.args else "no model is named"
            raise InputError(
                f"cannot read '{plain(spec)}': {what}. Name a classifier or regressor of scikit-learn, as in "
                "sklearn(LogisticRegression, C=0.1), or pass an object: Learned(model).",
                code="bad-string",
            )
        kind = known[str(spec.args[0])]
        options = {
            name: _WORDS.get(value, value) if isinstance(value, str) else value for name, value in spec.options.items()
        }
        if strange := [name for name in options if name not in _defaults(kind)]:
            raise InputError(
                f"cannot read '{plain(spec)}': {kind.__name__} has no option '{plain(strange[0])}'.",
                code="unknown-argument",
                option=strange[0],
            )
        with _told(f"'{plain(spec)}'"):
            model = kind(**options)
        return cls(model)

    @property
    def fitted(self) -> bool:
        """Whether the model has been fitted."""
        return self.found is not None

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Fit a clone of the estimator to the seen pairs."""
        from sklearn.base import clone, is_classifier
        from sklearn.utils.validation import has_fit_parameter

        if inputs.user_features is None and inputs.item_features is None:
            raise InputError(
                "'sklearn' learns from covariates, and there are none. Give user_features=… or item_features=… "
                "(FitInputs(user_features=…)), or use logistic_mf or means.",
                code="missing-argument",
                option="user_features",
            )
        counts = rows.times > 0.0
        y, weight = rows.y[counts], (rows.inverse * rows.times)[counts]
        if is_classifier(self.estimator):
            self._check_classes(log, y)
        options = {} if (weight == weight[0]).all() else {"sample_weight": weight}
        if options and not has_fit_parameter(self.estimator, "sample_weight"):
            raise InputError(
                f"'{self}' takes no weights ('sample_weight'), and the rows weigh 1/P. Use another model, or fit "
                "without propensities.",
                code="no-weights",
            )
        place = _place(inputs, log.users, log.items)
        with _told(f"'{plain(self)}' cannot be fitted"):
            model = clone(self.estimator)
            model.fit(place(log.user[counts], log.item[counts]), y, **options)
        return self.remember(found=model, inputs=inputs)

    def _check_classes(self, train: Log, y: Floats) -> None:
        """A classifier needs zeros and ones, both."""
        values = np.unique(y)
        graded = values[~np.isin(values, (0.0, 1.0))]
        if len(graded):
            raise InputError(
                f"{train.account.source}: '{self}' is a classifier, for outcomes of 0 and 1, and there is "
                f"{graded[0]:g}.\nUse a regressor, or a threshold such as relevant='>=4'.",
                code="graded-outcomes",
            )
        if len(values) < 2:
            raise InputError(
                f"{train.account.source}: all outcomes are {values[0]:g}, so '{self}' has nothing to tell apart.",
                code="all-alike",
            )

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """Ask the model about the covariates of pairs."""
        if self.found is None:
            raise InputError(f"'{self}' has not been fitted. Call .fit(log, inputs=…) first.", code="not-fitted")
        from sklearn.base import is_classifier

        place, model = _place(self.inputs, users, items), self.found
        classifier = is_classifier(model)

        def ask(user: Codes, item: Codes) -> Floats:
            if not len(user):
                return np.empty(0)
            x = place(user, item)
            with _told(f"'{plain(self)}' cannot predict"):
                q = model.predict_proba(x)[:, 1] if classifier else np.maximum(model.predict(x), 0.0)
                return np.asarray(q, dtype=np.float64)

        return ask

    def __str__(self) -> str:
        usual, given = _defaults(type(self.estimator)), self.estimator.get_params(deep=False)
        shown = [f"{name}={show(value)}" for name, value in given.items() if repr(value) != repr(usual.get(name))]
        return f"{self.name}({', '.join([type(self.estimator).__name__, *shown])})"


@contextmanager
def _told(what: str) -> Iterator[None]:
    """What scikit-learn finds wrong with its options or data, as an error of ours."""
    try:
        yield
    except UnskewError:
        raise
    except (ValueError, TypeError, AttributeError, ArithmeticError) as problem:
        raise InputError(f"{what}: {plain(problem, 300)}", code="failed-learner") from problem


def _require() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtraError("the outcome 'sklearn'", "learn") from None


def _defaults(kind: type) -> dict[str, Any]:
    """The options of a class and what they are by default."""
    return {name: p.default for name, p in inspect.signature(kind).parameters.items() if p.kind is not p.VAR_KEYWORD}


def _place(inputs: FitInputs, users: Ids, items: Ids) -> PairPredictor:
    """A function from pairs of codes to their covariates, users' first."""

    def rows(features: Features | None, ids: Ids, what: str) -> Floats:
        return np.empty((len(ids), 0)) if features is None else features.of(ids, what)

    left, right = rows(inputs.user_features, users, "user"), rows(inputs.item_features, items, "item")
    return lambda user, item: np.hstack([left[user], right[item]])
