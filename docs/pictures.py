"""Make the pictures of pages: those of ``unskew demo`` and of ``unskew compare-protocols`` (``make pictures``)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MODELS = (
    "popular=most_popular",
    "recent=recently_popular(days=7)",
    "item_knn=item_knn(neighbours=50)",
    "svd=svd(dim=20)",
)


def unskew(*command: str | Path) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "unskew", *map(str, command), "--quiet"], check=True)


def demo(page: Path) -> None:
    """Three recommenders in a simulated shop."""
    unskew("demo", "--html", page)


def protocols(page: Path) -> None:
    """Four models in a shop over time, by the default protocols."""
    shop = page.parent / "shop"
    size = ("--users", "4000", "--items", "600", "--days", "120", "--seed", "0")
    unskew("simulate", "shop-over-time", *size, "-o", shop)
    models = [part for model in MODELS for part in ("--model", model)]
    unskew("compare-protocols", shop / "log.parquet", *models, "--html", page)


def photograph(page: Path, size: str, picture: Path) -> None:
    """The top of a page in a headless Chromium."""
    quiet = [
        "--no-first-run",
        "--disable-background-networking",
        "--hide-scrollbars",
        f"--user-data-dir={page.parent}/chrome",
    ]
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", *quiet, f"--window-size={size}"]
    subprocess.run([*command, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True)


def main() -> None:
    """Write docs/images/report.png and docs/images/protocols.png, or those that are named."""
    for name, make, size in (("report", demo, "1200,1320"), ("protocols", protocols, "1200,1420")):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            page, picture = Path(folder) / "page.html", HERE / "images" / f"{name}.png"
            make(page)
            photograph(page, size, picture)
        print(f"wrote {picture.relative_to(HERE.parent)}")


main()
