"""Four rows of single precision at a time: their products with a vector, and their weighted sum.

Sixteen columns are one vector register. Compilers vectorise such loops too, but leave to slow code what is no multiple
of several registers: rows of 112 numbers took longer than rows of 128. Rows are padded with zeros to a multiple of 16;
all arrays are C-contiguous.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
FOUR = 4
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_FUSED = ("contract",)  # a·b + c may be one instruction


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(builder.bitcast(pointer, _VECTOR.as_pointer()), align=4)


def _starts(context: Any, builder: Any, kind: Any, rows: Any, first: Any) -> tuple[Any, list[Any]]:
    """The width of a matrix, and where four of its rows begin."""
    array = context.make_array(kind)(context, builder, rows)
    width = cgutils.unpack_tuple(builder, array.shape)[1]
    places = [builder.mul(builder.add(first, ir.Constant(first.type, row)), width) for row in range(FOUR)]
    return width, [builder.gep(array.data, [place]) for place in places]


def _all(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), _FIRST)


@intrinsic
def meet_four(typing: Any, rows: Any, first: Any, x: Any) -> Any:
    """rows[first]·x, …, rows[first + 3]·x."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, start, vector = arguments
        width, begin = _starts(context, builder, signature.args[0], matrix, start)
        right = context.make_array(signature.args[2])(context, builder, vector).data
        held = [cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES)) for _ in range(FOUR)]
        step = ir.Constant(start.type, LANES)
        with cgutils.for_range_slice(builder, ir.Constant(start.type, 0), width, step, inc=True) as (column, _):
            factor = _load(builder, builder.gep(right, [column]))
            for pointer, register in zip(begin, held, strict=True):
                product = builder.fmul(_load(builder, builder.gep(pointer, [column])), factor, flags=_FUSED)
                builder.store(builder.fadd(product, builder.load(register), flags=_FUSED), register)
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _VECTOR])
        total = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.fadd.v16f32")
        zero = ir.Constant(ir.FloatType(), 0.0)
        sums = [builder.call(total, [zero, builder.load(register)], fastmath=("reassoc",)) for register in held]
        return context.make_tuple(builder, signature.return_type, sums)

    return types.UniTuple(types.float32, FOUR)(rows, types.intp, x), generate


@intrinsic
def spread_four(typing: Any, rows: Any, first: Any, s: Any, t: Any, u: Any, v: Any, out: Any) -> Any:
    """out += s·rows[first] + t·rows[first + 1] + u·rows[first + 2] + v·rows[first + 3]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, start, *numbers, target = arguments
        width, begin = _starts(context, builder, signature.args[0], matrix, start)
        sums = context.make_array(signature.args[6])(context, builder, target).data
        factors = [_all(builder, number) for number in numbers]
        step = ir.Constant(start.type, LANES)
        with cgutils.for_range_slice(builder, ir.Constant(start.type, 0), width, step, inc=True) as (column, _):
            place = builder.gep(sums, [column])
            total = _load(builder, place)
            for pointer, factor in zip(begin, factors, strict=True):
                product = builder.fmul(_load(builder, builder.gep(pointer, [column])), factor, flags=_FUSED)
                total = builder.fadd(product, total, flags=_FUSED)
            builder.store(total, builder.bitcast(place, _VECTOR.as_pointer()), align=4)
        return context.get_dummy_value()

    single = types.float32
    return types.void(rows, types.intp, single, single, single, single, out), generate
