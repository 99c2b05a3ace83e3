"""Bring logs, lists and predictions into one vocabulary of users and items, and write down what happens on the way."""
