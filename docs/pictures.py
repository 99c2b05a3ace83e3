"""Make the README's picture: the page of ``unskew demo`` in a headless Chromium (``make pictures``)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SIZE = "1200,1320"


def main() -> None:
    """Write docs/images/report.png."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        subprocess.run([sys.executable, "-m", "unskew", "demo", "--quiet", "--html", str(page)], check=True)
        quiet = [
            "--no-first-run",
            "--disable-background-networking",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/chrome",
        ]
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", *quiet, f"--window-size={SIZE}"]
        picture = HERE / "images" / "report.png"
        subprocess.run([*command, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True)
    print(f"wrote {picture.relative_to(HERE.parent)}")


main()
