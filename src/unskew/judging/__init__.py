"""From sums over users to estimates, verdicts and what they rest on: each pair of models against every check."""
