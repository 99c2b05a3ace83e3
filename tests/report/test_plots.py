"""Labels of charts: folded, never cut; and rows that do not overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unskew.report.numbers import factors
from unskew.report.plots import RowPlaces, folded

names = st.text(alphabet="abc_(=,) .", min_size=1, max_size=60)


@given(names, st.integers(4, 30))
def test_folding_keeps_every_sign(name: str, signs: int) -> None:
    """Nothing but blanks is lost at the ends of lines, and no line is longer than asked for."""
    text = folded(name, signs)
    if name.strip():
        assert "".join(text.split()) == "".join(name.split())
        assert max(map(len, text.split("\n"))) <= signs


def test_folding_breaks_where_words_end() -> None:
    """After punctuation, and inside a word only where it is longer than a line."""
    assert folded("exposure_path(gamma=1)", 12) == "exposure_\npath(gamma=\n1)"
    assert folded("item_knn", 20) == "item_knn"
    assert folded("recommender", 4) == "reco\nmmen\nder"


@given(st.lists(names, min_size=1, max_size=6, unique=True), st.integers(1, 4))
def test_rows_have_room_for_their_names_and_marks(rows: list[str], marks: int) -> None:
    """From above: a name's lines, then its marks, then the next name; all of it inside the chart."""
    places = RowPlaces(rows, marks)
    end = 0.0
    for name in rows:
        assert places.tops[name] >= end
        below = places.tops[name] + RowPlaces.LINE * (folded(name, RowPlaces.SIGNS).count("\n") + 1)
        spots = [places.at(name, n) for n in range(marks)]
        assert spots == sorted(spots) and spots[0] >= below
        end = spots[-1] + RowPlaces.MARK / 2
    assert end <= places.height


def test_ratios_that_are_hardly_bounded_say_so() -> None:
    """Rather than by thirty digits."""
    assert factors(0.31, 0.93) == "[0.31, 0.93]"
    assert factors(1e-9, 1e30) == "[< 0.01, > 1,000]"
    assert factors(None, 2.0) == "–"
