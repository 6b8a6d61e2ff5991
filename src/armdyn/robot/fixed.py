"""The attributes of Robot: none can be set, and the error for a foreign name states the call."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NoReturn

from armdyn.chain import Chain
from armdyn.errors import meant, shorten

INSTEAD = {  # names that other libraries and papers use, and the calls to use here
    "rnea": "robot.inverse_dynamics(q, qd, qdd)",
    "itorque": "robot.inverse_dynamics(q, qd, qdd)",
    "crba": "robot.mass_matrix(q)",
    "inertia": "robot.mass_matrix(q)",
    "inertia_matrix": "robot.mass_matrix(q)",
    "aba": "robot.forward_dynamics(q, qd, tau)",
    "accel": "robot.forward_dynamics(q, qd, tau)",
    "nle": "robot.bias(q, qd)",
    "nonlinear_effects": "robot.bias(q, qd)",
    "coriolis": "robot.coriolis_matrix(q, qd)",
    "coriolis_force": "robot.bias(q, qd) - robot.gravity(q)",
    "coriolis_torque": "robot.bias(q, qd) - robot.gravity(q)",
    "gravload": "robot.gravity(q)",
    "gravity_torque": "robot.gravity(q)",
    "fkine": "robot.pose(q)",
    "fk": "robot.pose(q)",
    "forward_kinematics": "robot.pose(q)",
    "forwardkinematics": "robot.pose(q)",
    "jacob0": "robot.jacobian(q)",
    "jacobe": 'robot.jacobian(q, axes="frame")',
    "jacobn": 'robot.jacobian(q, axes="frame")',
    "jacobian_time_derivative": "robot.jacobian_derivative(q, qd)",
    "jacobian_dot": "robot.jacobian_derivative(q, qd)",
    "hessian0": "robot.influence(q)",
    "kinematic_hessian": "robot.influence(q)",
    "operational_inertia": "robot.operational_space_inertia(q)",
    "operational_inertia_inverse": "robot.operational_space_inertia_inverse(q)",
    "computejointtorquesregressor": "robot.regressor(q, qd, qdd)",
    "base_parameters": "robot.minimal_parameters()",
    "base_regressor": "robot.minimal_regressor(q, qd, qdd)",
    "limits": "robot.position_limits",
    "qlim": "robot.position_limits",
    "speed_limits": "robot.velocity_limits",
    "torque_limits": "robot.effort_limits",
    "rotor_inertia": "[joint.rotor_inertia for joint in robot.chain.joints]",
    "armature": "[joint.rotor_inertia for joint in robot.chain.joints]",
    "with_armature": "robot.with_rotors(inertia, gear=)",
    "link_names": "robot.chain.frame_names",
    "dof": "robot.n",
    "total_mass": "robot.chain.mass",
    "neutral": "numpy.zeros(robot.n)",
    "manipulability": "sqrt(det(J @ J.T)) with J = robot.jacobian(q)",
    "collision": "another library; armdyn does not look for collisions",
    "friction": "robot.inverse_dynamics(..., friction=True); robot.with_friction sets it",
    "sympy": "robot.symbolic(quantity)",
    "to_casadi": "robot.casadi(quantity)",
    "com": "robot.chain.links for the centre of mass of each link",
    "ik": "robot.pose and robot.jacobian; armdyn does not solve inverse kinematics",
    "inverse_kinematics": "robot.pose and robot.jacobian; armdyn does not solve inverse kinematics",
} | {
    name: f"armdyn.{name}(robot, ...)"
    for name in ("linearize", "simulate", "identify", "excite", "count", "compare")
}
OF_ARMDYN = INSTEAD | {  # the same for names of the module
    name: "armdyn.load(path)"
    for name in ("from_urdf", "from_mjcf", "from_xml", "from_file", "load_urdf", "read", "urdf")
}
CHANGES = {  # a part of the name that somebody sets, and the call that returns a robot with it
    "tool": "robot.with_frame('tool', pose=T)",
    "tip": "robot.with_frame('tool', pose=T)",
    "payload": "robot.with_payload(mass, com, inertia), or payload= at the call",
    "gravity": "robot.with_gravity(vector), or gravity= at the call",
    "friction": "robot.with_friction(viscous=, coulomb=)",
    "rotor": "robot.with_rotors(inertia, gear=)",
    "armature": "robot.with_rotors(inertia, gear=)",
    "": "robot.with_payload, with_frame, with_friction, with_rotors and with_gravity",
}
IN_CHAIN = {name for name in dir(Chain) if name[0] != "_"} | {
    field.name for field in dataclasses.fields(Chain)
}


class Fixed:
    """An object whose attributes nobody sets; its errors state what to do instead."""

    if not TYPE_CHECKING:  # type checkers find wrong names by themselves

        def __setattr__(self, name: str, value: object) -> NoReturn:
            change = next(call for part, call in CHANGES.items() if part in name.lower())
            raise AttributeError(
                f"a Robot does not change, and {shorten(name)} cannot be set; for another Robot: "
                f"{change}"
            )

        def __delattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"a Robot does not change, and {shorten(name)} cannot be deleted")

        def __getattr__(self, name: str) -> NoReturn:
            said = f"'Robot' object has no attribute {name!r}"
            if not name.startswith("_"):
                known = [one for one in dir(type(self)) if not one.startswith("_")]
                use = INSTEAD.get(name.lower()) or (name in IN_CHAIN and f"robot.chain.{name}")
                said += f"; use {use}" if use else "; " + meant(name, known).rstrip()
            raise AttributeError(said.removesuffix("; "), name=name, obj=self)
