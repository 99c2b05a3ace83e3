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
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unskew.kernels.compiled import njit

LANES = 8
TINY = 1e-12  # of a pivot, relative to what it was
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_FUSED = ("contract",)  # a·b + c may be one instruction


def padded(width: int) -> int:
    """The next multiple of eight."""
    return -(-width // LANES) * LANES


def _place(builder: Any, array: Any, row: Any, column: Any) -> Any:
    """The address of one number of a C-contiguous matrix."""
    width = cgutils.unpack_tuple(builder, array.shape)[1]
    return builder.gep(array.data, [builder.add(builder.mul(row, width), column)])


def _vector(builder: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _eight_times(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), _FIRST)


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
        held = [cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES)) for _ in range(LANES)]
        with cgutils.for_range(builder, stop, start) as loop:
            right = builder.load(_vector(builder, _place(builder, source, loop.index, k)), align=8)
            for lane, register in enumerate(held):
                column = builder.add(j, ir.Constant(j.type, lane))
                left = _eight_times(builder, builder.load(_place(builder, source, loop.index, column)))
                product = builder.fmul(left, right, flags=_FUSED)
                builder.store(builder.fadd(product, builder.load(register), flags=_FUSED), register)
        for lane, register in enumerate(held):
            row = builder.add(j, ir.Constant(j.type, lane))
            pointer = _vector(builder, _place(builder, sums, row, k))
            builder.store(join(builder.load(pointer, align=8), builder.load(register)), pointer, align=8)
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, types.intp, types.intp, out, add), generate


@intrinsic
def put(typing: Any, out: Any, i: Any, rows: Any, j: Any, factor: Any, first: Any, add: Any) -> Any:
    """out[i, first:] = factor·rows[j, first:], or += if ``add``; ``first`` and widths are multiples of 8."""
    if not isinstance(add, types.BooleanLiteral):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, i, array, j, factor, first, _ = arguments
        sums = context.make_array(signature.args[0])(context, builder, target)
        source = context.make_array(signature.args[2])(context, builder, array)
        factors, width = _eight_times(builder, factor), cgutils.unpack_tuple(builder, sums.shape)[1]
        step = ir.Constant(first.type, LANES)
        with cgutils.for_range_slice(builder, first, width, step, inc=True) as (column, _):
            pointer = _vector(builder, _place(builder, sums, i, column))
            right = builder.load(_vector(builder, _place(builder, source, j, column)), align=8)
            number = builder.fmul(factors, right, flags=_FUSED)
            if add.literal_value:
                number = builder.fadd(number, builder.load(pointer, align=8), flags=_FUSED)
            builder.store(number, pointer, align=8)
        return context.get_dummy_value()

    return types.void(out, types.intp, rows, types.intp, types.float64, types.intp, add), generate


@njit(cache=True, nogil=True)
def add_gram(rows, n, out):  # type: ignore[no-untyped-def]
    """Add Σ z zᵀ of the first n rows to the upper triangle of ``out`` (whole tiles); widths are multiples of 8.

    ``out`` may be wider than the rows; what lies beyond them stays as it is.
    """
    for j in range(0, rows.shape[1], LANES):
        for k in range(j, rows.shape[1], LANES):
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
            put(matrix, j, matrix, j, scale, panel, False)
            for i in range(j + 1, panel + LANES):
                put(matrix, i, matrix, j, -matrix[j, i], panel, True)
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
