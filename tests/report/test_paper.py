"""Tables for papers: nothing a name holds becomes a command, every number is the result's, every mark is there."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.said import only
from unskew.core.notice import Notice, codes
from unskew.estimators import Standing
from unskew.report import latex, page
from unskew.report.numbers import number
from unskew.report.paper import PaperCell, PaperTable, result_table
from unskew.report.words import AS_IT_IS, NOT_DEBIASED
from unskew.result import Result

from .made_up import HOSTILE, INPUTS, NAN, estimate, traits, verdict
from .over_scenarios import ASSUMED, TURNS, over

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def cells(table: PaperTable) -> dict[str, tuple[PaperCell, ...]]:
    return {row[0].text: row[1:] for row in table.rows}


def depth(text: str) -> int:
    """How many braces are open at the end; never fewer than none."""
    level = 0
    for sign in re.sub(r"\\.", "", text):
        level += {"{": 1, "}": -1}.get(sign, 0)
        assert level >= 0
    return level


def check_latex(text: str, columns: int) -> None:
    """What pdfLaTeX would stumble over: open braces or environments, stray specials, rows of another length."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    body = "\n".join(lines)
    assert depth(body) == 0
    begun = re.findall(r"\\(begin|end)\{(\w+)\}", body)
    stack: list[str] = []
    for what, name in begun:
        if what == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    bare = re.sub(r"\\[#$%&_{}]", "", body)  # what is escaped
    bare = re.sub(r"\$(?:-|\\[A-Za-z]+|\^\\circ)\$", "", bare)  # our own formulas
    assert not set("#%^") & set(bare) and "$" not in bare
    assert "_" not in bare.replace("\\begin", "").replace("\\end", "")
    assert all(letter.isascii() or letter in latex._LETTERS for letter in body)
    inside = body.split("\\midrule\n")[1].split("    \\bottomrule")[0]
    for row in inside.splitlines():
        assert row.endswith(" \\\\") and not row.strip().startswith("[")
        assert len(re.findall(r"(?<!\\)&", row)) == columns - 1


@given(NAMES, NAMES)
def test_latex_compiles_whatever_names_hold(a: str, b: str) -> None:
    if a == b:
        return
    result = Result(
        (estimate(a, 0.2), estimate(b, 0.1)), (verdict(a, b, 0.1),), (), INPUTS,
        (Notice(f"{a} is odd: 100 %_", code="odd"),),
        traits=traits(["recall@10"]),
    )  # fmt: skip
    check_latex(result.to_latex(), 2)


@pytest.mark.parametrize(
    "name", [HOSTILE, "[1] a", "\\end{table}", "a_b^c~d", "50 %", "x\ny", "中文", "a--b", "$x$", "{", "&"]
)
def test_hostile_names_stay_in_their_cells(name: str) -> None:
    result = Result((estimate(name, 0.2),), (), (), INPUTS, (), traits=traits(["recall@10"]))
    check_latex(result.to_latex(), 2)
    rows = [line for line in result.to_markdown().splitlines() if line.startswith("|")]
    assert len(rows) == 3 and all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    assert "<script" not in result.to_markdown()


def test_the_best_is_bold_and_what_is_behind_it_marked() -> None:
    """Two that are not told apart carry no dagger."""
    rows = estimate("a", 0.20), estimate("b", 0.19), estimate("c", 0.10)
    pairs = verdict("a", "b", 0.01, 0.02), verdict("a", "c", 0.1, 0.02), verdict("b", "c", 0.09, 0.02)
    table = result_table(Result(rows, pairs, (), INPUTS, (), traits=traits(["recall@10"])))
    found = cells(table)
    assert found["a"][0] == PaperCell("0.200 [0.190, 0.210]", True, "")
    assert found["b"][0].marks == "" and found["c"][0].marks == "†" and not found["c"][0].best
    for told in ("95\u00a0%", "snips", "pooled", "known", "5,412", "1,800 users", "†"):
        assert told in table.caption
    only("behind", [table.caption], comparisons=3)


def test_answers_are_called_so() -> None:
    """Not held-out interactions: on the page, in its facts, and in the caption of a paper."""
    rows = tuple(estimate(m, 0.2, standing=Standing.ANSWERED, interactions=185) for m in "ab")
    result = Result(rows, (verdict("a", "b", 0.0, standing=Standing.ANSWERED),), (), INPUTS, ())
    for text in (result_table(result).caption, page(result)):
        assert "185 answers" in text and "185 held-out" not in text
    mixed = result_table(replace(result, estimates=(*rows, estimate("a", 0.2, metric="dcg@10")))).caption
    assert "185 answers and 5,412 held-out" in mixed


def test_refused_doubtful_and_not_debiased_numbers_stay_so(naive_only: Result, two: Result) -> None:
    rows = estimate("a", NAN, low=NAN, high=NAN, trust="no value: only 3 answers."), estimate("b", 0.1, trust="weak.")
    table = result_table(Result(rows, (), (), INPUTS, two.warnings))
    assert cells(table)["a"][0] == PaperCell("–", False, "a") and cells(table)["b"][0].marks == "b"
    assert table.notes == (("a", "No value: only 3 answers."), ("b", "Weak."), ("!", two.warnings[0]))
    assert codes([result_table(naive_only).caption])[0] == "not-debiased"
    for text in (naive_only.to_latex(), naive_only.to_markdown()):
        assert AS_IT_IS in " ".join(text.split()) and f"({NOT_DEBIASED.lower()})" in text
    text = two.to_markdown()
    assert two.verdicts_[1].trust in text and two.warnings[0] in text and "<sup>†a</sup>" in text


def test_scenarios_are_told_as_ranges() -> None:
    table = result_table(over(TURNS))
    assert {"averages", "depends"} <= {*codes([table.caption])} and "‡" in table.caption
    assert {cell.marks for row in cells(table).values() for cell in row} == {"", "‡"}
    assert f", if {ASSUMED}" in table.caption


def test_numbers_equal_those_of_the_json_to_the_digits_shown(many: Result) -> None:
    """LaTeX, Markdown, terminal and the flat names."""
    everything = json.loads(json.dumps(many.to_dict()))
    shown = {(r["metric"], r["model"]): r for r in everything["leaderboard"] if r["target"] == "per_user"}
    for text in map(str, (many.to_latex(), many.to_markdown())):
        text = text.replace("{[}", "[").replace("{]}", "]").replace("\\[", "[").replace("\\]", "]")
        found = re.findall(r"(\d\.\d+) \[(\d\.\d+), (\d\.\d+)\]", text)
        assert len(found) == len(shown) == 12
        for row in shown.values():
            digits = len(found[0][0].split(".")[1])
            assert tuple(number(row[key], digits) for key in ("value", "low", "high")) in found
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(many)
    terminal = console.file.getvalue()  # type: ignore[attr-defined]
    for row in shown.values():
        low, high = (number(row[key], digits) for key in ("low", "high"))
        assert re.search(rf"{number(row['value'], digits)} +\[{low}, {high}\]", terminal)
    flat = many.metrics()
    for row in everything["estimates"]:
        marked = "not_debiased/" if row["estimator"] == "naive" else ""
        name = "/".join(row[key] for key in ("metric", "estimator", "target", "model"))
        name = re.sub(r"[^\w./-]+", "_", name.replace("@", "_at_")).replace("_/", "/")
        for key in ("value", "low", "high"):
            assert flat[f"{marked}{name}/{key}"] == row[key]


def test_values_without_an_interval_are_told_apart(two: Result) -> None:
    rows = tuple(replace(e, low=0.0, high=0.02, value=0.0, hits=0, se=math.nan) for e in two.estimates[2:])
    table = result_table(replace(two, estimates=rows, verdicts_=()))
    assert cells(table)["popular"][0].text == "0.000 (≤ 0.020)"


def test_notes_are_for_readers_without_the_files() -> None:
    """Names of files without their folders, no advice on options, and averages only where values are some."""
    result = over(TURNS)
    texts = "/home/ann/test.parquet: 3 were lost. Give them with share=0.3, or --share 0.3.", "Use train=… instead."
    warned = replace(result, warnings=tuple(Notice(text, code="lost") for text in texts))
    assert [text for _, text in result_table(warned).notes] == ["test.parquet: 3 were lost."]
    ratio = estimate("als", 0.2, metric="ndcg@10", estimator="naive", target="per_user")
    both = replace(result, estimates=(*result.estimates, ratio, replace(ratio, model="popular", value=0.1)))
    captions = [result_table(shown).caption for shown in (both, result)]
    assert captions[0].count("recall@10") > captions[1].count("recall@10")
    for caption in captions:
        only("averages", [caption], averaged=["recall@10"])
