"""Writes docs/methods.md, the catalogue with its papers: ``python docs/make_methods.py``."""

from __future__ import annotations

import inspect
import re
import unicodedata
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np

from armdyn import load
from armdyn.algorithms.catalogue import CATALOGUE, COSTS, TOGETHER, Asked
from armdyn.algorithms.method import Method
from armdyn.chain import Chain
from armdyn.comparison.exactness import DIGITS, Reference, leaves, random_states
from armdyn.counting import count, growth
from armdyn.counting.polynomial import Polynomial
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, formula

DOCS = Path(__file__).parent
PAGE = DOCS / "methods.md"
SIZES = (6, 7)  # joints for which operations are printed

OPENING = """\
# The catalogue of methods

<!-- Made by docs/make_methods.py: change that, or src/armdyn/algorithms/catalogue.py. -->

Each method is one function in one file, in the letters of its paper, for any mix of revolute and
prismatic joints. All but those marked *approximate* are exact. Those marked *minimal* work on the
[minimal parameters](quantities.md#parameters-of-the-links), found in advance.

*Operations* are multiplications, additions and doublings on a generic arm of n revolute joints, as
`armdyn.count` counts them by default: line by line, with the entries of the rotation matrices on
hand. [The papers](papers.md) has what their papers print beside what is counted. The program of
a given arm takes far fewer, for what is zero, constant or computed already costs nothing;
`robot.methods(quantity)` says how many, and which method is chosen when none is named.

A method may be named in any case. These names work too: `rnea` (`newton-euler`), `aba`
(`articulated-body`), and those in the text of lin1999, `formulation-1` to `formulation-5`
(`lin-fang-1` to `lin-fang-5`) and `kawasaki` (`lin-fang-5`).

Each method runs on numbers of any kind, also in fifty digits. Those marked *constants in doubles*
prepare some constants of the arm with NumPy, in doubles: their results keep the 16 digits of a
double whatever they run on. The others are right to all digits, and judge these in
[comparisons](comparing.md).
"""

REGISTERING = """
## A method of your own

`armdyn.register(quantity, name, function, paper=None)` adds a formulation in this process, without
touching the package. The function takes an `Arm`, the view of the chain that all methods here
take, and the state, a list of n scalars an argument; it returns nested lists of scalars, and must
work on scalars of any kind (see [how it works](how-it-works.md#adding-a-method)). It joins
`robot.methods`, `armdyn.compare` and `armdyn.count`, and is judged like those that ship.

```python
import armdyn
from armdyn.algorithms import newton_euler


def by_falling(arm, q):
    \"\"\"Gravity as the torque of an arm at rest.\"\"\"
    rest = [0] * arm.n
    return newton_euler.inverse_dynamics(arm, q, rest, rest)


def upside_down(arm, q):
    return [-torque for torque in by_falling(arm, q)]


armdyn.register("gravity", "by-falling", by_falling)
armdyn.register("gravity", "upside-down", upside_down, paper="none")
robot = armdyn.load("two_link")
names = ["by-falling", "upside-down"]
found = armdyn.compare(robot, ["gravity"], names, states=5, batch=16, seconds=0)
for row in sorted(found.rankings[0].rows, key=lambda row: row.method):
    print(row.method, row.operations, row.verdict)
print(armdyn.count(robot, "gravity", "by-falling", kind="program").cost)
```

```text
by-falling 18 right
upside-down 18 wrong
18
```

A wrong method is called wrong, and can be asked for by name all the same. Without `method=` a robot
chooses a registered method only if it has the fewest operations and, in five random states of that
arm, gives what the reference method gives to ten digits; where it does not, or fails, a warning is
logged and the next best is chosen. Functions that a robot compiled before stay as they are. In a
process with registered methods the cache of compiled code goes by the recorded program, so that two
functions of one name are never mistaken for each other.
"""


def markdown() -> str:
    """The page."""
    cited = {method.paper for methods in CATALOGUE.values() for method in methods}
    entries = {key: entry for key, entry in bibliography().items() if key in cited}
    parts = [OPENING]
    for quantity, methods in CATALOGUE.items():
        title = f"`{quantity}({', '.join(QUANTITIES[quantity].arguments)})`"
        parts.append(f"\n## {title}\n\n{table(quantity, methods)}")
    for several, methods in TOGETHER.items():
        title = " and ".join(f"`{name}`" for name in several) + " together"
        parts.append(f"\n## {title}\n\n{table(several, methods)}")
    parts.append(REGISTERING)
    parts.append("\n## Papers\n\n")
    parts += [f"- **{key}**: {citation(entry)}\n" for key, entry in entries.items()]
    parts.append("- **armdyn**: ours; the file says how.\n")
    return "".join(parts)


def table(quantity: Asked, methods: tuple[Method, ...]) -> str:
    """The methods of a quantity."""
    heading = ["method", "paper", "operations", *(f"n = {n}" for n in SIZES)]
    rules = ["---"] * 3 + ["---:"] * len(SIZES)
    rows = [row(quantity, method) for method in methods]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heading, rules, *rows))


def row(quantity: Asked, method: Method) -> list[str]:
    """A method: its file, where it is from, what it costs."""
    file = Path(inspect.getsourcefile(inspect.unwrap(method.function)) or "").name
    source = ", ".join(filter(None, [method.paper, method.where, *remarks(quantity, method)]))
    name = f"[`{method.name}`](../src/armdyn/algorithms/{file})"
    if method.name not in COSTS[quantity]:
        return [name, source, "not for generic arms", *([""] * len(SIZES))]
    total, divisions = operations(quantity, method)
    cost = str(total).replace("^2", "²").replace("^3", "³").replace("^4", "⁴")
    cost += f", and {divisions} divisions" if divisions.coefficients else ""
    return [name, source, cost, *(str(total(n)) for n in SIZES)]


def remarks(quantity: Asked, method: Method) -> list[str]:
    """What sets a method apart from the others."""
    found = {
        "from the Christoffel symbols": method.of == ("christoffel",),
        "*minimal*": method.view != "natural",
        "*approximate*": not method.exact,
        "*constants in doubles*": method.exact and prepares_in_doubles(quantity, method),
    }
    return [remark for remark, there in found.items() if there]


def prepares_in_doubles(quantity: Asked, method: Method) -> bool:
    """Whether its result in fifty digits is right to those of a double only."""
    if not isinstance(quantity, str):
        return False
    chain = Chain.random(3)
    if method.refuses(chain.on(float)):
        chain = load("panda").chain
    states = random_states(chain, 1)
    reference = Reference(chain, quantity, states)
    with localcontext(prec=DIGITS):
        function = formula(chain, Decimal, Task(quantity, method.name))
        given = [[Decimal(x) for x in states[name][0]] for name in QUANTITIES[quantity].arguments]
        found = np.array(list(leaves(function(*given))), dtype=object)
        return reference.error(found[None]) > 0


def operations(quantity: Asked, method: Method) -> tuple[Polynomial, Polynomial]:
    """Multiplications, additions and doublings together, and divisions, on generic arms."""
    denominator, numerators = COSTS[quantity][method.name]
    total = Polynomial(tuple(Fraction(numerator, denominator) for numerator in numerators))
    if not count(Chain.random(2), quantity, method.name).div:
        return total, Polynomial()
    return total, growth(quantity, method.name)["div"]


# The bibliography --------------------------------------------------------------------------------

ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}$", re.M | re.S)
FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.M)
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "c": "\u0327"}


def bibliography() -> dict[str, dict[str, str]]:
    """The entries of docs/references.bib by key, each its fields in plain text."""
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    return {
        key: {name: unbraced(value) for name, value in FIELD.findall(fields)}
        for _, key, fields in ENTRY.findall(text)
    }


def unbraced(value: str) -> str:
    """A field's text without TeX: accents composed, braces and double hyphens gone."""

    def accented(match: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]])

    value = re.sub(r"\{\\(['`\"^c])\{?(\w)\}?\}", accented, value)
    return value.replace("{", "").replace("}", "").replace("--", "–")


def citation(entry: dict[str, str]) -> str:
    """An entry as a line of text."""
    authors = [" ".join(reversed(a.split(", "))) for a in entry["author"].split(" and ")]
    listed = authors[0] if len(authors) == 1 else f"{', '.join(authors[:-1])} and {authors[-1]}"
    container = entry.get("journal") or entry.get("booktitle") or entry.get("publisher")
    report = " ".join(filter(None, [entry.get("type"), entry.get("number")]))
    if "journal" in entry:
        volume = entry.get("volume", "")
        issue = f"({entry['number']})" if "number" in entry else ""
        place = f"{container} {volume}{issue}".strip()
    else:
        place = ", ".join(filter(None, [container or entry.get("institution"), report]))
    year, pages = entry.get("year"), entry.get("pages")
    parts = [f"{listed}, *{entry['title']}*", place, pages, year, entry.get("note")]
    return ", ".join(filter(None, parts)) + "."


if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
