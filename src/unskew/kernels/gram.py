"""Σ z zᵀ over the rows of a matrix, eight by eight: what alternating least squares spends its time on.

A tile of 8 × 8 sums is held in eight vector registers while all rows pass by; per row that is one load, eight
broadcasts and eight multiply-adds, which is close to what a core can do at most. Compilers do not find this by
themselves, so the tile is written as vector instructions (they become two or four narrower ones where a machine has no
512-bit registers). Rows are padded with zeros to a multiple of eight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
TINY = 1e-12  # of a pivot, relative to what it was
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_FUSED = ("contract",)  # a·b + c may be one instruction


def padded(width: int) -> int:
    """The next multiple of eight."""
    return -(-width // LANES) * LANES


@intrinsic
def _tile(typing: Any, rows: Any, first: Any, last: Any, j: Any, k: Any, out: Any, add: Any) -> Any:
    """out[j:j+8, k:k+8] ±= Σ over first ≤ e < last of rows[e, j:j+8]ᵀ rows[e, k:k+8]; C-contiguous float64."""
    if not isinstance(add, types.BooleanLiteral):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, stop, j, k, target, _ = arguments
        source = context.make_array(signature.args[0])(context, builder, array)
        sums = context.make_array(signature.args[5])(context, builder, target)
        join = builder.fadd if add.literal_value else builder.fsub

        def place(base: Any, row: Any, column: Any) -> Any:
            width = cgutils.unpack_tuple(builder, base.shape)[1]
            return builder.gep(base.data, [builder.add(builder.mul(row, width), column)])

        def vector(pointer: Any) -> Any:
            return builder.bitcast(pointer, _VECTOR.as_pointer())

        held = [cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES)) for _ in range(LANES)]
        with cgutils.for_range(builder, stop, start) as loop:
            right = builder.load(vector(place(source, loop.index, k)), align=8)
            for lane, register in enumerate(held):
                number = builder.load(place(source, loop.index, builder.add(j, ir.Constant(j.type, lane))))
                one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
                left = builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), _FIRST)
                product = builder.fmul(left, right, flags=_FUSED)
                builder.store(builder.fadd(product, builder.load(register), flags=_FUSED), register)
        for lane, register in enumerate(held):
            pointer = vector(place(sums, builder.add(j, ir.Constant(j.type, lane)), k))
            builder.store(join(builder.load(pointer, align=8), builder.load(register)), pointer, align=8)
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, types.intp, types.intp, out, add), generate


@njit(cache=True, nogil=True)
def add_gram(rows, n, out):  # type: ignore[no-untyped-def]
    """Add Σ z zᵀ of the first n rows to the upper triangle of ``out`` (whole tiles); widths are multiples of 8."""
    for j in range(0, out.shape[0], LANES):
        for k in range(j, out.shape[0], LANES):
            _tile(rows, 0, n, j, k, out, True)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def solve(matrix, n, out):  # type: ignore[no-untyped-def]
    """Solve n normal equations: upper triangle of ``matrix``, right-hand side in column n; the matrix is used up.

    Cholesky, eight rows at a time: these are eliminated, then one sum of tiles takes them off all rows below. What is
    left in the corner (n, n) is the minimum of the quadratic form, and ``out[:n]`` becomes the solution. A direction
    that nothing holds (its pivot is rounding error) stays at 0.
    """
    size = matrix.shape[0]
    for j in range(n):
        out[j] = TINY * matrix[j, j]
    for panel in range(0, n, LANES):
        for j in range(panel, min(panel + LANES, n)):
            pivot = matrix[j, j]
            scale = 1.0 / np.sqrt(pivot) if pivot > out[j] else 0.0
            for k in range(panel, size):
                matrix[j, k] *= scale
            for i in range(j + 1, panel + LANES):
                factor = matrix[j, i]
                for k in range(panel, size):
                    matrix[i, k] -= factor * matrix[j, k]
            matrix[j, j] = scale
        last = min(panel + LANES, n)
        for j in range(panel + LANES, size, LANES):
            for k in range(j, size, LANES):
                _tile(matrix, panel, last, j, k, matrix, False)
    for j in range(n - 1, -1, -1):
        total = matrix[j, n]
        for k in range(j + 1, n):
            total -= matrix[j, k] * out[k]
        out[j] = total * matrix[j, j]
