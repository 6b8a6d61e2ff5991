"""A Gymnasium VectorEnv of arms that fall over, and a policy that learns to balance them.

256 two-link arms stand upside down, each with a load of its own at its tip, and step together in
one compiled call. The policy is linear, torques = K x, and the cross-entropy method finds K: every
arm tries another one, the best tenth make the next guess. Needs Gymnasium: pip install
'armdyn[gym]'.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import armdyn

ARMS, STEPS, DT = 256, 250, 0.02  # in a round of 5 s
EFFORT = np.array([60.0, 30.0])  # [N m]
UPRIGHT, FALLEN = np.array([np.pi / 2, 0.0]), 1.0  # [rad]
ROUNDS, ELITE = 25, 26


class Balance(VectorEnv):
    """Arms to be kept upright: a point a step until one is more than a radian off."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int) -> None:
        chain = armdyn.load("two_link").chain
        joints = zip(chain.joints, EFFORT.tolist(), strict=True)
        limited = tuple(dataclasses.replace(joint, effort=effort) for joint, effort in joints)
        robot = armdyn.Robot(dataclasses.replace(chain, joints=limited))
        self.stepper = robot.stepper(DT, limits="clamp", substeps=2)
        self.num_envs = num_envs
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float64)
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """All arms near the upright, at rest, and a mass of up to 1 kg at each tip."""
        super().reset(seed=seed)
        mass = self.np_random.uniform(0.0, 1.0, (self.num_envs, 1))
        self.payload = mass * [1.0, *[0.0] * 9]  # a point
        self.q, self.qd = np.empty((2, self.num_envs, 2))
        self.age = np.empty(self.num_envs, dtype=int)
        self.over = np.ones(self.num_envs, dtype=bool)
        self._stand_up(self.over)
        return self._seen(), {}

    def step(self, actions: np.ndarray) -> Any:
        """One step of all arms; one whose time was over before stands up instead."""
        torque = EFFORT * np.clip(actions, -1, 1)
        self.q, self.qd = self.stepper.step(self.q, self.qd, torque, payload=self.payload)
        self.age += 1
        again = self.over
        self._stand_up(again)
        fell = np.abs(self.q - UPRIGHT).max(axis=1) > FALLEN
        late = self.age >= STEPS
        self.over = fell | late
        return self._seen(), np.where(fell | again, 0.0, 1.0), fell, late, {}

    def _stand_up(self, which: np.ndarray) -> None:
        near = self.np_random.uniform(-0.1, 0.1, (int(which.sum()), 2))
        self.q[which], self.qd[which], self.age[which] = UPRIGHT + near, 0.0, 0

    def _seen(self) -> np.ndarray:
        return np.concatenate([self.q - UPRIGHT, self.qd], axis=1)


def returns(env: Balance, gains: np.ndarray, seed: int) -> np.ndarray:
    """The points of each arm under its gains K, shape (arms, 2, 4), until it falls."""
    seen, _ = env.reset(seed=seed)
    points, upright = np.zeros(env.num_envs), np.ones(env.num_envs, dtype=bool)
    for _ in range(STEPS):
        seen, reward, fell, late, _ = env.step((gains @ seen[:, :, None])[:, :, 0])
        points += reward * upright
        upright &= ~fell
    return points


def learn(env: Balance, rng: np.random.Generator) -> np.ndarray:
    """Gains by the cross-entropy method."""
    mean, spread = np.zeros((2, 4)), np.full((2, 4), 2.0)
    for k in range(ROUNDS):
        tried = mean + spread * rng.standard_normal((env.num_envs, 2, 4))
        best = tried[np.argsort(returns(env, tried, seed=k))[-ELITE:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
    return mean


env = Balance(ARMS)
before = returns(env, np.zeros((ARMS, 2, 4)), seed=100).mean()
found = learn(env, np.random.default_rng(0))
after = returns(env, np.broadcast_to(found, (ARMS, 2, 4)), seed=100).mean()
print(f"mean return before: {before:.0f} of {STEPS} steps upright, after: {after:.0f}")
assert after > 2 * before and after > 0.9 * STEPS
print("the arms learned to balance")
