"""PTX text, parsed as far as armdyn writes it: for the simulator."""

import re
from functools import cache

import numpy as np

KINDS = {
    **{f"{kind}{bits}": f"{kind}{bits // 8}" for bits in (32, 64) for kind in "fu"},
    **{f"s{bits}": f"i{bits // 8}" for bits in (16, 32, 64)},
    **{f"b{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    **{"u8": "u1", "u16": "u2", "s8": "i1", "pred": "?"},
}
KINDS = {name: np.dtype(kind) for name, kind in KINDS.items()}
FUNCTION = r"(?:\.visible \.entry|\.func)\s+[^;{}]*?\n\{(.*?)\n\}"
OPERAND = r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,\s][^,]*"


class Function:
    """A function or kernel of a module: its parameters, registers, instructions and labels."""

    def __init__(self, head, body):
        self.name, declared = re.search(r"(\w+)\s*(\([^()]*\))\s*$", head).groups()
        self.parameters = {}  # name -> (offset, bytes)
        at = 0
        for bits, name in re.findall(r"\.param \.[ubf](32|64)[^,)]*?(\w+)\s*[,)]", declared):
            size = int(bits) // 8
            at = -(-at // size) * size
            self.parameters[name] = at, size
            at += size
        self.size = at
        self.registers = {
            name: KINDS[kind] for kind, name in re.findall(r"\.reg \.(\w+)\s+%(\w+)<?", body)
        }
        local = re.search(r"\.local .*?(\w+)\[(\d+)\]", body)
        self.local = (local.group(1), int(local.group(2))) if local else ("", 0)
        self.code, self.labels = [], {}
        begun = ""  # of an instruction on several lines
        for line in body.splitlines():
            line = line.split("//")[0].strip()
            if re.fullmatch(r"\$?\w+:", line):
                self.labels[line[:-1]] = len(self.code)
            elif line and line not in "{}" and (begun or not line.startswith(".")):
                begun += f"{line} "
                if line.endswith(";"):
                    self.code.append(Instruction(begun.strip().rstrip(";")))
                    begun = ""


class Instruction:
    """One instruction: guard, opcode in its parts, operands."""

    def __init__(self, line):
        self.line = " ".join(line.split())
        guard, self.op, rest = re.fullmatch(r"(?:@(!?%\w+)\s+)?([\w.]+)\s*(.*)", line).groups()
        self.guard = guard
        self.parts = self.op.split(".")
        self.operands = [x.strip() for x in re.findall(OPERAND, rest)]


class Module:
    """PTX text, parsed."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.functions, self.tables = {}, {}
        for name, numbers in re.findall(r"\.global [^=;]*?(\w+)\[\d+\] = \{([^}]*)\}", text):
            self.tables[name] = np.array([int(x) for x in numbers.split(",")], np.uint8)
        for match in re.finditer(
            r"(?:\.visible \.entry|\.func)\s+[^;{}]*?\n\{(.*?)\n\}", text, re.S
        ):
            head = text[match.start() : match.start(1)].rstrip("{\n ")
            head = re.sub(r"\n\.max\w+ \d+", "", head)
            function = Function(head, match.group(1))
            self.functions[function.name] = function


@cache
def parse(text):
    """PTX text as a Module; the same text is parsed once."""
    return Module(text)
