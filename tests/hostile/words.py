"""Canonical strings and options that nobody should have to write, and pages with hostile names."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from tests.hostile.cases import Case
from tests.hostile.drafts import Draft
from tests.hostile.worlds import World, draw

BIG = (
    "100000000", "1000000", "2147483648", "9223372036854775808", "1e308", "1" * 400, "1e-308", "-1", "0", "0.5",
    "1.0000001", "nan", "inf", "x", "", "(", "'1'", "0x10", "1_0", "10@10",
)  # fmt: skip
PARTS: dict[str, tuple[str, ...]] = {
    "--metric": (
        "recall@{}", "dcg@{}", "rbp(p={})", "rbp(p={})@5", "ndcg(ideal={})@5", "ndcg(discount={})@5",
        "map(divide={})@5", "hit@{}",
        "arhr@{}", "r_precision", "mrr@{}", "cg@{}", "precision@{}", "recall", "recall@5@5", "{}", "mae", "rmse",
    ),
    "--estimator": (
        "gs(strata={})", "stratified(strata={})", "clipped(snips, at={})", "clipped(snips, quantile={})",
        "snips(over={})",
        "clipped(clipped(snips, at={}), at=0.1)", "switch(tau={})", "stratified(strata=3, mode={})", "gs({})",
        "ips", "dr", "{}",
        "stratified(shares={})",
    ),
    "--propensity": (
        "popularity(gamma={})", "uniform(p={})", "known(share={})", "known(part={})", "logistic_mf(dim={})",
        "naive_bayes({})",
        "calibrated(known, {})", "popularity(level={})", "counted({})", "logistic(features={})", "uniform", "{}",
        "calibrated(popularity(gamma={}))", "logistic_mf(dim=2, iterations={})", "popularity(gamma=auto)",
    ),
    "--outcome": (
        "means(shrink={})", "logistic_mf(dim={})", "crossfit(means, folds={})", "adam_mf(batch={})",
        "adam_mf(dim={})", "adam_mf(epochs={})", "given({})", "sklearn({})", "crossfit(crossfit(means))",
        "logistic_mf(dim=2, iterations={})", "sklearn(LogisticRegression, C={})",
        "sklearn(RandomForestClassifier, n_estimators={})", "{}", "sklearn(LogisticRegression, max_iter={})",
    ),
    "--target": ("per_user_sum(normalised={})", "pooled({})", "per_pair", "per_user_sum", "{}", "per_user"),
    "--by": ("popularity(strata={})", "relevant", "user", "item", "propensity", "rank", "{}", "time", "popularity"),
    "--model": (
        "m=factors(dim={})", "m=item_knn(neighbours={})", "m=random(seed={})", "m=mf(dim={})",
        "m=most_popular({})", "m={}", "m=factors(dim=2, sweeps={})", "m=mf(dim=2, epochs={})",
    ),
}  # fmt: skip
NOISE = (
    "(" * 300 + ")" * 300, "clipped(" * 300 + "snips" + ")" * 300, "a" * 100_000, "recall@" + "9" * 5000,
    "\x1b[31mred", "\u202e", "\u2028", "snips(over=" + "x" * 70_000 + ")", "=,=,=", "))))", "f(a=1,a=2)", "f(=)",
    "é", "\ud800x", "recall @ 10", " recall@5 ", "RECALL@5", "__import__('os')", "{x}", "[red]x[/red]",
    "../../etc/passwd", "~", "/dev/zero", "-5", "--", "f(,)", "f(1,)", "\n",
)  # fmt: skip
OPTIONS: dict[str, tuple[str, ...]] = {
    "--level": ("0", "1", "-1", "0.9999999999999999", "1e-300", "nan", "inf", "0.5", "x", "0.95 ", "2", "1e308"),
    "--replicates": ("0", "1", "-5", "2", "1000000000", "10000000000000000000000", "1e3", "x"),
    "--seed": ("-1", "18446744073709551616", "1" * 5000, "0", "x", "9223372036854775808"),
    "--threads": ("0", "-1", "1", "100000", "1000000000", "x"),
    "--share": ("0", "1", "nan", "inf", "users", "1e-320", "0.3", "x", "-0.5", "0.9999999999999999", "１"),
    "--columns": (
        "user=item", "user=user,user=item", "user=", "=user", "user=a,item=a", "x=y", ",", "user=user",
        "user=\x1b[31m", "user=" + "x" * 70_000, "item=user,user=item", "rank=propensity", "propensity=rank",
        "user==user",
    ),
    "--feedback": ("implicit", "conversions", "ratings", "x", "", "IMPLICIT", "\x1b[31m"),
    "--relevant": (">=4", ">4", "=", ">=nan", ">=inf", ">=1e308", "x", ">= 4", "<3", ">=" + "9" * 5000, "\x1b"),
    "--candidates": ("unseen", "all", "x", ""),
    "--duplicates": ("error", "first", "last", "max", "x", ""),
    "--interval": ("normal", "bootstrap", "x"),
    "--refused": ("error", "skip", "x"),
    "--invalid": ("error", "drop", "x", "\x1b[2J"),
    "--users": ("nowhere.csv", ".", "alpha.csv", "log.csv", "/dev/null", "x" * 300, "a\x1b.csv",
    "~nobody/x.csv", "loop.csv"),
    "--items": ("nowhere.csv", "log.csv", "alpha.csv", "/proc/self/mem", "loop.csv", "x" * 5000),
    "--train": ("log.csv", "alpha.csv", "nowhere", "loop.csv"),
    "--mcar": ("log.csv", "nowhere.csv", "alpha.csv"),
    "--user-features": ("log.csv", "nowhere.csv", "alpha.csv"),
    "--json": (
        "log.csv", "log.json", ".", "nowhere/r.json", "/dev/full", "r.csv", "x" * 250 + ".json", "/proc/r.json",
        "a\x1bb.json", "[red].json", "link.json", "loop.json", "~/x/r.json", "./././r2.json",
    ),
    "--csv": ("alpha.csv", "log.csv", "x" * 254 + ".csv", "link.csv", "./log.csv"),
    "--parquet": ("r.parquet", "nowhere/r.parquet", "r.csv"),
    "--html": ("r.html", "nowhere/r.html", "r", "/sys/r.html", "[v2].html"),
    "--recs": (
        "alpha=beta.csv", "beta.csv", "=beta.csv", "x=", "b=beta.csv=", "x=nowhere.csv",
        "a" * 100_000 + "=beta.csv", "\x1b[31m=beta.csv", "\u2028=beta.csv", "👩\u200d👧=beta.csv",
        "<script>=beta.csv", "\ud83d=beta.csv", "[red]=beta.csv", "=1+1=beta.csv",
    ),
    "--nonsense": ("1",),
    "--level=0.9 --level": ("0.8",),
}  # fmt: skip


def _files(world: World, folder: Path) -> list[str]:
    Draft("log", world.log).write(folder)
    Draft("train", world.train).write(folder)
    for name, table in world.lists.items():
        Draft(name, table).write(folder)
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "link.json").symlink_to("elsewhere.json")
    (folder / "link.csv").symlink_to("log.csv")
    return ["log.csv", "alpha.csv", "beta.csv", "train.csv"]


def _case(what: str, argv: list[str], inputs: list[str], written: list[str]) -> Case:
    argv = [arg.encode("utf-8", "replace").decode() for arg in argv]
    return Case(what[:200], argv, inputs, written)


def specs_case(rng: Random, folder: Path) -> Case:
    """A canonical string is spoilt: any answer, or one clear error."""
    inputs = _files(draw(rng), folder)
    option = rng.choice(list(PARTS))
    text = rng.choice(PARTS[option]).replace("{}", rng.choice(BIG)) if rng.random() < 0.75 else rng.choice(NOISE)
    argv = ["evaluate", "log.csv", "--recs=alpha=alpha.csv"]
    if option == "--outcome":
        argv += ["--estimator=direct", "--train=train.csv"]
    elif option in ("--propensity", "--model") or rng.random() < 0.2:
        argv += ["--train=train.csv"]
    if option == "--model" and "=" not in text:
        text = f"m={text}"
    argv += [f"{option}={text}", "--json=out.json"]
    return _case(f"{option}={text}", argv, inputs, ["out.json"])


def options_case(rng: Random, folder: Path) -> Case:
    """One or two options have hostile values."""
    inputs = _files(draw(rng), folder)
    argv, words, outputs = ["evaluate", "log.csv", "--recs=alpha=alpha.csv", "--propensity=known"], [], []
    for option in rng.sample(list(OPTIONS), rng.choice((1, 1, 2))):
        value = rng.choice(OPTIONS[option])
        if option == "--replicates":
            argv.append("--interval=bootstrap")
        *extra, option = option.split()
        argv += [*extra, f"{option}={value}"]
        words.append(f"{option}={value}")
        if option in ("--json", "--csv", "--parquet", "--html"):
            outputs += ["link.json", "elsewhere.json"] if value == "link.json" else [os.path.normpath(value)]
    return _case(" ".join(words), argv, inputs, [name for name in outputs if "/" not in name])
