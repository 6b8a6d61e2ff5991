"""The command ``armdyn completion``: a script that completes commands, options and names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import armdyn
from armdyn import cli
from armdyn.counting.published import PAPERS
from armdyn.quantities import QUANTITIES

HELP = "print a script by which bash or zsh complete commands, options and names"
FILES = ("FILE", "LOG", "DIR")  # parameters that are files,
NAMES = {"QUANTITY": tuple(QUANTITIES), "KEY": PAPERS}  # and those that are names
SHELLS = {  # what is around the cases: the typed words come in, names and files go out
    "bash": """\
_armdyn() {{
  local IFS=$' \\t\\n' command=${{COMP_WORDS[1]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local typed=${{COMP_WORDS[COMP_CWORD]}} place=$COMP_CWORD names= files=
{cases}
  COMPREPLY=($(compgen -W "$names" -- "$typed"))
  IFS=$'\\n'
  if [[ $files ]]; then COMPREPLY+=($(compgen -f -- "$typed")); fi
}}
complete -o filenames -F _armdyn armdyn
""",
    "zsh": """\
#compdef armdyn
_armdyn() {{
  local command=$words[2] before=$words[CURRENT-1] typed=$PREFIX
  local place=$((CURRENT - 1)) names= files=
{cases}
  compadd -- ${{=names}}
  if [[ $files ]]; then _files; fi
}}
compdef _armdyn armdyn
""",
}


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    command.add_argument(
        "shell",
        choices=list(SHELLS),
        help='eval "$(armdyn completion bash)" goes into ~/.bashrc; of zsh, after compinit, into '
        "~/.zshrc",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    print(SHELLS[arguments.shell].format(cases="\n".join(cases())), end="")


def cases() -> Iterator[str]:
    """The lines of shell that set names and files for the typed words."""
    commands = " ".join(cli.COMMANDS)
    yield f'  if [[ $place == 1 ]]; then names="{commands} help --help --version"; else'
    yield '  case "$command $before" in'
    yield f'  "help "*) names="{commands}" ;;'
    for name in cli.COMMANDS:
        for option in cli.options(name):
            if option.option_strings and option.nargs != 0:
                words = offered(option)
                labels = "|".join(f'"{name} {text}"' for text in option.option_strings)
                yield f"  {labels}) {words};;"
    yield '  *) case "$command $typed" in'
    for name in cli.COMMANDS:
        options = cli.options(name)
        texts = " ".join(text for option in options for text in option.option_strings)
        yield f'    "{name} -"*) names="{texts}" ;;'
        places = "".join(offered(option) for option in options if not option.option_strings)
        yield f'    "{name} "*) {places};;'
    yield "    esac ;;"
    yield "  esac; fi"


def offered(action: argparse.Action) -> str:
    """The shell's text that adds the names and files which may stand for a parameter."""
    if action.metavar == "ROBOT":
        return f'names+=" {" ".join(armdyn.robots())}"; files=yes; '
    names = action.choices or NAMES.get(str(action.metavar), ())
    if action.option_strings == ["--quantity"]:
        names = tuple(QUANTITIES)
    if action.metavar in FILES:
        return "files=yes; "
    return f'names+=" {" ".join(names)}"; ' if names else ""
