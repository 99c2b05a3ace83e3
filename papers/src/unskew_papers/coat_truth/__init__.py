"""Coat: what recipes for logs without propensities say of models, held against ratings of randomly drawn coats."""
