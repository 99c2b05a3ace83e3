"""Answers about few pairs against other ways to use them, on Coat and in worlds (MATHS §16)."""
