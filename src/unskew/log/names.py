"""Column names as files have them: which of their columns is the user, the item, the rating, …

    form("Customer-ID") = form("customer_id") = form("CustomerID") = "customerid"

A column is recognised if the form of its name stands in the table below; two of them in one file are never guessed
between. Not in the table are names of things (user_name, title), amounts, which are no ratings (quantity, plays), and
what often stands beside a better column (session_id beside user_id). The type that RecBole's files have behind a name
(``user_id:token``) is left out of the form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TYPE = re.compile(r":(token|float|token_seq|float_seq)$")
_SIGNS = re.compile(r"[\W_]+")

RECOGNISED: dict[str, tuple[str, ...]] = {
    "user": (
        "user", "users", "user_id", "uid", "u_id", "user_idx", "user_index", "userno", "user_key", "user_code",
        "customer", "customer_id", "cust_id", "customer_key", "customer_no", "customer_number",
        "client", "client_id", "visitor", "visitor_id", "member", "member_id", "account_id", "profile_id", "person_id",
        "reviewer_id", "buyer_id", "shopper_id", "subscriber_id", "reader_id", "viewer_id", "listener_id",
        "player_id", "patron_id", "household_id", "household_key",
    ),
    "item": (
        "item", "items", "item_id", "iid", "i_id", "item_idx", "item_index", "itemno", "item_key", "item_code",
        "movie", "movie_id", "film_id", "imdb_id", "tmdb_id", "show_id", "anime_id", "video_id", "clip_id",
        "product", "product_id", "prod_id", "product_key", "product_code", "sku", "sku_id", "stock_code", "asin",
        "parent_asin", "article", "article_id", "article_no", "book_id", "isbn", "business_id", "venue_id", "poi_id",
        "place_id", "restaurant_id", "recipe_id", "hotel_id", "listing_id", "property_id", "job_id", "course_id",
        "track_id", "song_id", "artist_id", "album_id", "podcast_id", "episode_id", "game_id", "app_id",
        "news_id", "post_id", "document_id", "doc_id", "docno", "content_id", "offer_id", "ad_id", "aid",
    ),
    "value": (
        "value", "rating", "ratings", "rating_value", "stars", "star_rating", "overall", "book_rating",
        "movie_rating", "user_rating", "review_score", "r_ui", "relevance", "reward", "outcome",
        "click", "clicked", "is_click", "clicks", "like", "liked", "is_like", "conversion", "converted",
        "is_conversion",
    ),
    "time": (
        "time", "times", "timestamp", "time_stamp", "ts", "date", "datetime", "date_time", "event_time",
        "event_timestamp", "event_date", "created", "created_at", "created_time", "creation_time", "unix_time",
        "unix_timestamp", "unix_review_time", "invoice_date", "order_date", "order_time", "purchase_date",
        "purchase_time", "transaction_date", "transaction_time", "trans_date", "rated_at", "rating_timestamp",
        "rating_time", "t_dat",
    ),
    "policy": ("policy", "policy_id", "policy_name", "logging_policy", "behavior_policy", "behaviour_policy"),
    "propensity": (
        "propensity", "propensities", "propensity_score", "pscore", "logging_propensity",
        "logging_probability", "logging_prob", "action_probability", "action_prob",
    ),
    "position": (
        "position", "positions", "pos", "rank", "ranks", "ranking", "item_rank", "rank_position", "slot", "slots",
        "slot_id", "slot_index", "slot_number", "slot_no", "place", "item_position", "item_pos", "list_position",
        "page_position", "display_position", "displayed_position", "shown_position", "impression_position",
        "click_position", "clicked_position", "display_rank", "shown_rank", "banner_pos", "banner_position",
    ),
    "rank": ("rank", "ranks", "ranking", "position", "pos", "item_rank", "rank_position"),
    "score": (
        "score", "scores", "prediction", "predictions", "predicted", "pred", "preds", "predicted_score", "pred_score",
        "predicted_rating", "pred_rating", "est", "estimate", "estimated_rating", "similarity", "relevance_score",
        "model_score", "item_score", "yhat", "y_hat", "y_pred",
    ),
    "prediction": (
        "prediction", "predictions", "predicted", "pred", "preds", "predicted_value", "predicted_rating", "pred_rating",
        "predicted_score", "pred_score", "est", "estimate", "estimated_rating", "score", "scores", "yhat", "y_hat",
        "y_pred",
    ),
    "relevant": ("relevant", "n_relevant", "num_relevant", "relevant_items", "n_u"),
}  # fmt: skip


AMOUNTS = ("score", "scores", "count", "counts", "weight", "weights")  # no values by their name, but they may be


def form(name: str) -> str:
    """A name without case, blanks and signs, so that different ways to write it are the same."""
    return _SIGNS.sub("", _TYPE.sub("", name.strip()).casefold())


_FORMS = {ours: frozenset(map(form, names)) for ours, names in RECOGNISED.items()}
_ALL = frozenset().union(*_FORMS.values())


def recognised(ours: str, present: list[str]) -> list[str]:
    """The columns that may be ours by their name, in their order; a name that is there twice comes once."""
    forms = _FORMS.get(ours, frozenset())
    return [name for name in dict.fromkeys(present) if form(name) in forms]


def amounts(present: list[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Columns that ``names`` leaves unused though they may say what a row was worth."""
    return tuple(name for name in present if form(name) in AMOUNTS and name not in names.values())


def looks_like_a_header(fields: list[str]) -> bool:
    """Whether a line has the name of a column that is known, and no number, as rows mostly have."""
    return any(form(field) in _ALL for field in fields) and not any(map(is_number, fields))


def is_number(text: str) -> bool:
    """Whether a field of a line is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
