"""carraro20: Debiased Offline Evaluation of Recommender Systems: A Weighted-Sampling Approach (Carraro & Bridge)."""
