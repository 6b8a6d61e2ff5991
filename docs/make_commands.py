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

`armdyn COMMAND ...` and `python -m armdyn COMMAND ...` are the same. `armdyn help COMMAND`, or
`--help` after a command, prints its part of this page.

- What was asked for goes to stdout; a complaint is one line on stderr. The exit status is 0, or 2
  after a complaint, or 130 if you interrupt it.
- Tables are as wide as the environment variable `COLUMNS` says, else as the terminal is, else 100
  columns. One too wide comes in parts. `--json` prints what programs read.
- A file that is asked for appears whole or not at all. One that cannot be written is refused before
  the work. The full name of each file is printed; a page's is an address for the browser.

```sh
armdyn show two_link
```

In bash, `eval "$(armdyn completion bash)"` in `~/.bashrc` completes commands, options, robots and
quantities with the tab key. In zsh, the same with `zsh` comes after `compinit` in `~/.zshrc`.

## Arms and lists

Commands with a ROBOT take these ([which chain of a URDF](loaders.md)). Names of shipped arms and of
quantities may be written in letters of any case.

Commas or spaces separate the items of a LIST, and one number stands for all joints. Angles are in
radians: `90deg` is an angle in degrees, and `--degrees` says that all of them are.

```sh
armdyn eval UR5 gravity --q "0 -90deg 0 0 0 0"
```
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
