"""What was read, dropped and refused, a line each."""

from __future__ import annotations

from typing import Any

from unskew.report import numbers
from unskew.report.names import clean
from unskew.report.view import View, grouped


def read(view: View) -> list[str]:
    """What was read, and what was dropped of it, a line per input."""
    inputs = view.result.inputs
    accounts = {name: inputs.get(name) for name in ("log", "test", "train", "population")}
    accounts |= dict(inputs.get("models", {}))
    lines = []
    for name, account in accounts.items():
        if not isinstance(account, dict) or "source" not in account:
            continue
        lines.append(f"{clean(name)} ({clean(account.get('model') or account['source'])}): {_rows(account)}")
    if answers := inputs.get("answers"):
        told = f"{numbers.count(answers['answered'])} of {numbers.count(answers['asked'])} questions answered"
        positive = f"{numbers.count(answers['positive'])} positive"
        lines.append(f"answers ({clean(answers['source'])}): {_rows(answers)}; {told}, {positive}")
        for name in ("propensities_by_answers", "exposure_by_answers"):
            if name in answers:
                lines.append(clean(answers[name]["said"]))
    if sample := inputs.get("sample"):
        drawn = f"{numbers.count(sample['repeats'])} × {numbers.count(sample['rows_per_draw'])} rows"
        in_any = f"{numbers.count(sample['rows_in_any_draw'])} of {numbers.count(sample['rows'])} rows in any of them"
        lines.append(f"samples of the test log ({clean(sample['strategy'])}): {drawn}, {in_any}")
    if outcome := inputs.get("outcome"):
        table = f", {_rows(outcome['table'])}" if "table" in outcome else ""
        guess, brought = (numbers.number(outcome.get(name)) for name in ("mean", "mean_outcome"))
        means = f"mean guess {guess}, mean outcome {brought} of the seen pairs"
        said = f"{outcome['how']}{table}{_unknown(outcome)}; {means}"
        lines.append(f"outcome model ({clean(outcome['model'])}): {said}")
    return lines


def _rows(account: dict[str, Any]) -> str:
    """How many rows an input has, and how many of them were dropped, by reason."""
    return ", ".join([f"{numbers.count(account['rows'])} rows", *dropped(account)])


def dropped(account: dict[str, Any]) -> list[str]:
    """One text about the rows that were dropped, by reason; none where there are none."""
    reasons = ", ".join(f"{numbers.count(n)} × {clean(why)}" for why, n in account.get("dropped", {}).items())
    return [f"dropped {reasons}"] if reasons else []


def _unknown(outcome: dict[str, Any]) -> str:
    """Of how many pairs the outcome model knew too little."""
    if not (outcome["unknown"] or outcome["listed_unknown"]):
        return ""
    rows, listed = (
        f"{numbers.count(outcome[part])} of {numbers.count(outcome[whole])}"
        for part, whole in (("unknown", "rows"), ("listed_unknown", "listed"))
    )
    return f", {rows} rows and {listed} listed pairs unknown to it"


def refused(view: View) -> list[str]:
    """What the log cannot support, and why; cells with one reason stand together."""
    cells = view.result.inputs.get("refused", ())
    reasons = grouped((cell["reason"], f"{cell['metric']} × {cell['estimator']} × {cell['target']}") for cell in cells)
    return [f"{', '.join(named)}: {reason}" for reason, named in reasons.items()]
