"""Single-precision scores of four users for a panel of 64 items, and which of them reach a number: one bit for each.

    reach_four   scores of four users, and bits of those that reach the floor of each
    reach        bits of those scores of one user that reach a number
    lowest       the number of the lowest bit
    count_bits   how many bits are set

Sums stay in registers while factors pass by, a panel's factors in the first cache: that is how matrix products are
made. The registers of a processor decide how many items are summed at once; bits of 64 items fill one number, so that
what reaches nothing costs one comparison, and whatever does costs a few steps for itself alone.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _large_registers() -> bool:
    """Whether there are 32 registers of 16 numbers; else 16 of eight, or as many, are assumed."""
    try:
        return bool(binding.get_host_cpu_features().get("avx512f"))
    except RuntimeError:  # a processor whose features LLVM does not find out
        return False


PANEL = 64  # items, a bit for each
FOUR = 4  # users
LANES, VECTORS = (16, 4) if _large_registers() else (8, 2)  # numbers of a vector; vectors of items at once for a user
_INDEX, _BITS = ir.IntType(32), ir.IntType(PANEL)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_UNUSED, _ZERO = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_VECTOR, [0.0] * LANES)
_FUSED = ("contract",)  # a·b + c may be one instruction


def _at(builder: Any, pointer: Any, *steps: Any) -> Any:
    """A place some steps after another, as that of a vector."""
    for step in steps:
        pointer = builder.gep(pointer, [ir.Constant(ir.IntType(64), step) if isinstance(step, int) else step])
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _all(builder: Any, number: Any) -> Any:
    one = builder.insert_element(_UNUSED, number, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(one, _UNUSED, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))


def _array(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, list[Any]]:
    """Where an array begins, and its shape."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape)


def _bits(builder: Any, vector: Any, floor: Any, first: int) -> Any:
    """Bits from ``first`` on of the lanes that reach a floor."""
    reached = builder.fcmp_ordered(">=", vector, floor)
    bits = builder.zext(builder.bitcast(reached, ir.IntType(LANES)), _BITS)
    return builder.shl(bits, ir.Constant(_BITS, first))


@intrinsic
def reach_four(typing: Any, users: Any, four: Any, panels: Any, panel: Any, floors: Any, scores: Any) -> Any:
    """Fill ``scores[4, 64]`` with ``users[four] @ panels[panel]``; bits of those at or above ``floors[four]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        left, (_, dim) = _array(context, builder, kinds[0], arguments[0])
        right, _ = _array(context, builder, kinds[2], arguments[2])
        least, _ = _array(context, builder, kinds[4], arguments[4])
        out, _ = _array(context, builder, kinds[5], arguments[5])
        own = cgutils.unpack_tuple(builder, arguments[1])
        begin = [builder.gep(left, [builder.mul(user, dim)]) for user in own]
        floor = [_all(builder, builder.load(builder.gep(least, [user]))) for user in own]
        width = ir.Constant(dim.type, PANEL)
        right = builder.gep(right, [builder.mul(builder.mul(arguments[3], dim), width)])
        bits = [ir.Constant(_BITS, 0)] * FOUR
        for first in range(0, PANEL, LANES * VECTORS):
            held = [[cgutils.alloca_once_value(builder, _ZERO) for _ in range(VECTORS)] for _ in range(FOUR)]
            for row in held:
                for register in row:
                    builder.store(_ZERO, register)
            with cgutils.for_range(builder, dim) as loop:
                line = builder.gep(right, [builder.mul(loop.index, width)])
                items = [builder.load(_at(builder, line, first + LANES * v), align=4) for v in range(VECTORS)]
                for row, start in zip(held, begin, strict=True):
                    factor = _all(builder, builder.load(builder.gep(start, [loop.index])))
                    for register, item in zip(row, items, strict=True):
                        product = builder.fmul(factor, item, flags=_FUSED)
                        builder.store(builder.fadd(product, builder.load(register), flags=_FUSED), register)
            for r, row in enumerate(held):
                for v, register in enumerate(row):
                    score, place = builder.load(register), first + LANES * v
                    builder.store(score, _at(builder, out, r * PANEL + place), align=4)
                    bits[r] = builder.or_(bits[r], _bits(builder, score, floor[r], place))
        return context.make_tuple(builder, signature.return_type, bits)

    four = types.UniTuple(types.intp, FOUR)
    return types.UniTuple(types.uint64, FOUR)(users, four, panels, types.intp, floors, scores), generate


@intrinsic
def reach(typing: Any, scores: Any, row: Any, floor: Any) -> Any:
    """Bits of ``scores[row, :64]`` that are at or above a number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, _ = _array(context, builder, signature.args[0], arguments[0])
        data = builder.gep(data, [builder.mul(arguments[1], ir.Constant(arguments[1].type, PANEL))])
        floor, bits = _all(builder, arguments[2]), ir.Constant(_BITS, 0)
        for first in range(0, PANEL, LANES):
            vector = builder.load(_at(builder, data, first), align=4)
            bits = builder.or_(bits, _bits(builder, vector, floor, first))
        return bits

    return types.uint64(scores, types.intp, types.float32), generate


@intrinsic
def lowest(typing: Any, bits: Any) -> Any:
    """The number of the lowest bit that is set; there must be one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.uint64), generate


@intrinsic
def count_bits(typing: Any, bits: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.intp(types.uint64), generate
