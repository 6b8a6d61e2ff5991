"""armdyn: the dynamics of robot arms, M(q) qdd + C(q, qd) qd + g(q) = tau."""

from armdyn.chain import Chain
