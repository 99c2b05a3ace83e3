"""Four rows of single precision at a time: what conjugate gradients do with the rows of seen pairs.

    visit_four     out += Σ (shift + slope·(y·x))·y over four rows y
    fetch_four     the same for four rows that are copied from elsewhere on the way
    squares_four   Σ (y·x)² over four rows y
    multiply_four  four vectors times one matrix

Sixteen columns are one vector register. Compilers vectorise such loops too, but leave to slow code what is no multiple
of several registers: rows of 112 numbers took longer than rows of 128. The four sums of a product are folded together,
in a fixed order. Rows are padded with zeros to a multiple of 16; all arrays are C-contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
FOUR = 4
_BYTE, _INDEX = ir.IntType(8), ir.IntType(32)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_UNUSED = ir.Constant(_VECTOR, ir.Undefined)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)
_FUSED = ("contract",)  # a·b + c may be one instruction


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(builder.bitcast(pointer, _VECTOR.as_pointer()), align=4)


def _store(builder: Any, vector: Any, pointer: Any) -> None:
    builder.store(vector, builder.bitcast(pointer, _VECTOR.as_pointer()), align=4)


def _shuffle(builder: Any, left: Any, right: Any, lanes: list[int]) -> Any:
    """The lanes of two vectors that a list names; 16 … 31 are those of the right one."""
    return builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(_INDEX, LANES), lanes))


def _all(builder: Any, number: Any) -> Any:
    one = builder.insert_element(_UNUSED, number, ir.Constant(_INDEX, 0))
    return _shuffle(builder, one, _UNUSED, [0] * LANES)


def _fused(builder: Any, left: Any, right: Any, total: Any) -> Any:
    return builder.fadd(builder.fmul(left, right, flags=_FUSED), total, flags=_FUSED)


def _array(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, list[Any]]:
    """Where an array begins, and its shape."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape)


def _rows(builder: Any, data: Any, width: Any, first: Any) -> list[Any]:
    """Where four rows of a matrix begin."""
    return [
        builder.gep(data, [builder.mul(builder.add(first, ir.Constant(first.type, r)), width)]) for r in range(FOUR)
    ]


def _columns(builder: Any, width: Any) -> Any:
    """A loop over the columns, sixteen at a time."""
    zero, step = ir.Constant(width.type, 0), ir.Constant(width.type, LANES)
    return cgutils.for_range_slice(builder, zero, width, step, inc=True)


def _fold(builder: Any, held: list[Any]) -> Any:
    """The sums of four vectors: that of the r-th in the lanes 4r … 4r + 3."""

    def halves(left: Any, right: Any, size: int) -> Any:
        """Every run of 2·size lanes of either vector becomes one of ``size``, by adding its two halves."""
        low = [at for at in range(2 * LANES) if at // size % 2 == 0]
        return builder.fadd(
            _shuffle(builder, left, right, low), _shuffle(builder, left, right, [at + size for at in low])
        )

    total = halves(halves(held[0], held[1], 8), halves(held[2], held[3], 8), 4)
    for size in (2, 1):
        other = _shuffle(builder, total, _UNUSED, [lane ^ size for lane in range(LANES)])
        total = builder.fadd(total, other)
    return total


def _meet(builder: Any, begin: list[Any], width: Any, right: Any, seen: Callable[[int, Any, Any], None]) -> Any:
    """The products of four rows with a vector, folded; ``seen`` is called with every row, column and vector read."""
    held = [cgutils.alloca_once(builder, _VECTOR) for _ in range(FOUR)]
    for register in held:
        builder.store(_ZERO, register)
    with _columns(builder, width) as (column, _):
        factor = _load(builder, builder.gep(right, [column]))
        for row, (pointer, register) in enumerate(zip(begin, held, strict=True)):
            vector = _load(builder, builder.gep(pointer, [column]))
            seen(row, column, vector)
            builder.store(_fused(builder, vector, factor, builder.load(register)), register)
    return _fold(builder, [builder.load(register) for register in held])


def _spread(builder: Any, begin: list[Any], width: Any, sums: Any, shift: Any, slope: Any, out: Any) -> None:
    """out += Σ (shift + slope·sum)·row."""
    factor = _fused(builder, sums, _all(builder, slope), _all(builder, shift))
    factors = [_shuffle(builder, factor, _UNUSED, [FOUR * row] * LANES) for row in range(FOUR)]
    with _columns(builder, width) as (column, _):
        place = builder.gep(out, [column])
        total = _load(builder, place)
        for pointer, each in zip(begin, factors, strict=True):
            total = _fused(builder, _load(builder, builder.gep(pointer, [column])), each, total)
        _store(builder, total, place)


@intrinsic
def visit_four(typing: Any, rows: Any, first: Any, x: Any, shift: Any, slope: Any, out: Any) -> Any:
    """out += Σ (shift + slope·(y·x))·y over ``rows[first:first + 4]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, start, vector, shift, slope, target = arguments
        data, (_, width) = _array(context, builder, signature.args[0], matrix)
        right, _ = _array(context, builder, signature.args[2], vector)
        total, _ = _array(context, builder, signature.args[5], target)
        begin = _rows(builder, data, width, start)
        sums = _meet(builder, begin, width, right, lambda *_: None)
        _spread(builder, begin, width, sums, shift, slope, total)
        return context.get_dummy_value()

    return types.void(rows, types.intp, x, types.float32, types.float32, out), generate


@intrinsic
def fetch_four(
    typing: Any, source: Any, index: Any, at: Any, rows: Any, first: Any, x: Any, shift: Any, slope: Any, out: Any
) -> Any:
    """Copy ``source[index[at:at + 4]]`` to ``rows[first:first + 4]``, and do with them what ``visit_four`` does."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, start, shift, slope = (arguments[n] for n in (2, 4, 6, 7))
        (origin, _), (codes, _), (data, (_, width)), (right, _), (total, _) = (
            _array(context, builder, signature.args[n], arguments[n]) for n in (0, 1, 3, 5, 8)
        )
        begin, copies = [], _rows(builder, data, width, start)
        for row in range(FOUR):
            code = builder.load(builder.gep(codes, [builder.add(at, ir.Constant(at.type, row))]))
            begin.append(builder.gep(origin, [builder.mul(builder.zext(code, at.type), width)]))

        def copy(row: int, column: Any, vector: Any) -> None:
            _store(builder, vector, builder.gep(copies[row], [column]))

        sums = _meet(builder, begin, width, right, copy)
        _spread(builder, copies, width, sums, shift, slope, total)
        return context.get_dummy_value()

    single = types.float32
    return types.void(source, index, types.intp, rows, types.intp, x, single, single, out), generate


@intrinsic
def squares_four(typing: Any, rows: Any, first: Any, x: Any) -> Any:
    """Σ (y·x)² over ``rows[first:first + 4]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, start, vector = arguments
        data, (_, width) = _array(context, builder, signature.args[0], matrix)
        right, _ = _array(context, builder, signature.args[2], vector)
        sums = _meet(builder, _rows(builder, data, width, start), width, right, lambda *_: None)
        squares = builder.fmul(sums, sums)
        total = builder.extract_element(squares, ir.Constant(_INDEX, 0))
        for row in range(1, FOUR):
            total = builder.fadd(total, builder.extract_element(squares, ir.Constant(_INDEX, FOUR * row)))
        return total

    return types.float32(rows, types.intp, x), generate


@intrinsic
def multiply_four(typing: Any, matrix: Any, first: Any, count: Any, vectors: Any, out: Any) -> Any:
    """``out[:4, j]`` = Σ over k of ``vectors[:4, k]·matrix[k, j]`` for the 16·count columns j from ``first`` on."""
    if not isinstance(count, types.IntegerLiteral):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, first, _, left, target = arguments
        data, (rows, width) = _array(context, builder, signature.args[0], table)
        given, _ = _array(context, builder, signature.args[3], left)
        total, _ = _array(context, builder, signature.args[4], target)
        zero, kind = ir.Constant(first.type, 0), first.type
        vectors, sums = _rows(builder, given, width, zero), _rows(builder, total, width, zero)
        starts = [builder.add(first, ir.Constant(kind, LANES * n)) for n in range(count.literal_value)]
        held = [[cgutils.alloca_once(builder, _VECTOR) for _ in starts] for _ in range(FOUR)]
        for register in (each for row in held for each in row):
            builder.store(_ZERO, register)
        with cgutils.for_range(builder, rows) as loop:
            place = builder.mul(loop.index, width)
            read = [_load(builder, builder.gep(data, [builder.add(place, start)])) for start in starts]
            for pointer, registers in zip(vectors, held, strict=True):
                factor = _all(builder, builder.load(builder.gep(pointer, [loop.index])))
                for vector, register in zip(read, registers, strict=True):
                    builder.store(_fused(builder, vector, factor, builder.load(register)), register)
        for pointer, registers in zip(sums, held, strict=True):
            for start, register in zip(starts, registers, strict=True):
                _store(builder, builder.load(register), builder.gep(pointer, [start]))
        return context.get_dummy_value()

    return types.void(matrix, types.intp, count, vectors, out), generate


@intrinsic
def prefetch(typing: Any, rows: Any, row: Any) -> Any:
    """Begin to read a row that will be needed soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, row = arguments
        data, (_, width) = _array(context, builder, signature.args[0], matrix)
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INDEX, _INDEX, _INDEX])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        begin = builder.gep(data, [builder.mul(row, width)])
        with _columns(builder, width) as (column, _):
            place = builder.bitcast(builder.gep(begin, [column]), _BYTE.as_pointer())
            builder.call(ask, [place, *(ir.Constant(_INDEX, n) for n in (0, 2, 1))])  # to read, to the second cache
        return context.get_dummy_value()

    return types.void(rows, types.intp), generate
