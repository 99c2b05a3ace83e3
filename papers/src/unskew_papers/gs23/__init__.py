"""gs23: Stratified Estimator for Recommendation Systems with Implicit Feedback, the generalized one (gs)."""
