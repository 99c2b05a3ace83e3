"""Ctrl-C ends ``unskew reproduce saito20`` while candidates learn, and keeps what was finished."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# The command on small worlds. The first unit is there at once; candidates of all others learn for long, and write a
# line when they begin.
RUN = """
import sys
from functools import partial

from papers.tests.saito20_worlds import small_ratings, small_real
from unskew.__main__ import main
from unskew_papers.models import Factors
from unskew_papers.saito20 import figure2, real, semi, study, table4
from unskew_papers.saito20.candidates import Training
from unskew_papers.saito20.setting import Setting

diary = sys.argv.pop(1)
fit, lists, runs = Factors.fit, Setting.lists, {semi: semi.one_run, real: real.one_run}

def noted(model, log):
    with open(diary, "a") as file:
        file.write("learning\\n")
    return fit(model, log)

def one_run(kind, *arguments):
    first = arguments[1] == semi.POWERS[0] if kind is semi else arguments[1] == 0
    return {"nothing": 0} if first else runs[kind](*arguments)

def no_lists_at_first(setting, power, *rest):
    return None if power == semi.POWERS[0] else lists(setting, power, *rest)

Factors.fit, Setting.lists = noted, no_lists_at_first
semi.one_run, real.one_run = (partial(one_run, kind) for kind in (semi, real))
figure2.QUICK = table4.QUICK = Training(epochs=10**5, dims=(3,))
study.Setting = lambda store, workers: Setting(store, small_ratings, small_real, workers=workers)
main()
"""


@pytest.mark.parametrize(("experiment", "workers"), [("figure2a", 1), ("figure2a", 2), ("table4", 1), ("table4", 2)])
def test_ctrl_c_ends_a_study_and_keeps_what_is_finished(tmp_path: Path, experiment: str, workers: int) -> None:
    """A real process. All workers are in the midst of candidates that would take days: whoever waits for one fails."""
    diary, store = tmp_path / "diary", tmp_path / "store"
    command = ["reproduce", "saito20", experiment, "--quick", "--workers", str(workers), "--store", str(store)]
    running = subprocess.Popen(
        [sys.executable, "-c", RUN, str(diary), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # some shells ignore it for their children
    )
    try:
        began = time.monotonic()
        while not (diary.exists() and diary.read_text().count("learning") == workers):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() - began < 600.0, "waited in vain for the candidates"
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=240)  # days, if anybody waits
    finally:
        running.kill()
    assert running.returncode == 130 and out == ""
    assert len(err.strip().splitlines()) == 1 and "Traceback" not in err
    assert len(list(store.rglob("*.unit"))) == 1
