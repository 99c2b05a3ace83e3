"""jeunen18: Fair Offline Evaluation Methodologies for Implicit-Feedback Recommender Systems with MNAR Data."""
