"""The page in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from unskew.report import page
from unskew.result import Result

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def browser() -> str:
    """A headless browser; its absence is an error where everything is required."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("UNSKEW_REQUIRE") == "all":
            pytest.fail("no chromium on PATH, and UNSKEW_REQUIRE=all wants it")
        pytest.skip("no chromium on PATH")
    return found


def visit(browser: str, folder: Path, text: str, *options: str) -> str:
    (folder / "page.html").write_text(text, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = [browser, *flags, f"--user-data-dir={folder / 'profile'}", *options, (folder / "page.html").as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout


def test_the_page_loads_in_a_browser(browser: str, two: Result, tmp_path: Path) -> None:
    """The browser sees the headline, every section, and a chart in each."""
    seen = visit(browser, tmp_path, page(two), "--dump-dom")
    assert two.headline()["title"] in re.sub(r"<[^>]*>", "", seen)
    for section in ("differences", "estimates", "change", "weights", "tables", "inputs", "glossary"):
        assert f'<section id="{section}">' in seen
    assert seen.count('role="img"') == 5


def test_hostile_names_run_nothing(browser: str, hostile: Result, tmp_path: Path) -> None:
    """No script element exists once the browser has parsed names that look like one."""
    seen = visit(browser, tmp_path, page(hostile), "--dump-dom")
    assert "<script" not in seen and "&lt;script&gt;" in seen


def test_the_policy_of_a_page_runs_no_script(browser: str, two: Result, tmp_path: Path) -> None:
    """Even one that stands in the page: without the policy it runs, with it it does not."""
    script = "<script>document.body.className = 'ran'</script></body>"
    text = page(two).replace("</body>", script)
    assert 'class="ran"' not in visit(browser, tmp_path, text, "--dump-dom")
    bare = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text)
    assert 'class="ran"' in visit(browser, tmp_path, bare, "--dump-dom")


@pytest.mark.parametrize("width", [500, 1200])
def test_the_page_draws(browser: str, many: Result, tmp_path: Path, width: int) -> None:
    """A screenshot has the size of the window, and something on it."""
    shot = tmp_path / "shot.png"
    visit(browser, tmp_path, page(many), f"--screenshot={shot}", f"--window-size={width},1600", "--hide-scrollbars")
    image = shot.read_bytes()
    assert struct.unpack(">II", image[16:24]) == (width, 1600)
    assert len(image) > 30_000
