"""Steps of the Lanczos method for √D RᵀR √D (``gram_product.py``): one compiled call for many steps.

    w = A v_j − β_{j−1} v_{j−1},   α_j = v_j·w,   w ← w − α_j v_j,   w ← w − Vᵀ(V w),   β_j = ‖w‖,   v_{j+1} = w / β_j

Every new vector is made orthogonal to all that there are (Golub & Van Loan 2013, §10.3), so that T, with α on its
diagonal and β beside it, stays what it is in exact arithmetic. What w owes to the last two vectors is most of it, and
is taken off first: what is left needs one round against all vectors, where it would need two. Vectors pass by four at a
time, since memory is what this waits for. Sums run in an order that no number of threads changes; a BLAS would share
each short product among threads, and wait for them most of the time.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.compiled import njit
from unskew.kernels.gram_product import gram_product

AGAIN = 0.7  # of a vector's length: where no more is left of it, rounding is taken off by another round
EPS = 2.0**-52
NOTHING = 1e-12  # of the same: nothing but rounding is left


@njit(cache=True, nogil=True)
def extend(start, column, alone, root, basis, diagonal, beside, first, last):  # type: ignore[no-untyped-def]
    """Steps ``first`` … ``last − 1``; gives back how many vectors are multiplied now.

    Vectors are rows of ``basis``. Where they span all that the first one can reach, ``beside`` holds 0 in the last
    place and steps end early. It must hold 0 before a vector that no step made.
    """
    taken, scaled = np.empty(len(basis)), np.empty(basis.shape[1])
    for j in range(first, last):
        new = basis[j + 1]
        gram_product(start, column, alone, root, basis[j], scaled, new)
        before = np.sqrt(dot(new, new))
        if j > 0 and beside[j - 1] != 0.0:
            add(-beside[j - 1], basis[j - 1], new)
        diagonal[j] = dot(basis[j], new)
        add(-diagonal[j], basis[j], new)
        length = np.sqrt(dot(new, new))
        while True:
            _orthogonal(basis, j + 1, new, taken)
            diagonal[j] += taken[j]
            longer, length = length, np.sqrt(dot(new, new))
            if length >= AGAIN * longer or length <= NOTHING * before:
                break
        if length <= NOTHING * before:
            beside[j] = 0.0
            return j + 1
        beside[j] = length
        for i in range(len(new)):
            new[i] /= length
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def eigen(diagonal, beside, rows):  # type: ignore[no-untyped-def]
    """Eigenvalues of a symmetric tridiagonal matrix in place of its diagonal; ``beside`` is used up.

    Implicit QL (Golub & Van Loan 2013, §8.3). With the unit matrix as ``rows`` these become the eigenvectors; with one
    column of it, that entry of every vector.
    """
    n = len(diagonal)
    beside[n - 1] = 0.0
    for first in range(n):
        while True:
            last = first
            while last < n - 1 and abs(beside[last]) > EPS * (abs(diagonal[last]) + abs(diagonal[last + 1])):
                last += 1
            if last == first:
                break
            g = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first])
            g = diagonal[last] - diagonal[first] + beside[first] / (g + np.copysign(np.hypot(g, 1.0), g))
            s, c, p, split = 1.0, 1.0, 0.0, False
            for i in range(last - 1, first - 1, -1):
                f, b = s * beside[i], c * beside[i]
                r = np.hypot(f, g)
                beside[i + 1] = r
                if r == 0.0:
                    diagonal[i + 1] -= p
                    split = True
                    break
                s, c = f / r, g / r
                g = diagonal[i + 1] - p
                r = (diagonal[i] - g) * s + 2.0 * c * b
                p = s * r
                diagonal[i + 1] = g + p
                g = c * r - b
                for k in range(rows.shape[1]):
                    upper, lower = rows[i, k], rows[i + 1, k]
                    rows[i + 1, k], rows[i, k] = s * upper + c * lower, c * upper - s * lower
            if not split:
                diagonal[first] -= p
                beside[first] = g
            beside[last] = 0.0


@njit(cache=True, nogil=True)
def begin(basis, count):  # type: ignore[no-untyped-def]
    """Make row ``count`` orthogonal to those before it, of length 1; ``False`` where nothing is left of it."""
    new, taken = basis[count], np.empty(len(basis))
    before = np.sqrt(dot(new, new))
    for _ in range(2):
        _orthogonal(basis, count, new, taken)
    length = np.sqrt(dot(new, new))
    if length <= 1e-8 * before:
        return False
    for i in range(len(new)):
        new[i] /= length
    return True


@njit(cache=True, nogil=True)
def combine(weights, basis, out):  # type: ignore[no-untyped-def]
    """out[k] = Σ over j of ``weights[k, j]`` · basis[j]."""
    out[:] = 0.0
    for k in range(len(out)):
        _add_all(weights[k], weights.shape[1], basis, out[k])


@njit(cache=True, nogil=True)
def _orthogonal(basis, count, new, taken):  # type: ignore[no-untyped-def]
    """Take off what lies in the first rows; ``taken`` says how much that was."""
    _dots(basis, count, new, taken)
    for j in range(count):
        taken[j] = -taken[j]
    _add_all(taken, count, basis, new)
    for j in range(count):
        taken[j] = -taken[j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dots(basis, count, new, out):  # type: ignore[no-untyped-def]
    """out[j] = basis[j] · new for the first rows."""
    whole = count - count % 4
    for j in range(0, whole, 4):
        row_0, row_1, row_2, row_3 = basis[j], basis[j + 1], basis[j + 2], basis[j + 3]
        sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
        for i in range(np.uintp(len(new))):
            sum_0 += row_0[i] * new[i]
            sum_1 += row_1[i] * new[i]
            sum_2 += row_2[i] * new[i]
            sum_3 += row_3[i] * new[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = sum_0, sum_1, sum_2, sum_3
    for j in range(whole, count):
        out[j] = dot(basis[j], new)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_all(weights, count, basis, out):  # type: ignore[no-untyped-def]
    """out += Σ over the first rows of ``weights[j]`` · basis[j]."""
    whole = count - count % 4
    for j in range(0, whole, 4):
        row_0, row_1, row_2, row_3 = basis[j], basis[j + 1], basis[j + 2], basis[j + 3]
        by_0, by_1, by_2, by_3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for i in range(np.uintp(len(out))):
            out[i] += (by_0 * row_0[i] + by_1 * row_1[i]) + (by_2 * row_2[i] + by_3 * row_3[i])
    for j in range(whole, count):
        add(weights[j], basis[j], out)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot(a, b):  # type: ignore[no-untyped-def]
    """Σ a·b; several sums at once by one instruction."""
    total = 0.0
    for i in range(np.uintp(len(a))):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True, fastmath={"contract"})
def add(factor, a, out):  # type: ignore[no-untyped-def]
    """out += factor · a."""
    for i in range(np.uintp(len(a))):
        out[i] += factor * a[i]
