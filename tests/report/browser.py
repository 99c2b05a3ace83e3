"""Pages in a headless Chromium that reaches no network, each in frames as wide as a desktop, a tablet and a phone."""

from __future__ import annotations

import html
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WIDTHS = (1280, 768, 390)
OFFLINE = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--virtual-time-budget=600000",
)  # fmt: skip
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
MEASURE = Path(__file__).with_name("measure.js")


def measured(
    chromium: str,
    folder: Path,
    pages: Mapping[str, str],
    *,
    widths: Sequence[int] = WIDTHS,
    dark: bool = False,
    axe: str = "",
) -> list[dict[str, Any]]:
    """What ``measure.js`` finds on each page at each width: one record each.

    Args:
        pages: HTML by name.
        dark: whether the reader prefers dark colours.
        axe: the source of axe-core, whose findings are added.
    """
    frames = [
        f'<iframe data-name="{html.escape(name)}" width="{width}" height="900" style="border:0" '
        f'srcdoc="{html.escape(POLICY.sub("", text))}"></iframe>'
        for name, text in pages.items()
        for width in widths
    ]
    source = json.dumps(axe).replace("</", "<\\/")
    script = f"const AXE = {source};\n{MEASURE.read_text()}"
    wrapper = folder / "frames.html"
    wrapper.write_text(
        f"<!doctype html><title>frames</title><body>{''.join(frames)}<pre id='found'></pre>"
        f"<script>{script}</script></body>"
    )
    seen = _dumped(chromium, wrapper, f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    found = re.search(r'<pre id="found">(.*?)</pre>', seen, re.DOTALL)
    assert found is not None and found[1], "the browser did not finish"
    return list(json.loads(html.unescape(found[1])))


def dumped(chromium: str, folder: Path, text: str) -> str:
    """A page as the browser has it once it is loaded."""
    (folder / "page.html").write_text(text, encoding="utf-8")
    return _dumped(chromium, folder / "page.html")


def _dumped(chromium: str, page: Path, *options: str) -> str:
    command = [chromium, *OFFLINE, *options, f"--user-data-dir={page.with_name('profile')}", "--dump-dom"]
    return subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=600, check=True).stdout
