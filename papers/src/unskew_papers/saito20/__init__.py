"""saito20: Doubly Robust Estimator for Ranking Metrics with Post-Click Conversions."""
