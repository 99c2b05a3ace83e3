"""Columns with the same rows, against a dictionary; and the eigenvalues of the merged matrix, against numpy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from unskew.kernels.gram_product import gram_product
from unskew.kernels.same_columns import same_columns
from unskew.models.merged_columns import MergedColumns

matrices = st.integers(1, 9).flatmap(
    lambda columns: st.lists(st.lists(st.booleans(), min_size=columns, max_size=columns), min_size=1, max_size=9)
)


@settings(deadline=None)
@given(rows=matrices)
def test_columns_with_the_same_rows(rows: list[list[bool]]) -> None:
    """Groups are those of equal columns, numbered as they come up."""
    matrix = np.array(rows)
    found = sparse.csr_array(matrix)
    group, count = same_columns(found.indptr, found.indices, matrix.shape[1])
    numbers: dict[tuple[bool, ...], int] = {}
    expected = [numbers.setdefault(tuple(column), len(numbers)) for column in matrix.T.tolist()]
    assert group.tolist() == expected and count == len(numbers)


@settings(deadline=None)
@given(rows=matrices)
def test_the_merged_matrix_has_the_same_eigenvalues(rows: list[list[bool]]) -> None:
    """√D RᵀR √D against RᵀR of the whole matrix, by products with unit vectors; its vectors spread are eigenvectors."""
    dense = np.array(rows, dtype=np.float64)
    found = sparse.csr_array(dense)
    merged = MergedColumns.of(found.indptr, found.indices, dense.shape[1])
    product, scaled = np.empty((merged.size, merged.size)), np.empty(merged.size)
    for c, unit in enumerate(np.eye(merged.size)):
        gram_product(*merged.arrays, unit, scaled, product[c])
    value, vector = np.linalg.eigh(product)
    whole = np.linalg.eigvalsh(dense.T @ dense)
    assert np.allclose(np.sort(whole)[-merged.size :], value, atol=1e-9)
    spread = merged.spread(vector.T[value > 1e-9])
    assert np.allclose(spread @ dense.T @ dense, value[value > 1e-9][:, None] * spread, atol=1e-9)
    assert np.allclose(spread @ spread.T, np.eye(len(spread)), atol=1e-9)
    start = np.arange(1.0, dense.shape[1] + 1.0)
    assert np.allclose(merged.merged(start), merged.spread(np.eye(merged.size)) @ start)
