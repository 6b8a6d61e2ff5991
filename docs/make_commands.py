"""Writes docs/command-line.md, the commands and their options: ``python docs/make_commands.py``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from armdyn.cli import COMMANDS, Parser
from armdyn.cli.arguments import add_robot

PAGE = Path(__file__).parent / "command-line.md"

OPENING = """\
# The command line

<!-- Made by docs/make_commands.py: change that, or src/armdyn/cli/. -->

`armdyn COMMAND ...` and `python -m armdyn COMMAND ...` are the same; with `--help` a command says
what this page says.

- What was asked for goes to stdout; a complaint is one line on stderr. The exit status is 0, or 2
  after a complaint, or 130 if you interrupt it.
- Tables are as wide as the environment variable `COLUMNS` says, else as the terminal is, else 100
  columns. One too wide comes in parts. `--json` prints what programs read.
- A file that is asked for appears whole or not at all. One that cannot be written is refused before
  the work.

```sh
armdyn show two_link
```

## Arms and lists

Commands with a ROBOT take these ([which chain of a URDF](loaders.md)). A comma separates the items
of a LIST.
"""


def markdown() -> str:
    """The page."""
    arm = Parser(add_help=False)
    add_robot(arm)
    return "\n".join([OPENING, table(arm._actions), *map(section, COMMANDS)])


def section(name: str) -> str:
    """A command and its own options."""
    module, command = import_module(f"armdyn.cli.{name}"), Parser(add_help=False)
    module.add_options(command)
    arm = Parser(add_help=False)
    add_robot(arm)
    shared = {action.dest for action in arm._actions}
    own = [action for action in command._actions if action.dest not in shared]
    title = f"armdyn {name}" + (" ROBOT" if len(own) < len(command._actions) else "")
    return f"## `{title}`\n\n{module.HELP[0].upper()}{module.HELP[1:]}.\n\n{table(own)}"


def table(actions: Sequence[argparse.Action]) -> str:
    """Options with their parameters, and what their help says."""
    rows = [("option", "meaning"), ("---", "---")]
    for action in actions:
        parameter = str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
        words = [", ".join(action.option_strings), parameter if action.nargs != 0 else ""]
        rows.append((f"`{' '.join(filter(None, words))}`", (action.help or "") % vars(action)))
    return "".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |\n" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
