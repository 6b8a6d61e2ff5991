"""The command ``armdyn simulate``."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from armdyn import view
from armdyn.cli.arguments import (
    add_degrees,
    add_robot,
    each,
    load,
    motion,
    number,
    numbers,
    position,
    print_paths,
    whole,
)
from armdyn.errors import SimulationError, printable
from armdyn.output import files
from armdyn.robot import Robot
from armdyn.simulation import controllers, formats, simulate, trajectories
from armdyn.simulation.integrators import ADAPTIVE, INTEGRATORS
from armdyn.simulation.results import Result

HELP = "move an arm: torques or a controller, in time"
WAYS = ("quintic", "cycloidal", "trapezoidal")
PACE = 10.0  # [rad/s], of the critically damped motion that default gains make


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command; lists are separated by commas, one number stands for all."""
    add_robot(command)
    add = command.add_argument
    add("--q0", metavar="LIST", type=motion, help="positions to start from [rad or m]")
    add("--qd0", metavar="LIST", type=motion, default=np.zeros(1), help="speeds to start with")
    add_degrees(command)
    add("--time", metavar="S", type=number, default=1.0, help="how long (default: %(default)s s)")
    add("--dt", metavar="S", type=number, default=1e-3, help="the step (default: %(default)s s)")
    add("--integrator", choices=INTEGRATORS, default="ab4", help="default: %(default)s")
    add("--every", metavar="N", type=whole, default=1, help="keep one step of N")
    add("--rtol", type=number, help="relative tolerance of DOP853, LSODA (default: 1e-9)")
    add("--atol", type=number, help="absolute tolerance of them (default: 1e-12)")
    add("--friction", action="store_true", help="with the joints' friction")
    add(
        "--limits",
        choices=["report", "ignore", "stop"],
        default="report",
        help="list the joint limits that are passed, ignore them, or stop there "
        "(default: %(default)s)",
    )
    torque = command.add_mutually_exclusive_group()
    torque.add_argument("--tau", metavar="LIST", type=numbers, help="a constant torque")
    torque.add_argument(
        "--controller",
        choices=list(controllers.LAWS),
        default="zero",
        help="what makes the torque (default: %(default)s)",
    )
    add("--target", metavar="LIST", type=motion, help="the position that a controller goes to")
    add("--trajectory", choices=WAYS, help="how the target is reached")
    add("--duration", metavar="S", type=number, help="time of the trajectory (default: --time)")
    add(
        "--speed", metavar="LIST", type=motion, help="of a trapezoidal trajectory (default: limits)"
    )
    add("--acceleration", metavar="LIST", type=motion, help="of a trapezoidal trajectory")
    add("--kp", metavar="LIST", type=numbers, help="stiffness of the controller")
    add("--kd", metavar="LIST", type=numbers, help="damping of the controller")
    add(
        "--rate", metavar="HZ", type=number, help="samples a second of a controller that holds them"
    )
    add("--plot", metavar="FILE", help="draw the motion (.png, .svg, .pdf)")
    add("--save", metavar="FILE", help="write the motion (.npz, .csv, .parquet, .zarr)")
    add("--view", metavar="FILE", help="write a page that plays the motion (.html)")
    add("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Simulate, and say in a line how it went; what was computed is saved in any case."""
    refuse_idle(arguments)
    robot = load(arguments)
    if arguments.save:
        formats.check_path(arguments.save)
    if arguments.plot:
        files.check_picture(arguments.plot)
    if arguments.view:
        view.check_path(arguments.view)
    degrees = arguments.degrees
    q0 = home(robot) if arguments.q0 is None else position(robot, "--q0", arguments.q0, degrees)
    tolerances = {"rtol": arguments.rtol, "atol": arguments.atol}
    try:
        result = simulate(
            robot,
            q0,
            each(robot, "--qd0", arguments.qd0, degrees),
            torque(robot, q0, arguments),
            arguments.time,
            arguments.dt,
            arguments.integrator,
            friction=arguments.friction,
            limits=arguments.limits,
            every=arguments.every,
            progress=True,
            **{name: value for name, value in tolerances.items() if value is not None},
        )
    except (SimulationError, KeyboardInterrupt) as error:
        computed = getattr(error, "result", None)
        if computed is not None:
            write(computed, arguments)
        raise
    write(result, arguments)
    if arguments.json:
        print(json.dumps(data(result), indent=2))
    else:
        for line in (result.summary(), *map(str, result.violations)):
            print(printable(line))
        print_paths([arguments.save, arguments.plot, arguments.view])


def refuse_idle(arguments: argparse.Namespace) -> None:
    """Refuse an option that would do nothing beside the others."""
    law, way = arguments.controller, arguments.trajectory
    goes = "--controller pd, pd-gravity or computed-torque"
    for works, needs, names in (
        (bool(controllers.LAWS[law].signals), goes, ("target", "trajectory", "kp", "kd")),
        (law != "zero", "a --controller other than zero", ("rate",)),
        (way in ("quintic", "cycloidal"), "--trajectory quintic or cycloidal", ("duration",)),
        (way == "trapezoidal", "--trajectory trapezoidal", ("speed", "acceleration")),
        (arguments.integrator in ADAPTIVE, "--integrator DOP853 or LSODA", ("rtol", "atol")),
    ):
        for name in names:
            if not works and getattr(arguments, name) is not None:
                raise SimulationError(f"--{name} does nothing here: it needs {needs}")


def write(result: Result, arguments: argparse.Namespace) -> None:
    """Write the files that were asked for."""
    if arguments.save:
        result.save(arguments.save)
    if arguments.plot:
        result.plot(arguments.plot)
    if arguments.view:
        result.view().save(arguments.view)


def data(result: Result) -> dict[str, Any]:
    """A run as programs read it, in SI units and radians."""
    total = result.energy.total
    return {
        "robot": result.robot.name,
        "integrator": result.integrator,
        "dt": result.dt,
        "steps": result.steps,
        "time": float(result.t[-1]),
        "compile_time": result.compile_time,
        "wall_time": result.wall_time,
        "energy": {"start": float(total[0]), "end": float(total[-1])},
        "energy_drift": float(result.drift),
        "q": result.q[-1].tolist(),
        "qd": result.qd[-1].tolist(),
        "violations": [violation._asdict() for violation in result.violations],
        "stopped": list(result.stopped),
    }


def home(robot: Robot) -> np.ndarray:
    """Zero, or the nearest position within a joint's limits."""
    lower, upper = robot.position_limits.T
    return np.clip(0.0, lower, upper)


# The torque -------------------------------------------------------------------------------------


def torque(robot: Robot, q0: np.ndarray, arguments: argparse.Namespace) -> Any:
    """What the options say about the torque."""
    if arguments.tau is not None:
        return each(robot, "--tau", arguments.tau)
    law, rate = arguments.controller, arguments.rate
    if law == "zero":
        return controllers.zero()
    if law == "gravity":
        return controllers.gravity_compensation(rate)
    inertia = np.ones(robot.n) if law == "computed-torque" else np.diag(robot.mass_matrix(q0))
    kp, kd = PACE**2 * inertia, 2 * PACE * inertia
    kp = kp if arguments.kp is None else each(robot, "--kp", arguments.kp)
    kd = kd if arguments.kd is None else each(robot, "--kd", arguments.kd)
    make = getattr(controllers, law.replace("-", "_"))  # as its functions are called
    return make(reference(robot, q0, arguments), kp, kd, rate)


def reference(robot: Robot, q0: np.ndarray, arguments: argparse.Namespace) -> Any:
    """The position or the trajectory that a controller follows."""
    if arguments.target is None:
        raise SimulationError(f"--controller {arguments.controller} needs a --target to go to")
    target = position(robot, "--target", arguments.target, arguments.degrees)
    duration = arguments.time if arguments.duration is None else arguments.duration
    match arguments.trajectory:
        case None:
            return target
        case "quintic":
            return trajectories.quintic(q0, target, duration)
        case "cycloidal":
            return trajectories.cycloidal(q0, target, duration)
    speed = robot.velocity_limits
    if arguments.speed is not None:
        speed = each(robot, "--speed", arguments.speed, arguments.degrees)
    if arguments.acceleration is None:
        raise SimulationError("--trajectory trapezoidal needs an --acceleration")
    acceleration = each(robot, "--acceleration", arguments.acceleration, arguments.degrees)
    return trajectories.trapezoidal(q0, target, speed, acceleration)
