"""Which pairs to ask about: the pairs that stand in some list, their inclusion probabilities, and the draw (MATHS §16).

A user's pairs lie on a line, each as long as its inclusion probability, in random order; the pairs that stand in no
list share one stretch. Points at U, U + 1, U + 2, … choose the pairs in which they fall (systematic sampling): every
inclusion probability is exact, and a line no longer than k holds at most k points.

    π_ui = min(1, t·w_ui + r)        Σ_i π_ui ≤ k, else the user's own t_u < t (or r_u < r) makes it k

Σ_i min(1, t·w + r) is concave and piecewise linear in t, so that Newton's steps from the left end at the root after
finitely many of them.
"""

from __future__ import annotations

import math

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.hashing import mix, unit

STEPS = 200  # Newton's; every one passes a bend, and a user has few of them
START, REST = np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)  # salts: of the first point, of the rest


@njit(cache=True, nogil=True)
def add_lists(low, high, indptr, item, rank, worth, model, start, filled, items, worths):  # type: ignore[no-untyped-def]
    """Put one model's lists of users ``low`` … ``high − 1`` to what other models listed; worth 0 is not listed."""
    depth = len(worth)
    for u in range(low, high):
        first = start[u - low]
        for e in range(indptr[u], indptr[u + 1]):
            i, r = item[e], rank[e]
            if r >= depth:
                break  # ranks ascend
            if i < 0 or worth[r] == 0.0:
                continue
            j, last = first, first + filled[u - low]
            while j < last and items[j] != i:
                j += 1
            if j == last:
                items[j] = i
                filled[u - low] += 1
            worths[j, model] = worth[r]


@njit(cache=True, nogil=True)
def close_up(low, start, filled, items, worths, gone_start, gone, user, item, worth):  # type: ignore[no-untyped-def]
    """The listed pairs ascending by user and item, without those that are gone; how many are left, and are gone."""
    count, dropped = 0, 0
    for b in range(len(filled)):
        u = low + b
        order = np.argsort(items[start[b] : start[b] + filled[b]])
        g, end = gone_start[u], gone_start[u + 1]
        for place in order:
            j = start[b] + place
            while g < end and gone[g] < items[j]:
                g += 1
            if g < end and gone[g] == items[j]:
                dropped += 1
                continue
            user[count], item[count] = u, items[j]
            worth[count] = worths[j]
            count += 1
    return count, dropped


@njit(cache=True, nogil=True)
def merge_rows(start_a, a, start_b, b, start, out):  # type: ignore[no-untyped-def]
    """Two ascending lists per user as one, each item once; ``start`` is filled, and the length of ``out`` returned."""
    n = 0
    for u in range(len(start_a) - 1):
        i, j = start_a[u], start_b[u]
        while i < start_a[u + 1] or j < start_b[u + 1]:
            if j == start_b[u + 1] or (i < start_a[u + 1] and a[i] <= b[j]):
                if j < start_b[u + 1] and a[i] == b[j]:
                    j += 1
                out[n] = a[i]
                i += 1
            else:
                out[n] = b[j]
                j += 1
            n += 1
        start[u + 1] = n
    return n


@njit(cache=True, nogil=True)
def _mass(weight, t, rate):  # type: ignore[no-untyped-def]
    """Σ min(1, t·w + r), and its slope in t."""
    total, slope = 0.0, 0.0
    for w in weight:
        p = t * w + rate
        if p < 1.0:
            total += p
            slope += w
        else:
            total += 1.0
    return total, slope


@njit(cache=True, nogil=True)
def _limited(weight, others, t, rate, most):  # type: ignore[no-untyped-def]
    """t, r and the length of a user's line, once that is at most ``most``."""
    total, _ = _mass(weight, t, rate)
    total += rate * others
    if total <= most:
        return t, rate, total
    if rate * (len(weight) + others) >= most:
        return 0.0, most / (len(weight) + others), most
    t = 0.0
    for _ in range(STEPS):
        total, slope = _mass(weight, t, rate)
        left = most - rate * others - total
        if left <= 0.0 or slope <= 0.0:
            break
        step = left / slope
        t += step
        if step <= 1e-15 * t:
            break
    return t, rate, most


@njit(cache=True, nogil=True)
def line_lengths(low, high, start, weight, others, asked, t, rate, most):  # type: ignore[no-untyped-def]
    """Σ of the lengths of these users' lines, and its slope in t."""
    total, slope = 0.0, 0.0
    for u in range(low, high):
        if not asked[u]:
            continue
        own, rise = _mass(weight[start[u] : start[u + 1]], t, rate)
        own += rate * others[u]
        if own < most:
            total += own
            slope += rise
        else:
            total += most
    return total, slope


@njit(cache=True, nogil=True)
def inclusion(low, high, start, weight, others, asked, t, rate, most, listed, rest):  # type: ignore[no-untyped-def]
    """π of these users' listed pairs, and of each user's other candidates."""
    base = start[low]
    for u in range(low, high):
        t_u, rate_u = 0.0, 0.0
        if asked[u]:
            t_u, rate_u, _ = _limited(weight[start[u] : start[u + 1]], others[u], t, rate, most)
        rest[u - low] = rate_u
        for j in range(start[u], start[u + 1]):
            listed[j - base] = min(1.0, t_u * weight[j] + rate_u)


@njit(cache=True, nogil=True)
def _points(x, first):  # type: ignore[no-untyped-def]
    """How many of the points first, first + 1, … lie below x."""
    return max(0, math.ceil(x - first))


@njit(cache=True, nogil=True)
def _candidate(r, u, start, item, gone_start, gone, place):  # type: ignore[no-untyped-def]
    """The place of the r-th candidate of a user that stands in no list."""
    g, b = gone_start[u], start[u]
    while True:
        while g < gone_start[u + 1] and place[gone[g]] < 0:
            g += 1
        from_gone = place[gone[g]] if g < gone_start[u + 1] else np.int64(-1)
        from_list = place[item[b]] if b < start[u + 1] else np.int64(-1)
        if from_gone >= 0 and (from_list < 0 or from_gone < from_list):
            if from_gone > r:
                return r
            g += 1
        elif from_list >= 0:
            if from_list > r:
                return r
            b += 1
        else:
            return r
        r += 1


@njit(cache=True, nogil=True)
def draw_pairs(  # type: ignore[no-untyped-def]
    low, high, start, item, weight, others, asked, t, rate, most, seed, user_hash, item_hash, gone_start, gone, place,
    pool, out_user, out_item, out_p,
):  # fmt: skip
    """Draw the pairs of users ``low`` … ``high − 1``, and count them; ``pool`` has the items that may be shown."""
    n = 0
    for u in range(low, high):
        if not asked[u]:
            continue
        first_pair, pairs = start[u], start[u + 1] - start[u]
        t_u, rate_u, length = _limited(weight[first_pair : first_pair + pairs], others[u], t, rate, most)
        key = mix(user_hash[u] ^ mix(np.uint64(seed)))
        first = unit(key ^ START)
        if first >= length:
            continue
        keys = np.empty(pairs + 1, dtype=np.uint64)
        for j in range(pairs):
            keys[j] = mix(key ^ item_hash[item[first_pair + j]])
        keys[pairs] = mix(key ^ REST)
        end, left = 0.0, math.ceil(min(length, most) - 1e-9)
        for j in np.argsort(keys):
            before = _points(end, first)
            if j < pairs:
                p = min(1.0, t_u * weight[first_pair + j] + rate_u)
                end += p
                if _points(end, first) > before and left > 0:
                    out_user[n], out_item[n], out_p[n] = u, item[first_pair + j], p
                    n += 1
                    left -= 1
                continue
            end += rate_u * others[u]
            many = min(_points(end, first) - before, left, others[u])
            chosen = np.empty(many, dtype=np.int64)
            for c in range(many):  # Floyd's way to a random subset: each of the same size equally likely
                top = others[u] - many + c
                r = min(np.int64(unit(keys[pairs] + np.uint64(c + 1)) * (top + 1)), top)
                for earlier in range(c):
                    if chosen[earlier] == r:
                        r = top
                        break
                chosen[c] = r
                found = _candidate(r, u, start, item, gone_start, gone, place)
                out_user[n], out_item[n], out_p[n] = u, pool[found], rate_u
                n += 1
            left -= many
    return n
