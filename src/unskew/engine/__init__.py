"""Where does it run? An engine sums over users, in memory or elsewhere, with the same kernels; its sums merge."""
