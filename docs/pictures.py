"""Make the pictures of pages in docs/images (``make pictures``), all of them or those whose kinds are named.

    python docs/pictures.py [KIND …]

``report.png`` and ``protocols.png`` are the tops of two pages. ``pages/KIND-light.webp`` and ``pages/KIND-dark.webp``
show the top of each kind of page (docs/pages.py) as wide as a desktop, a tablet and a phone: 1280, 768 and 390 pixels.
"""

from __future__ import annotations

import html
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import main as make_pages

IMAGES = Path(__file__).parent / "images"
WIDTHS, HEIGHT, GAP, SCALE = (1280, 768, 390), 1000, 30, 0.4
TOPS = {"demo": ("report.png", "1200,1320"), "protocols": ("protocols.png", "1200,1420")}


def photograph(page: Path, size: str, picture: Path, *more: str) -> None:
    """The top of a page in a headless Chromium."""
    quiet = ("--no-first-run", "--disable-background-networking", "--hide-scrollbars")
    own = (f"--user-data-dir={page.parent}/chrome", f"--window-size={size}", f"--screenshot={picture}")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", *quiet, *own, *more, page.as_uri()]
    subprocess.run(command, check=True, capture_output=True)
    print(f"wrote {picture.relative_to(IMAGES.parents[1])}")


def side_by_side(page: Path) -> Path:
    """A page with frames of all widths."""
    text = html.escape(page.read_text(encoding="utf-8"))
    look = f"border:0;height:{HEIGHT}px;margin-right:{GAP}px"
    frames = "".join(f'<iframe scrolling="no" width="{w}" style="{look}" srcdoc="{text}"></iframe>' for w in WIDTHS)
    frame = page.with_name(f"{page.stem}-frames.html")
    frame.write_text(
        f'<!doctype html><body style="margin:0;background:#8885;white-space:nowrap;font-size:0">{frames}</body>',
        encoding="utf-8",
    )
    return frame


def main() -> None:
    """Make the pages, and photograph them."""
    (IMAGES / "pages").mkdir(exist_ok=True)
    size = f"{sum(WIDTHS) + GAP * (len(WIDTHS) - 1)},{HEIGHT}"
    with tempfile.TemporaryDirectory() as folder:
        for kind, page in make_pages(Path(folder), sys.argv[1:]).items():
            if kind in TOPS:
                photograph(page, TOPS[kind][1], IMAGES / TOPS[kind][0])
            for scheme, number in (("light", 1), ("dark", 0)):
                looks = (f"--blink-settings=preferredColorScheme={number}", f"--force-device-scale-factor={SCALE}")
                photograph(side_by_side(page), size, IMAGES / "pages" / f"{kind}-{scheme}.webp", *looks)


main()
