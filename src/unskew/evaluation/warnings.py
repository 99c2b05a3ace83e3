"""What a careful reader should know before trusting the numbers, in plain words.

Each rule looks at the facts of one evaluation and gives a sentence, or none. The facts were counted where rows were
dropped, lists coded and models fitted; only the rules put them into words. Their thresholds stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from unskew.core.notice import Notice
from unskew.evaluation import warn_answers as answers
from unskew.evaluation import warn_asked as asked
from unskew.evaluation import warn_column as column
from unskew.evaluation import warn_inputs as inputs
from unskew.evaluation import warn_models as models
from unskew.evaluation import warn_places as places
from unskew.evaluation.facts import Facts

RULES: tuple[Callable[[Facts], Iterator[str]], ...] = (
    column.corrects_nothing, places.looked_at_alike,
    models.ids_not_checked, models.users_without_training, inputs.sampled_rows, inputs.samples_drawn,
    inputs.unused_amounts,
    inputs.repeated_pairs, inputs.other_spellings, inputs.rows_in_training, inputs.rows_outside_population,
    inputs.fitted_to_fewer, models.cold_items, models.doubts_of_propensity, models.capped_propensities,
    models.level_lost, inputs.rows_without_prediction, inputs.users_unserved, inputs.lists_of_models,
    models.estimated_propensities, models.refitted, inputs.short_lists, inputs.uneven_lists, answers.refused_cells,
    models.activity_ignored,
    models.split_not_corrected,
    answers.sums_of_shares, models.model_believed, models.predictions_far_off, inputs.silent_users,
    column.used, column.estimated, column.alarms, column.implies_much,
    inputs.items_not_named, inputs.listed_beyond_catalogue, inputs.empty_lists,
    models.default_predictions, models.fitted_in_sample, models.census_sampled,
    models.census_not_redrawn, models.level_unconfirmed, models.doubtful_share,
    models.predictions_outside, answers.segments_lacking, answers.outside_own_interval, answers.lost_replicates,
    asked.asked_and_answered, asked.learnt_from_answers,
    asked.held_against_answers, answers.no_numbers,
)  # fmt: skip


def warnings(facts: Facts) -> tuple[Notice, ...]:
    """All that there is to say, each sentence once, in this order."""
    said = (
        text if isinstance(text, Notice) else Notice(text, code=rule.__name__.replace("_", "-"))
        for rule in RULES
        for text in rule(facts)
    )
    return tuple(dict.fromkeys(said))
