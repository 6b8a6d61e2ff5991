"""Writes the table of docs/quantities.md from the one in the code: ``make_quantities.py``."""

from __future__ import annotations

import re
from pathlib import Path

from armdyn.quantities import QUANTITIES, Quantity, Result

PAGE = Path(__file__).parent / "quantities.md"
BEGIN, END = "<!-- Made by docs/make_quantities.py. -->\n", "<!-- So far. -->\n"
FORMULAS = {  # by what the sentences of the code say in their place
    "M(q), symmetric": "$M(q)$, symmetric",
    "b = C(q, qd) qd + g(q)": r"$b = C(q, \dot q)\,\dot q + g(q)$",
    "torque g(q) that": "torque $g(q)$ that",
    "Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2": (
        r"$\Gamma_{ijk} = \frac{1}{2} \left( \frac{\partial M_{ij}}{\partial q_k} + "
        r"\frac{\partial M_{ik}}{\partial q_j} - \frac{\partial M_{jk}}{\partial q_i} \right)$"
    ),
    "C_ij = sum over k of Gamma_ijk qd_k, so dM/dt - 2 C is skew": (
        r"$C_{ij} = \sum_k \Gamma_{ijk}\,\dot q_k$, so $\dot M - 2 C$ is skew"
    ),
    "dM_ij/dq_k": r"$\partial M_{ij} / \partial q_k$",
    "dtau_i/dq_j, dtau_i/dqd_j, and dtau_i/dqdd_j, which is M": (
        r"$\partial\tau_i / \partial q_j$, $\partial\tau_i / \partial\dot q_j$, and "
        r"$\partial\tau_i / \partial\ddot q_j$, which is $M$"
    ),
    "dqdd_i/dq_j, dqdd_i/dqd_j, and dqdd_i/dtau_j, which is the inverse of M": (
        r"$\partial\ddot q_i / \partial q_j$, $\partial\ddot q_i / \partial\dot q_j$, and "
        r"$\partial\ddot q_i / \partial\tau_j$, which is $M^{-1}$"
    ),
    "of tau_i by (q_j, q_k), (q_j, qd_k), (qd_j, qd_k), (q_j, qdd_k)": (
        r"of $\tau_i$ by $(q_j, q_k)$, $(q_j, \dot q_k)$, $(\dot q_j, \dot q_k)$, "
        r"$(q_j, \ddot q_k)$"
    ),
    "Jacobian, dJ/dt": r"Jacobian, $\dot J$",
    "speeds, dJ/dt qd": r"speeds, $\dot J \dot q$",
    "Lambda = (J M^-1 J^T)^-1. Where J is": r"$\Lambda = (J M^{-1} J^T)^{-1}$. Where $J$ is",
    "rotors: J M^-1 J^T,": "rotors: $J M^{-1} J^T$,",
    "velocity is gT qd, its acceleration gT qdd + qd^T hT qd; likewise": (
        r"velocity is $g_T \dot q$, its acceleration $g_T \ddot q + \dot q^T h_T \dot q$; likewise"
    ),
    "by gR and hR": "by $g_R$ and $h_R$",
    "tau = Y p without rotors and friction; p has": (
        r"$\tau = Y p$ without rotors and friction; $p$ has"
    ),
    "tau = Ymin pi without rotors and friction; pi are the p minimal": (
        r"$\tau = Y_{\min}\,\pi$ without rotors and friction; $\pi$ are the p minimal"
    ),
}
HEADING = "| function | gives | results and their shapes |\n|---|---|---|\n"


def page() -> str:
    """The page with its table made anew."""
    text = PAGE.read_text(encoding="utf-8")
    between = f"{re.escape(BEGIN)}.*?{re.escape(END)}"
    return re.sub(between, lambda _: f"{BEGIN}\n{table()}\n{END}", text, flags=re.S)


def table() -> str:
    """A line a quantity."""
    return HEADING + "".join(
        f"| `{name}({signature(quantity)})` | {typeset(quantity.sentence.removesuffix('.'))} "
        f"| {', '.join(map(shape, quantity.results))} |\n"
        for name, quantity in QUANTITIES.items()
    )


def typeset(sentence: str) -> str:
    """A sentence of the code with its formulas as LaTeX."""
    for plain, formula in FORMULAS.items():
        sentence = sentence.replace(plain, formula)
    return sentence


def signature(quantity: Quantity) -> str:
    """Its arguments, and the options that change its value."""
    options = {
        "frame=None": quantity.framed,
        'axes="base"': quantity.axes,
        "friction=False": quantity.friction,
        "wrench=None": quantity.wrench,
    }
    return ", ".join([*quantity.arguments, *(text for text, there in options.items() if there)])


def shape(result: Result) -> str:
    """A result's letter and shape, batch axes first."""
    sizes = ", ".join(result.sizes.split()).replace("10n", "10 n")
    return f"`{result.name}` (..., {sizes})" if sizes else f"`{result.name}` (...,)"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
