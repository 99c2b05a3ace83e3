"""How sure are we? Moments that merge, intervals, bootstrap, paired comparison, tipping points, verdicts."""
