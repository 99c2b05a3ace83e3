"""How is it computed fast? Compiled functions on arrays only; nothing here knows of files or frames."""

import os

try:
    _usable = int(os.environ.get("NUMBA_NUM_THREADS", "1")) > 0
except ValueError:
    _usable = False
if not _usable:  # numba would not be imported; kernels use none of its threads
    del os.environ["NUMBA_NUM_THREADS"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unskew.kernels.compiled import njit
    from unskew.kernels.hashing import mix, pair_uniform, unit
    from unskew.kernels.topk import SEED, top_k

_NAMES = {"compiled": ("njit",), "hashing": ("mix", "pair_uniform", "unit"), "topk": ("SEED", "top_k")}

__all__ = ["SEED", "mix", "njit", "pair_uniform", "top_k", "unit"]  # what kernels of other packages are made of


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"unskew.kernels.{module}"), name)
    raise AttributeError(f"module 'unskew.kernels' has no attribute '{name}'")
