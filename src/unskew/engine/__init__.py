"""Where does it run? In memory: fixed blocks of users, the same kernels, sums that merge."""
