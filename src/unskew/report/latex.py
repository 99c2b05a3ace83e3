"""Tables for a paper as LaTeX with booktabs, which compile whatever names hold.

The ten special characters are escaped; brackets are put in braces, since a row that began with ``[`` would be taken for
an option of the line break before it; signs of ours become commands; any other character that pdfLaTeX does not know is
written as its number unless ``unicode`` keeps it, which a comment says.
"""

from __future__ import annotations

from collections.abc import Sequence

from unskew.report.paper import PaperCell, PaperTable

_COMMANDS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"{\char34}", "[": "{[}", "]": "{]}",
    "−": "$-$", "–": "--", "—": "---", "…": r"\ldots{}", "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$",
    "∞": r"$\infty$", "±": r"$\pm$", "×": r"$\times$", "→": r"$\to$", "√": r"$\surd$", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "§": r"\S{}", "°": r"$^\circ$", "Γ": r"$\Gamma$", "τ": r"$\tau$", "γ": r"$\gamma$",
    "α": r"$\alpha$", "Δ": r"$\Delta$", "\u00a0": "~", "\u202f": "~", "“": "``", "”": "''", "‘": "`", "’": "'",
}  # fmt: skip
_NUMBER = "{[}U+"
NUMBERED = (
    "% {[}U+...{]} are characters that pdfLaTeX lacks; to_latex(unicode=True) keeps them, for XeLaTeX or LuaLaTeX\n"
)
_LETTERS = {chr(code) for code in range(0xC0, 0x100)} - set("ÐðÞþ×÷")  # that the usual font encoding has


def latex(tables: Sequence[PaperTable], *, unicode: bool = False) -> str:
    """The tables below each other, each a float of its own."""
    body = "\n".join(_table(table, unicode) for table in tables)
    numbered = NUMBERED if _NUMBER in body and not unicode else ""
    return f"% needs \\usepackage{{booktabs}}\n{numbered}{body}"


def _table(table: PaperTable, unicode: bool) -> str:
    def text(found: str) -> str:
        return escaped(found, unicode=unicode)

    columns = "".join("r" if numeric else "l" for numeric in table.numeric)
    rows = [f"    {' & '.join(_cell(cell, unicode) for cell in row)} \\\\" for row in table.rows]
    body = [
        f"  \\begin{{tabular}}{{{columns}}}",
        "    \\toprule",
        f"    {' & '.join(map(text, table.head))} \\\\",
        "    \\midrule",
        *rows,
        "    \\bottomrule",
        "  \\end{tabular}",
    ]
    notes = [f"    {_note(mark, found, unicode)}\\par" for mark, found in table.notes]
    below = ["  \\par\\smallskip", "  \\begin{minipage}{\\linewidth}\\footnotesize", *notes, "  \\end{minipage}"]
    return "\n".join(
        [
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{text(table.caption)}}}",
            *(body if rows else ()),
            *(below if notes else ()),
            "\\end{table}",
            "",
        ]
    )


def _cell(cell: PaperCell, unicode: bool) -> str:
    text = escaped(cell.text, unicode=unicode)
    return (f"\\textbf{{{text}}}" if cell.best and text else text) + _raised(cell.marks)


def _note(mark: str, text: str, unicode: bool) -> str:
    return ("" if mark == "!" else f"{_raised(mark)}~") + escaped(text, unicode=unicode)


def _raised(marks: str) -> str:
    return f"\\textsuperscript{{{escaped(marks)}}}" if marks else ""


def escaped(text: str, *, unicode: bool = False) -> str:
    """A text on one line in which nothing is a command."""
    found = "".join(_COMMANDS.get(letter) or _letter(letter, unicode) for letter in text.strip())
    return found.replace("--", "-{}-") if "--" in text else found  # two hyphens of a name are no dash


def _letter(letter: str, unicode: bool) -> str:
    if letter in "\n\r\t\v\f":
        return " "
    if letter.isascii() and letter.isprintable():
        return letter
    if letter in _LETTERS or (unicode and letter.isprintable()):
        return letter
    return f"{_NUMBER}{ord(letter):04X}{{]}}"
