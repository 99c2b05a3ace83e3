"""Stochastic gradient descent of a weighted factorisation of ratings, one tile of users × items at a time.

    z = v_u·w_i + a_u + b_i + c,   e = y − z

    τ = 2s·e/(1 + 2s·N)      squared error           N = r_u (|w_i|² + 1) + r_i (|v_u|² + 1)
    τ = e/N, cut at ±s       absolute error          s: weight; r_u, r_i: the step sizes of the two rows

    v_u ← (v_u + r_u τ w_i)·k_u,   a_u ← (a_u + r_u τ)·k_u,   and likewise the item

This is the implicit step (Kulis & Bartlett 2010; Karampatziakis & Langford 2011): N is how much z moves per τ, so that
the step that is taken ends where its own slope is. However heavy a rating, it never jumps past its value, which
explicit steps do as soon as 2s·N > 1; weights 1/P differ by thousands. k_u = 1/(1 + 2 r_u ρ/n_u) is the same for the
penalty, of which a rating has the n_u-th part.

A step is some forty vector instructions on two rows that lie in the cache, in single precision. Compilers do not find
them (the two matrices might overlap), so they are written out, for one d at a time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

LANES = 8
_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_FUSED = ("contract",)


def wide(dim: int) -> int:
    """Numbers of a row: d factors, the offset, the step size, what the penalty keeps, and zeros up to whole vectors."""
    return -(-(dim + 3) // LANES) * LANES


def _pieces(context: Any, builder: Any, kind: Any, array: Any, row: Any, dim: int) -> list[Any]:
    """Addresses of the vectors of one row of a C-contiguous matrix of floats."""
    source = context.make_array(kind)(context, builder, array)
    start = builder.mul(row, ir.Constant(row.type, wide(dim)))
    places = (builder.add(start, ir.Constant(row.type, first)) for first in range(0, wide(dim), LANES))
    return [builder.bitcast(builder.gep(source.data, [place]), _VECTOR.as_pointer()) for place in places]


def _numbers(number: float) -> Any:
    return ir.Constant(_VECTOR, [number] * LANES)


def _add_product(builder: Any, total: Any, left: Any, right: Any) -> Any:
    return builder.fadd(builder.fmul(left, right, flags=_FUSED), total, flags=_FUSED)


def _put(builder: Any, vector: Any, other: Any, columns: range, piece: int) -> Any:
    """A vector of a row with some columns of the row taken from another."""
    taken = [int(piece * LANES + lane in columns) for lane in range(LANES)]
    bits = ir.Constant(ir.VectorType(ir.IntType(1), LANES), taken)
    return builder.select(bits, other, vector) if any(taken) else vector


def _all(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _sums(builder: Any, left: Any, right: Any) -> list[Any]:
    """Of the lanes of two vectors, halves added to halves, both at once."""

    def picked(*lanes: int) -> Any:
        return builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(lanes)))

    low, high = picked(0, 1, 2, 3, 8, 9, 10, 11), picked(4, 5, 6, 7, 12, 13, 14, 15)
    left = right = builder.fadd(low, high)
    left = right = builder.fadd(left, picked(2, 3, 0, 1, 6, 7, 4, 5))
    left = builder.fadd(left, picked(1, 0, 3, 2, 5, 4, 7, 6))
    return [builder.extract_element(left, ir.Constant(ir.IntType(32), lane)) for lane in (0, 4)]


@intrinsic
def meet(typing: Any, users: Any, u: Any, items: Any, i: Any, r_u: Any, r_i: Any, dim: Any) -> Any:
    """v·w + a + b of two rows, and N."""
    if not isinstance(dim, types.IntegerLiteral):
        return None
    d = dim.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, offset, rest = signature.args, range(d, d + 1), range(d + 1, wide(d))
        mine = _pieces(context, builder, kinds[0], arguments[0], arguments[1], d)
        theirs = _pieces(context, builder, kinds[2], arguments[2], arguments[3], d)
        zero, one = _numbers(0.0), _numbers(1.0)
        z = of_u = of_i = zero
        for piece, (left, right) in enumerate(zip(mine, theirs, strict=True)):
            p, q = (_put(builder, builder.load(place, align=4), zero, rest, piece) for place in (left, right))
            p1, q1 = (_put(builder, vector, one, offset, piece) for vector in (p, q))
            z = _add_product(builder, z, p, q1)
            if d in range(piece * LANES, (piece + 1) * LANES):
                z = builder.fadd(z, _put(builder, zero, q, offset, piece))
            of_u, of_i = _add_product(builder, of_u, p1, p1), _add_product(builder, of_i, q1, q1)
        r_u, r_i = (_all(builder, number) for number in arguments[4:6])
        reach = _add_product(builder, builder.fmul(r_u, of_i), r_i, of_u)
        return context.make_tuple(builder, signature.return_type, _sums(builder, z, reach))

    number = types.float32
    return types.UniTuple(number, 2)(users, types.uintp, items, types.uintp, number, number, dim), generate


@intrinsic
def move(
    typing: Any, users: Any, u: Any, items: Any, i: Any, to_u: Any, to_i: Any, k_u: Any, k_i: Any, free: Any, dim: Any
) -> Any:
    """Both rows go to (own + to·other)·k, offsets to (own + to)·k; free offsets are not shrunk."""
    if not isinstance(dim, types.IntegerLiteral):
        return None
    d = dim.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, offset, rest = signature.args, range(d, d + 1), range(d + 1, wide(d))
        mine = _pieces(context, builder, kinds[0], arguments[0], arguments[1], d)
        theirs = _pieces(context, builder, kinds[2], arguments[2], arguments[3], d)
        to_u, to_i, keep_u, keep_i = (_all(builder, number) for number in arguments[4:8])
        one = _numbers(1.0)
        loose_u, loose_i = (builder.select(arguments[8], one, keep) for keep in (keep_u, keep_i))
        for piece, (left, right) in enumerate(zip(mine, theirs, strict=True)):
            p, q = builder.load(left, align=4), builder.load(right, align=4)
            p1, q1 = (_put(builder, vector, one, offset, piece) for vector in (p, q))
            k_p, k_q = (_put(builder, k, loose, offset, piece) for k, loose in ((keep_u, loose_u), (keep_i, loose_i)))
            for place, own, other, to, k in ((left, p, q1, to_u, k_p), (right, q, p1, to_i, k_q)):
                moved = builder.fmul(_add_product(builder, own, to, other), k)
                builder.store(_put(builder, moved, own, rest, piece), place, align=4)
        return context.get_dummy_value()

    number = types.float32
    signature = types.void(users, types.uintp, items, types.uintp, number, number, number, number, types.boolean, dim)
    return signature, generate


@cache
def descender(dim: int) -> Any:
    """The kernel for d factors; compiled once, and kept on disk."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def descend(first, last, user, item, value, weight, users, items, u0, i0, level, free, absolute):  # type: ignore[no-untyped-def]
        """Step through the ratings ``first`` … ``last − 1`` of one tile; gives back Σ weight·δ as met before steps."""
        loss = 0.0
        for e in range(np.uintp(first), np.uintp(last)):
            u, i, s = np.uintp(u0) + np.uintp(user[e]), np.uintp(i0) + np.uintp(item[e]), weight[e]
            r_u, r_i = users[u, dim + 1], items[i, dim + 1]
            z, reach = meet(users, u, items, i, r_u, r_i, dim)
            rest = value[e] - level - z
            if absolute:
                loss += s * abs(rest)
                pull = min(max(rest / reach, -s), s)
            else:
                loss += s * rest * rest
                pull = s * rest / (np.float32(0.5) + s * reach)
            move(users, u, items, i, r_u * pull, r_i * pull, users[u, dim + 2], items[i, dim + 2], free, dim)
        return loss

    return descend


@njit(cache=True, nogil=True)
def tiled(indptr, item, value, weight, level, unit, places, rows, ends, sums, user_to, item_to, value_to, weight_to):  # type: ignore[no-untyped-def]
    """Ratings by tile, in a tile by the place of the user's code: values less c, weights in a unit.

    ``places`` are those of all users and of all items, ``rows`` how many make a group; the group of a rating's user
    and that of its item make its tile. ``ends`` (zeros at first) gets the first rating of every tile and the last one's
    end, ``sums`` (zeros at first) the number of ratings and the sum of weights at every place, of users and of items.
    """
    groups = len(sums[0]) // rows[0]
    for u in range(len(indptr) - 1):
        mine = places[0][u]
        for e in range(indptr[u], indptr[u + 1]):
            theirs = places[1][item[e]]
            ends[mine // rows[0] * groups + theirs // rows[1] + 1] += 1
            sums[0][mine, 0] += 1.0
            sums[0][mine, 1] += weight[e] / unit
            sums[1][theirs, 0] += 1.0
            sums[1][theirs, 1] += weight[e] / unit
    for t in range(1, len(ends)):
        ends[t] += ends[t - 1]
    free = ends[:-1].copy()
    for u in range(len(indptr) - 1):
        mine = places[0][u]
        for e in range(indptr[u], indptr[u + 1]):
            theirs = places[1][item[e]]
            tile = mine // rows[0] * groups + theirs // rows[1]
            place = free[tile]
            user_to[place], item_to[place] = mine % rows[0], theirs % rows[1]
            value_to[place], weight_to[place] = value[e] - level, weight[e] / unit
            free[tile] = place + 1


@njit(cache=True, nogil=True)
def shuffle(ends, window, seed, user, item, value, weight):  # type: ignore[no-untyped-def]
    """Shuffle each window of each tile (Fisher & Yates), by a hash of the seed and the place."""
    key = mix(np.uint64(seed))
    for t in range(len(ends) - 1):
        for first in range(ends[t], ends[t + 1], window):
            for e in range(min(first + window, ends[t + 1]) - 1, first, -1):
                draw = mix(key ^ np.uint64(e)) >> np.uint64(32)
                j = first + np.int64((draw * np.uint64(e - first + 1)) >> np.uint64(32))
                user[e], user[j] = user[j], user[e]
                item[e], item[j] = item[j], item[e]
                value[e], value[j] = value[j], value[e]
                weight[e], weight[j] = weight[j], weight[e]
