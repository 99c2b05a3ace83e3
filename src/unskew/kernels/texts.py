"""Number texts, or find their numbers, straight from Arrow's string views: no Python object, no copy of the column.

A view has 16 bytes, read as two words: the length (the low half of the first word) and the text itself where it has at
most 12 bytes; else its first four bytes, and where it stands in a buffer. A short text *is* its view, so two words tell
it apart from every other. A longer one is told apart by two hashes of its bytes and length under a secret of the
process, 96 bits in all: among a hundred million texts two fall together with a chance of 10⁻¹³.

Columns of a Parquet file hold most texts many times at one and the same place of a buffer, as its dictionary stands in
memory once: the number of the text that begins at a place is remembered, and the text is not read again.

Open addressing with at most half of the slots taken, so that most texts stand in the first or second slot that is
looked at, and the table of a usual catalogue stays in the processor's cache. A slot holds both words, and the number in
bits of the first that no text has (the length takes four), so that one look at memory is enough. The table is made
larger from outside, up to 2^27 texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix

INLINE = 12  # bytes of a text that a view holds itself
BATCH = 256  # rows that are hashed before they are looked up
SPARSE = 2  # slots for every text, at least
HALF = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(4)  # the bits of a slot's first word before its number, which has 28
TEXT = ~np.uint64(0xFFFFFFF0)  # the bits that are the text's
LONG = np.uint64(15)  # in place of the length of a longer text


@intrinsic
def _word_at(typing: Any, address: Any) -> Any:
    """The eight bytes at an address, which need not be a multiple of eight."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), align=1)

    return types.uint64(types.uint64), code


@intrinsic
def _byte_at(typing: Any, address: Any) -> Any:
    """The byte at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))

    return types.uint8(types.uint64), code


@intrinsic
def _fold(typing: Any, left: Any, right: Any) -> Any:
    """Both halves of the product of two words, one over the other (as in wyhash, Wang 2019)."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, word = ir.IntType(128), ir.IntType(64)
        product = builder.mul(*(builder.zext(each, wide) for each in arguments))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)
        return builder.xor(builder.trunc(product, word), high)

    return types.uint64(types.uint64, types.uint64), code


@njit(cache=True, nogil=True)
def _slot(one, two, secret, mask):  # type: ignore[no-untyped-def]
    """Where the search for two words begins."""
    return _fold(one ^ secret, two ^ mix(secret)) & mask


@njit(cache=True, nogil=True)
def _search(slots, one, two, secret):  # type: ignore[no-untyped-def]
    """The slot of two words; a free one where they have none."""
    mask = np.uint64(len(slots) - 1)
    at = _slot(one, two, secret, mask)
    while (slots[at, 0] & HALF) >> SHIFT != 0 and (slots[at, 0] & TEXT != one or slots[at, 1] != two):
        at = (at + np.uint64(1)) & mask
    return at


@njit(cache=True, nogil=True)
def number_texts(  # type: ignore[no-untyped-def]
    views, buffers, places, shift, seen, secret, start, slots, rows, known, grow, out
):
    """Number the texts of ``views[n, 2]`` from row ``start`` on; how many texts are known then, and the row reached.

    ``buffers`` are addresses. ``slots`` holds the two words of a text with its number + 1, 0 where a slot is free;
    ``rows`` where each number came first (in rows of this piece plus ``rows[-1]``). Stops where the slots might not
    suffice for a batch; if the table must not ``grow``, texts that are not in it get −1.

    ``seen`` remembers the number of the text that begins in each stretch of 2^shift bytes of a buffer, whose entries
    begin at ``places[buffer]``, and beside it a mark: how long the text is, and where in the stretch it begins. A mark
    of more than 32 bits is not remembered, so that a shift of 32 remembers nothing.

    Most rows are settled by one look, at ``seen`` or at the first slot. What is left of a batch of rows is looked at in
    steps: first all hashes and where to look, which is the second slot for short texts, then what stands there. The
    table is larger than the processor's cache, and many of its lines are under way at once like that.
    """
    mask, inside = np.uint64(len(slots) - 1), (np.uint64(1) << shift) - np.uint64(1)
    offset = rows[len(rows) - 1]
    waiting, first = np.empty(BATCH, dtype=np.uintp), np.empty((BATCH, 2), dtype=np.uint64)
    keys = np.empty((BATCH, 3), dtype=np.uint64)
    for low in range(start, len(views), BATCH):
        if grow and SPARSE * (known + BATCH) > len(slots):
            return known, low
        high, count = min(low + BATCH, len(views)), np.uintp(0)
        for r in range(np.uintp(low), np.uintp(high)):  # without a branch on what cannot be foreseen
            one, two = views[r, 0], views[r, 1]
            length, at = one & HALF, two >> np.uint64(32)
            waiting[count] = r
            if length > INLINE:
                entry = seen[places[np.uintp(two & HALF)] + np.uintp(at >> shift)]
                out[r] = np.int32(entry & HALF)
                count += np.uintp(entry >> np.uint64(32) != (length << shift | at & inside))
            else:
                slot = _slot(one, two, secret, mask)
                entry = slots[slot, 0]
                number = (entry & HALF) >> SHIFT
                out[r] = np.int32(number) - np.int32(1)
                count += np.uintp((entry & TEXT != one) | (slots[slot, 1] != two) | (number == 0))
        for j in range(count):
            one, two = views[waiting[j], 0], views[waiting[j], 1]
            length, further = one & HALF, np.uint64(1)
            if length > INLINE:
                one, two = _long(buffers[np.uintp(two & HALF)] + (two >> np.uint64(32)), length, secret)
                further = np.uint64(0)
            keys[j, 0], keys[j, 1], keys[j, 2] = one, two, (_slot(one, two, secret, mask) + further) & mask
        for j in range(count):
            first[j, 0], first[j, 1] = slots[keys[j, 2], 0], slots[keys[j, 2], 1]
        for j in range(count):
            one, two, entry, r = keys[j, 0], keys[j, 1], first[j, 0], waiting[j]
            length = views[r, 0] & HALF
            if (entry & HALF) >> SHIFT == 0 or entry & TEXT != one or first[j, 1] != two:
                slot = _search(slots, one, two, secret)
                if (slots[slot, 0] & HALF) >> SHIFT == 0 and grow:
                    rows[known] = offset + r
                    known += 1
                    slots[slot, 0], slots[slot, 1] = one | np.uint64(known) << SHIFT, two
                entry = slots[slot, 0]
            number = np.int32((entry & HALF) >> SHIFT) - np.int32(1)
            out[r] = number
            where = views[r, 1]
            mark = length << shift | (where >> np.uint64(32)) & inside
            if length > INLINE and number >= 0 and mark <= HALF:
                place = places[np.uintp(where & HALF)] + np.uintp(where >> np.uint64(32) >> shift)
                seen[place] = mark << np.uint64(32) | np.uint64(number)
    return known, len(views)


@njit(cache=True, nogil=True)
def _long(address, length, secret):  # type: ignore[no-untyped-def]
    """Two words for a text of more than 12 bytes: half a hash beside the mark of such texts, and another hash.

    Sixteen bytes at a time; the last sixteen (of a shorter text the first and the last eight) are read whole, wherever
    those before them ended.
    """
    a, b = secret, mix(secret)
    left, right = mix(a), mix(b)
    at, stop = address, address + length
    while at + np.uint64(16) < stop:
        one, two = _word_at(at), _word_at(at + np.uint64(8))
        a, b = _fold(a ^ one, left ^ two), _fold(b ^ two, right ^ one)
        at += np.uint64(16)
    one, two = _word_at(max(address, stop - np.uint64(16))), _word_at(stop - np.uint64(8))
    a, b = _fold(a ^ one, left ^ two), _fold(b ^ two, right ^ one)
    return (mix(a ^ length) << np.uint64(32)) | LONG, mix(b + length)


@njit(cache=True, nogil=True)
def hash_views(views, place, buffers, out):  # type: ignore[no-untyped-def]
    """What ``hashing.hash_bytes`` makes of every text; ``place`` is the address of the views."""
    for r in range(len(views)):
        length, two = views[r, 0] & HALF, views[r, 1]
        at = place + np.uint64(16 * r + 4)
        if length > INLINE:
            at = buffers[np.int64(two & HALF)] + (two >> np.uint64(32))
        stop, h = at + length, np.uint64(0xCBF29CE484222325)
        while at < stop:
            h = (h ^ np.uint64(_byte_at(at))) * np.uint64(0x100000001B3)
            at += np.uint64(1)
        out[r] = mix(h)


@njit(cache=True, nogil=True)
def mark_unusual(views, place, buffers, out):  # type: ignore[no-untyped-def]
    """Whether a text holds a byte of a blank, of a sign before it or of one beyond ASCII; ``place`` as above.

    Eight bytes at a time: one below 33 borrows from its highest bit, one from 128 on has it set (Warren, Hacker's
    Delight). Where such a byte stands others may be marked too, so that only the whole word counts.
    """
    high, blank = np.uint64(0x8080808080808080), np.uint64(0x2121212121212121)
    for r in range(len(views)):
        length, two = views[r, 0] & HALF, views[r, 1]
        if length > INLINE:
            at = buffers[np.int64(two & HALF)] + (two >> np.uint64(32))
            last, found = at + length - np.uint64(8), np.uint64(0)
            while at < last:
                word = _word_at(at)
                found |= (word - blank) & ~word | word
                at += np.uint64(8)
            word = _word_at(last)
            found |= (word - blank) & ~word | word
            out[r] = found & high != 0
        else:
            at, unusual = place + np.uint64(16 * r + 4), False
            for _ in range(length):
                byte = _byte_at(at)
                unusual |= (byte < 33) | (byte > 127)
                at += np.uint64(1)
            out[r] = unusual


@njit(cache=True, nogil=True)
def rename(numbers, names):  # type: ignore[no-untyped-def]
    """Every number becomes its name, in place."""
    for r in range(len(numbers)):
        numbers[r] = names[numbers[r]]


@njit(cache=True, nogil=True)
def move_slots(old, secret, slots):  # type: ignore[no-untyped-def]
    """Put all texts of a table into a larger one, which is empty."""
    for at in range(len(old)):
        if (old[at, 0] & HALF) >> SHIFT != 0:
            slot = _search(slots, old[at, 0] & TEXT, old[at, 1], secret)
            slots[slot, 0], slots[slot, 1] = old[at, 0], old[at, 1]
