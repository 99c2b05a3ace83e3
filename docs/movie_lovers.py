"""Why unseen ratings matter, as a picture: ``python docs/movie_lovers.py`` (schnabel16 Figure 1 with our numbers).

Half of the people love horror and dislike romance, the other half the reverse; dramas are all right to everybody. What
is liked is rated with probability p, a drama with p/2, what is disliked with p/10. Of two predictors

    careful    misses what is liked by one star, and is right otherwise      true MAE 1/3
    rosy       thinks that everybody loves both genres, right about dramas   true MAE 4/3

the naive average over what was rated finds rosy better. The script prints what the estimators say of this draw.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import unskew as us

HERE = Path(__file__).parent
PEOPLE, FILMS, P, SEED = 40, 30, 0.6, 1  # films of three genres, as many of each
CELL, GAP, TOP = 6, 34, 26
STARS = {1: "#c2410c", 2: "#f0a171", 3: "#e3e6ec", 4: "#8fb0ee", 5: "#2458d3"}
SEEN, UNSEEN, INK, SOFT = "#1f2430", "#f2f3f6", "#1f2430", "#626a7a"


def world() -> dict[str, Any]:
    """True ratings, chances, what was rated, and both predictors: a row per person, a column per film."""
    lovers = np.arange(PEOPLE)[:, None] < PEOPLE // 2
    genre = np.repeat(np.arange(3), FILMS // 3)[None, :]  # horror, romance, drama
    liked = np.where(lovers, genre == 0, genre == 1)
    drama = np.broadcast_to(genre == 2, liked.shape)
    rating = np.where(drama, 3, np.where(liked, 5, 1))
    chance = np.where(drama, P / 2, np.where(liked, P, P / 10))
    seen = np.random.default_rng(SEED).random(rating.shape) < chance
    careful = np.where(liked, 4, rating)
    return {"rating": rating, "chance": chance, "seen": seen, "careful": careful, "rosy": np.where(drama, 3, 5)}


def said(found: dict[str, Any]) -> dict[tuple[str, str], float]:
    """MAE by predictor and estimator, from what was rated."""
    user, item = np.nonzero(found["seen"])
    columns = {"user": user, "item": item, "value": found["rating"][user, item].astype(float)}
    columns["propensity"] = found["chance"][user, item]
    log = us.Log.from_frame(pl.DataFrame(columns), feedback="ratings")
    models = {name: found[name].astype(float) for name in ("careful", "rosy")}
    result = us.evaluate(log, models, metrics=["mae"], estimators=["naive", "ips", "snips"], propensity="known")
    return {(e.model, e.estimator): e.value for e in result.estimates}


def picture(found: dict[str, Any]) -> str:
    """Five panels side by side."""
    panels = {
        "true ratings": _stars(found["rating"]),
        "chance to be rated": np.vectorize(_grey)(found["chance"]),
        "rated": np.where(found["seen"], SEEN, UNSEEN),
        "careful": _stars(found["careful"]),
        "rosy": _stars(found["rosy"]),
    }
    width, height = FILMS * CELL, PEOPLE * CELL
    whole = len(panels) * (width + GAP) - GAP + 2 * GAP, height + TOP + 42
    parts = [f'<rect width="{whole[0]}" height="{whole[1]}" fill="white"/>']
    for n, (title, colours) in enumerate(panels.items()):
        left = GAP + n * (width + GAP)
        parts.append(f'<text x="{left}" y="{TOP - 9}" font-size="12" fill="{INK}">{title}</text>')
        parts += [_run(left, row, start, stop, colour) for row, start, stop, colour in _runs(colours)]
        for k, name in enumerate(("horror", "romance", "drama")):
            middle = left + (k + 0.5) * width / 3
            where = f'x="{middle:g}" y="{TOP + height + 15}" text-anchor="middle"'
            parts.append(f'<text {where} font-size="10" fill="{SOFT}">{name}</text>')
    for n, (stars, colour) in enumerate(STARS.items()):
        at = GAP + 44 * n, TOP + height + 24
        parts.append(f'<rect x="{at[0]}" y="{at[1]}" width="10" height="10" fill="{colour}"/>')
        told = f'<text x="{at[0] + 14}" y="{at[1] + 9}" font-size="10" fill="{SOFT}">{stars} ★</text>'
        parts.append(told)
    size = f'width="{whole[0]}" height="{whole[1]}" viewBox="0 0 {whole[0]} {whole[1]}"'
    look = 'font-family="system-ui, sans-serif" role="img"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>' + "\n".join(parts) + "</svg>\n"


def _stars(rating: Any) -> Any:
    return np.vectorize(STARS.__getitem__)(rating)


def _grey(chance: float) -> str:
    level = round(255 - 200 * float(chance))
    return f"#{level:02x}{level:02x}{level:02x}"


def _runs(colours: Any) -> list[tuple[int, int, int, str]]:
    """Neighbours of one colour in a row are one rectangle."""
    found = []
    for row, line in enumerate(colours):
        start = 0
        for stop in range(1, len(line) + 1):
            if stop == len(line) or line[stop] != line[start]:
                found.append((row, start, stop, str(line[start])))
                start = stop
    return found


def _run(left: float, row: int, start: int, stop: int, colour: str) -> str:
    x, y, wide = left + start * CELL, TOP + row * CELL, (stop - start) * CELL
    return f'<rect x="{x:g}" y="{y}" width="{wide}" height="{CELL}" fill="{colour}"/>'


def main() -> None:
    """Write docs/images/movie-lovers.svg, and print what the estimators say; ``table``: print alone."""
    found = world()
    values, estimators = said(found), ("naive", "ips", "snips")
    print(f"| MAE (`python docs/movie_lovers.py`) | true | {' | '.join(estimators)} |\n|---|---|---|---|---|")
    for name in ("careful", "rosy"):
        truth = np.abs(found[name] - found["rating"]).mean()
        print(f"| {name} | {truth:.3f} | " + " | ".join(f"{values[name, e]:.3f}" for e in estimators) + " |")
    if sys.argv[1:] == ["table"]:
        return
    path = HERE / "images" / "movie-lovers.svg"
    path.write_text(picture(found), encoding="utf-8")
    print(f"wrote {path.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
