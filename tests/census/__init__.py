"""Census and tilt: the model, the estimator, its error and its verdicts."""
