"""The text of a function in LLVM's language as it grows, and the operations in its words."""

from __future__ import annotations

from armdyn.program.program import Op

OPS = {  # of operands {0}, {1}, ... of type {t}, with intrinsics of suffix {s}
    Op.ADD: "fadd {t} {0}, {1}",
    Op.SUB: "fsub {t} {0}, {1}",
    Op.MUL: "fmul {t} {0}, {1}",
    Op.DIV: "fdiv {t} {0}, {1}",
    Op.NEG: "fneg {t} {0}",
    Op.FMA: "call {t} @llvm.fma.{s}({t} {0}, {t} {1}, {t} {2})",
    Op.SQRT: "call {t} @llvm.sqrt.{s}({t} {0})",
}


class Text:
    """A function's text as it grows; each instruction with a value gets the next name."""

    def __init__(self) -> None:
        self.lines = ["entry:"]
        self.label = "entry"

    def emit(self, instruction: str) -> str:
        """Append an instruction that has a value; its name."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def block(self) -> str:
        """Begin a basic block; its label."""
        self.label = f"b{len(self.lines)}"
        self.lines.append(f"{self.label}:")
        return self.label
