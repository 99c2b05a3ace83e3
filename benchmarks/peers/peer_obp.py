"""Doubly robust estimates by obp: rounds with one action each, a list of one item, bootstrap intervals.

Run as ``peer_obp.py FILE.npz REPLICATES RUNS`` in obp's own environment; prints one JSON line, of the best run. obp
wants the outcome model's guess and the new policy's probability of every action in every round, as arrays of rounds ×
actions.
"""

import json
import resource
import statistics
import sys
import time
from importlib.metadata import version

import numpy as np
from obp.ope import DoublyRobust, OffPolicyEvaluation  # type: ignore[import-not-found]

data, replicates = np.load(sys.argv[1]), int(sys.argv[2])
rounds, actions = int(data["rounds"]), int(data["actions"])
user, item = data["user"], data["item"]
guess = 1.0 / (1.0 + np.exp(-(data["user_factors"] @ data["item_factors"].T + data["level"])))
feedback = {
    "n_rounds": rounds,
    "n_actions": actions,
    "action": item,
    "reward": data["value"],
    "pscore": data["propensity"],
    "position": None,
}


def run() -> list[tuple[float, float, float]]:
    """Value and interval of every policy."""
    ope = OffPolicyEvaluation(bandit_feedback=feedback, ope_estimators=[DoublyRobust()])
    found = []
    for listed in data["listed"]:
        policy = np.zeros((rounds, actions, 1))
        policy[np.arange(rounds), listed, 0] = 1.0
        arguments = {"action_dist": policy, "estimated_rewards_by_reg_model": guess[:, :, None]}
        value = ope.estimate_policy_values(**arguments)["dr"]
        bounds = ope.estimate_intervals(**arguments, n_bootstrap_samples=replicates, random_state=0)["dr"]
        low, high = (bounds[f"95.0% CI ({end})"] for end in ("lower", "upper"))
        found.append((float(value), float(low), float(high)))
    return found


taken = []
for _ in range(int(sys.argv[3])):
    began, cpu = time.perf_counter(), time.process_time()
    found = run()
    taken.append((time.perf_counter() - began, time.process_time() - cpu))
seconds, cpu = (statistics.median(runs) for runs in zip(*taken, strict=True))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": peak, "found": found, "version": version("obp")}))
