"""Answers, and the estimator that rests on them."""
