"""LightFM on the splits of benchmarks/factors.py: reads train pairs (npz), writes the score of every pair.

python lightfm_factors.py train.npz scores.npz '{"dim": 10, "loss": "warp", …}'
"""

from __future__ import annotations

import json
import sys

import numpy as np
from lightfm import LightFM  # type: ignore[import-not-found]
from scipy.sparse import coo_matrix

if __name__ == "__main__":
    pairs, options = np.load(sys.argv[1]), json.loads(sys.argv[3])
    model = LightFM(
        no_components=options["dim"],
        loss=options["loss"],
        learning_rate=options["rate"],
        user_alpha=options["l2"],
        item_alpha=options["l2"],
        learning_schedule=options["schedule"],
        random_state=options["seed"],
    )
    ones = np.ones(len(pairs["user"]), dtype=np.float32)
    model.fit(coo_matrix((ones, (pairs["user"], pairs["item"])), shape=pairs["shape"]), epochs=options["epochs"])
    np.savez(sys.argv[2], scores=model.user_embeddings @ model.item_embeddings.T + model.item_biases)
