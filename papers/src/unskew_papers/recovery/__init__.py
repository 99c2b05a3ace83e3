"""How well do estimators recover the truth? Many models, many draws, one table of who was right.

source   a skewed log and ratings of random pairs, or simulated worlds     →  draws: train, test, truth
models   fitted and ranked once per draw
question one way to estimate, propensities included                        →  values, intervals, verdicts
scores   Kendall's τ, errors, regret, coverage, right and wrong verdicts   →  Welch's t between estimators
"""

from unskew_papers.recovery.draws import Draw, Paired, Source, Worlds
from unskew_papers.recovery.questions import Question
from unskew_papers.recovery.result import StudyResult
from unskew_papers.recovery.run import study

__all__ = ["Draw", "Paired", "Question", "Source", "StudyResult", "Worlds", "study"]
