"""The factor models of gs23, each as its source defines it: plain_mf, biased_mf, pmf, nmf, mmmf, bpr.

gs23 was run with Cornac, whose steps these are (``docs/model_families.md`` says where we differ, and what became of
the number of epochs). ``factors`` has other steps for the same kinds of loss, ``mf`` predicts ratings, ``svd`` is the
truncated decomposition, and ``wmf`` the weighted one.
"""
