"""What decides the answer beside the models: the protocol that judges them, and the policy that wrote the log.

us.compare_protocols(log, ["most_popular", "item_knn(neighbours=50)"])
us.policy_impact(log, ["most_popular", "item_knn(neighbours=50)"], splits="leave_one_out(repeats=10)")
"""

from unskew.protocols.compare import compare_protocols
from unskew.protocols.comparison import ProtocolComparison
from unskew.protocols.impact import PolicyImpact
from unskew.protocols.policies import policy_impact

__all__ = ["PolicyImpact", "ProtocolComparison", "compare_protocols", "policy_impact"]
