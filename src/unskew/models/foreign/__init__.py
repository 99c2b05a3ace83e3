"""Models of other libraries as recommenders: ``adapt(model, users=…, items=…)``."""

from unskew.models.foreign.adapting import adapt
from unskew.models.foreign.matrix import matrix

__all__ = ["adapt", "matrix"]
