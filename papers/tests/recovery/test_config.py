"""Studies from files: the printed example works, and whatever is wrong is told with its place."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import polars as pl
import pytest
from tests.cli.commands import code_of
from tests.said import refuses
from typer.testing import CliRunner

import unskew as us
from papers.tests.recovery.kills import CONFIG, survives
from papers.tests.recovery.small import MODELS, QUESTIONS, ratings, write
from unskew import InputError
from unskew.cli import app
from unskew_papers.recovery import Paired, study
from unskew_papers.recovery.config import EXAMPLE, StudyConfig, read_config

run = CliRunner().invoke


def given(folder: Path, text: str) -> Path:
    write(folder)
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_is_printed_and_can_be_read(tmp_path: Path) -> None:
    """Its data set apart, which may not be on this machine."""
    printed = run(app, ["study", "--example"]).output
    assert printed == EXAMPLE
    files = printed.replace('dataset = "coat"', 'log = "chosen.parquet"\nrandom = "random.parquet"')
    found = read_config(given(tmp_path, files))
    assert list(found.models) == ["popular", "neighbours", "wmf(dim=10)", "wmf(dim=50)"]
    assert [question.name for question in found.questions] == ["popularity", "path"]


def test_a_study_from_a_file(tmp_path: Path) -> None:
    """Outputs, and paths that are relative to the file."""
    path = given(tmp_path, CONFIG.replace("seeds = 3", "seeds = 2"))
    out = [f"--{kind}={tmp_path / f'out.{kind}'}" for kind in ("json", "csv", "html")]
    done = run(app, ["study", str(path), "--store", str(tmp_path / "store"), "--workers", "1", *out])
    assert done.exit_code == 0, done.output
    assert "Kendall's τ" in done.output
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["models"] == ["popular", "knn(neighbours=2)", "knn(neighbours=5)", "knn(neighbours=10)", "chance"]
    assert content["draws"] == ["seed 0", "seed 1"]
    page = (tmp_path / "out.html").read_text()
    assert "<svg" in page


@pytest.mark.parametrize(
    ("change", "code", "section"),
    [
        (("[data]", "[dat]"), "unknown-name", ""),
        (("seeds", "seed"), "unknown-name", "study"),
        (('random = "random.parquet"', ""), "no-random-sample", "data"),
        (('log = "chosen.parquet"', 'dataset = "coat"\nlog = "chosen.parquet"'), "missing-argument", "data"),
        (('popular = "most_popular"', 'popular = "most_poplar"'), "unknown-name", "models"),
        (('popular = "most_popular"', "popular = 3"), "wrong-type", "models"),
        (('popular = "most_popular"', 'popular = { class = "no.such:Class" }'), "module-not-allowed", "models.popular"),
        (('popular = "most_popular"', 'popular = { lists = "a.csv", rank = 1 }'), "unknown-name", "models.popular"),
        (('"naive", "snips"', '"naive", "snipes"'), "unknown-name", "questions.popularity"),
        (("propensity =", "propensities ="), "unknown-name", "questions.popularity"),
        (('propensity = "popularity(gamma=1)"', "verdicts = 1"), "wrong-type", "questions.popularity"),
        (("likes = true", 'likes = "yes"'), "wrong-type", "data"),
        (('relevant = ">=4"', "relevant = 4"), "wrong-type", "data"),
        (('relevant = ">=4"\n', 'relevant = ">=4"\nsplit = "halves"\n'), "unknown-name", "data"),
        (("[models]", "[models"), "unreadable-file", None),
        (('log = "chosen', 'columns = { user = "customer" }\nlog = "chosen'), "missing-column", "data"),
        (('log = "chosen', 'columns = { user = "users" }\nlog = "chosen'), "missing-column", "data"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, change: tuple[str, str], code: str, section: str | None
) -> None:
    path = given(tmp_path, CONFIG.replace(*change, 1))
    with refuses(code) as error:
        read_config(path)
    assert error.value.fields.get("section") == section
    assert "study.toml" in str(error.value)


def test_an_option_of_worlds_that_is_not_known_is_named(tmp_path: Path) -> None:
    path = given(tmp_path, EXAMPLE.replace('dataset = "coat" ', "world = { users = 50, item = 9 } "))
    path.write_text(re.sub("(?m)^(relevant|likes|split) = .*", "", path.read_text()))
    with refuses("unknown-name", section="data.world"):
        read_config(path)


def test_files_of_other_people(tmp_path: Path) -> None:
    """Other column names; wrong and repeated rows are an error that says what to write, then dropped and counted."""
    path = given(tmp_path, CONFIG.replace("seeds = 3", "seeds = 2"))
    for name in ("chosen", "random"):
        rows = pl.read_parquet(tmp_path / f"{name}.parquet").rename({"user": "who", "item": "what", "value": "stars"})
        wrong = rows.head(1).with_columns(who=pl.lit(None, rows["who"].dtype))
        pl.concat([rows, rows.head(2), wrong]).write_parquet(tmp_path / f"{name}.parquet")

    def read(keys: str) -> StudyConfig:
        path.write_text(CONFIG.replace("seeds = 3", "seeds = 2").replace("[data]", f"[data]\n{keys}"))
        return read_config(path)

    names = 'columns = { user = "who", item = "what", value = "stars" }'
    for keys, remedy in ((names, 'invalid = "drop"'), (f'{names}\ninvalid = "drop"', 'duplicates = "first"')):
        with pytest.raises(InputError, match=remedy):
            read(keys)
    read(f'{names}\ninvalid = "drop"\nduplicates = "first"')
    done = run(app, ["study", str(path), "--store", str(tmp_path / "store"), "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert all(note in done.output for note in read_config(path).source.notes)


def test_a_file_that_is_not_there() -> None:
    with refuses("missing-file"):
        read_config("no/such.toml")
    assert "--example" in run(app, ["study"]).output


def test_lists_made_elsewhere_are_read_per_draw(tmp_path: Path) -> None:
    """A missing one is a clear error before anything is fitted."""
    path = given(tmp_path, CONFIG.replace('chance = "random"', 'mine = { lists = "mine-{seed}.csv" }'))
    done = run(app, ["study", str(path), "--store", str(tmp_path / "store")])
    assert done.exit_code == 2
    told = re.sub(r"[\s│]", "", done.output)
    assert "mine-0.csv" in told, told


OUTSIDE = """
print("the module was imported")
class Mine:
    def fit(self, log):
        self.items = log.items
        return self
    def recommend(self, users, k, *, seen=None):
        from papers.tests.recovery.small import Backwards
        return Backwards().fit(self).recommend(users, k, seen=seen)
"""


def test_a_file_runs_no_code_unless_the_command_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is not even imported before it is named."""
    (tmp_path / "outside.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = given(tmp_path, CONFIG.replace('chance = "random"', 'mine = { class = "outside:Mine" }'))
    asked = ["study", str(path), "--store", str(tmp_path / "store"), "--workers", "1"]
    for more in ((), ("--module", "outsider"), ("--module", "outside.deeper")):
        done = run(app, [*asked, *more])
        assert done.exit_code == 2 and "was imported" not in done.output
        assert "--module outside." in " ".join(done.output.replace("│", "").split())
    assert not (tmp_path / "store").exists()
    done = run(app, [*asked, "--module", "outside"])
    assert done.exit_code == 0 and "was imported" in done.output
    for odd in ("antigravity:x", ":", "", "os:system", "__main__:x"):
        path.write_text(CONFIG.replace('chance = "random"', f'mine = {{ class = "{odd}" }}'))
        with refuses("module-not-allowed"):
            read_config(path)


LISTS = """
[data]
log = "chosen.csv"
random = "random-*.csv"
relevant = ">=4"
[study]
seeds = [3]
metrics = ["recall@5"]
[models]
popular = "most_popular"
mine = { lists = "mine-{seed}.csv" }
[questions.counted]
estimators = ["naive", "snips"]
propensity = "counted(popularity(gamma=1), train=train.csv)"
"""


@pytest.mark.parametrize(
    "output",
    ["--csv=chosen.csv", "--csv=random-1.csv", "--csv=./mine-3.csv", "--csv=train.csv", "--csv=link.csv",
     "--json=study.json", "--html=other.html"],
)  # fmt: skip
def test_no_input_of_a_study_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    """Logs, those that a pattern names, lists, files in canonical strings, links, and the file itself."""
    monkeypatch.chdir(tmp_path)
    chosen, random = ratings()
    chosen.write_csv("chosen.csv")
    random.write_csv("random-1.csv")
    chosen.select("user", "item").write_csv("train.csv")
    (tmp_path / "link.csv").symlink_to("mine-3.csv")
    (tmp_path / "other.html").symlink_to("chosen.csv")
    lists = chosen.sort("user", "item").with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    lists.select("user", "item", "rank").write_csv("mine-3.csv")
    (tmp_path / "study.json").write_text(LISTS)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    asked = ["study", "study.json", "--store", "store", "--workers", "1"]
    done = run(app, [*asked, output])
    assert done.exit_code == 2, done.output
    assert code_of(done.output) == "output-is-input"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    if output == "--csv=chosen.csv":
        done = run(app, [*asked, "--csv=out.csv"])
        assert done.exit_code == 0, done.output
        assert (tmp_path / "out.csv").exists()


def test_a_result_of_python_does_not_replace_what_it_was_made_of(tmp_path: Path) -> None:
    chosen, random = write(tmp_path)
    log, other = (us.read_log(path, feedback="ratings") for path in (chosen, random))
    found = study(Paired(log, other, relevant=">=4"), MODELS[:2], QUESTIONS[:1], metrics="recall@5", seeds=1)
    with refuses("output-is-input"):
        found.to_parquet(random)
    found.to_parquet(tmp_path / "out.parquet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes there")
@pytest.mark.parametrize("place", ["study", "log", "lists", "saved"])
@pytest.mark.parametrize("what", ["pipe", "zero", "folder", "large", "nothing"])
def test_what_is_no_plain_file_is_not_waited_for(tmp_path: Path, place: str, what: str) -> None:
    path = given(tmp_path, CONFIG)
    odd = tmp_path / ("odd.toml" if place == "study" else "odd.csv")
    if what == "pipe":
        os.mkfifo(odd)
    elif what == "zero":
        odd.symlink_to("/dev/zero")
    elif what == "folder":
        odd.mkdir()
    elif what == "large":
        odd.write_bytes(b"# comment\n" * 30_000)
    if place == "log":
        path.write_text(CONFIG.replace("chosen.parquet", odd.name))
    elif place in ("lists", "saved"):
        path.write_text(CONFIG.replace('chance = "random"', f'chance = {{ {place} = "{odd.name}" }}'))
    if what == "large" and place in ("lists", "saved"):
        return  # found out when it is read
    with pytest.raises(InputError, match=r"odd\.(toml|csv)"):
        read_config(odd if place == "study" else path)


HOSTILE = (
    "nan", "inf", "-1", "1.5", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "18446744073709551616",
    "0x" + "f" * 5000, "1" + "0" * 5000, '""', '"x"', '"\\u0000"', "[]", '["x"]', "[[[[1]]]]", "{a=1}", "[nan]",
    "[1,1]", "[" * 5000 + "]" * 5000, '"/dev/zero"', '"/dev/null"', '"."', '"x\\u001b[31m"', '"' + "y" * 5000 + '"',
    '["recall@5","mae"]', "[1979-05-27]", "[0xffffffffffffffffffffffffffffff]", '"(((("', '"recall@5', "{" * 900,
    "a.b.c", "true true", "0.5.5",
)  # fmt: skip
KEYS = {
    "data": ("log", "random", "relevant", "likes", "split", "columns", "feedback", "invalid", "duplicates", "dataset"),
    "data.world": ("users", "items", "seed", "relevant", "impressions", "skew", "agreement", "test_share", "feedback",
                   "catalogue", "graded"),
    "study": ("seeds", "metrics", "target", "candidates", "keep_lists"),
    "models": ("chance", "chance.model", "chance.class", "chance.options", "chance.lists", "chance.saved"),
    "questions.popularity": ("estimators", "propensity", "outcome", "target", "metrics", "likes", "verdicts", "random",
                             "options"),
    "questions.popularity.options": ("candidates", "drop_seen", "in_sample", "interval", "level", "refit", "repeats",
                                     "replicates", "sample", "sample_size", "seed", "share", "by", "users"),
}  # fmt: skip
FINE = {
    "agreement": ("-1",), "skew": ("1.5",), "relevant": ("1.5",), "impressions": ("1.5", HOSTILE[7]),
}  # fmt: skip


def with_value(section: str, key: str, value: str) -> str:
    """The study with another value for a key, and without what would stand beside it."""
    text = CONFIG
    if section == "data.world":
        fine = {"users": "50", "items": "40", "relevant": "9", "impressions": "20"} | {key: value}
        world = ", ".join(f"{name} = {each}" for name, each in fine.items())
        return f"[data]\nworld = {{ {world} }}\n[study]{text.partition('[study]')[2]}"
    if key == "dataset":
        text = re.sub(r"(?m)^(log|random) = .*$", "", text)
    if section == "models":
        text = text.replace('chance = "random"', "")
        key = f'chance.model = "wmf"\n{key}' if key == "chance.options" else key
    if section == "questions.popularity.options":
        return f"{text}[{section}]\n{key} = {value}\n"
    start, header, rest = text.partition(f"[{section}]\n")
    rest = re.sub(rf"(?m)^{re.escape(key)} = .*\n", "", rest, count=1)
    return f"{start}{header}{key} = {value}\n{rest}"


@pytest.mark.parametrize(("section", "key"), [(section, key) for section, keys in KEYS.items() for key in keys])
def test_whatever_a_key_is_set_to_is_refused_with_its_place(tmp_path: Path, section: str, key: str) -> None:
    """Never a traceback, never a long wait; the file is named, and the section or TOML itself."""
    path = given(tmp_path, "")
    for value in HOSTILE:
        if value in FINE.get(key, ()) and section == "data.world":
            continue
        path.write_text(with_value(section, key, value), encoding="utf-8")
        started = time.monotonic()
        with pytest.raises(InputError) as error:
            read_config(path)
        assert time.monotonic() - started < 20.0
        told = str(error.value)
        assert error.value.code == "unreadable-file" or error.value.fields["section"] is not None
        assert told.startswith(str(path))
        assert len(told) < 2500 and "--example" in told and told.replace("\n", "").isprintable()


def test_names_of_endless_depth_take_no_time(tmp_path: Path) -> None:
    for text in ("a." * 100_000 + "a = 1", "[" + "a." * 100_000 + "a]"):
        with refuses("unreadable-file"):
            read_config(given(tmp_path, text))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are a thing of Unix")
def test_a_killed_study_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """``python -m papers.tests.recovery.kills 20`` tries it more often, and with two processes."""
    same, _ = survives(tmp_path, kills=1, workers=1)
    assert same
