"""unskew: which recommender is really better, when the log only shows what the old one chose to show?"""
