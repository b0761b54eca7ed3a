"""`completion`: a script that teaches a shell the commands and their options, made from the parser itself."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from dispatcher.cli.parsing import CommandParser, Commands
from dispatcher.cli.terminal import answer

_EPILOG = """\
to have it in every shell:
  bash: hyperfleet-adapter completion bash >> ~/.bashrc
  zsh:  hyperfleet-adapter completion zsh >> ~/.zshrc
  fish: hyperfleet-adapter completion fish > ~/.config/fish/completions/hyperfleet-adapter.fish
"""


def add_to(commands: Commands, whole: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "completion",
        help="print a completion script for a shell",
        epilog=_EPILOG,
    )
    parser.add_argument("shell", choices=list(_SCRIPTS))
    parser.set_defaults(run=lambda arguments: _run(whole, arguments.shell))


def _run(whole: argparse.ArgumentParser, shell: str) -> int:
    answer(_SCRIPTS[shell](whole.prog, _commands(whole)))
    return 0


@dataclass(frozen=True, slots=True)
class _Argument:
    """One option, or the first word behind the command; `words` may follow it, or a file."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    file: bool


@dataclass(frozen=True, slots=True)
class _Command:
    name: str
    options: tuple[_Argument, ...]
    first: tuple[str, ...]

    @property
    def option_names(self) -> str:
        return " ".join(name for option in self.options for name in option.names)


def _commands(parser: argparse.ArgumentParser) -> list[_Command]:
    subparsers = next(action for action in _actions(parser) if isinstance(action.choices, dict))
    assert isinstance(subparsers.choices, dict)
    return [_command(name, subparser) for name, subparser in subparsers.choices.items()]


def _command(name: str, parser: argparse.ArgumentParser) -> _Command:
    if isinstance(parser, CommandParser):
        parser.load()
    options, first = [], ()
    for action in _actions(parser):
        words = tuple(action.choices or ())
        if action.option_strings:
            options.append(_Argument(tuple(action.option_strings), words, action.metavar == "FILE"))
        elif words:
            first = words
    return _Command(name, tuple(options), first)


def _actions(parser: argparse.ArgumentParser) -> Iterable[argparse.Action]:
    return parser._actions  # noqa: SLF001 - argparse has no public way to ask what it parses


def _bash(program: str, commands: list[_Command]) -> str:
    return "\n".join(
        [
            "_hyperfleet_adapter() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
            '  case "$COMP_CWORD ${COMP_WORDS[1]} $before" in',
            f'    "1 "*) words="{" ".join(command.name for command in commands)}" ;;',
            *(f"    {line}" for command in commands for line in _bash_cases(command)),
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            f"complete -F _hyperfleet_adapter {program}",
        ]
    )


def _bash_cases(command: _Command) -> list[str]:
    files = [f'*" {command.name} {name}"' for option in command.options if option.file for name in option.names]
    return [
        *([f'{"|".join(files)}) COMPREPLY=($(compgen -f -- "$word")); return ;;'] if files else []),
        *(
            f'*" {command.name} {name}") words="{" ".join(option.words)}" ;;'
            for option in command.options
            if option.words
            for name in option.names
        ),
        f'"2 {command.name} "*) words="{" ".join((*command.first, command.option_names))}" ;;',
        f'*" {command.name} "*) words="{command.option_names}" ;;',
    ]


def _zsh(program: str, commands: list[_Command]) -> str:
    return "\n".join(["autoload -Uz bashcompinit && bashcompinit", _bash(program, commands)])


def _fish(program: str, commands: list[_Command]) -> str:
    lines = [f"complete -c {program} -f"]
    for command in commands:
        lines.append(f"complete -c {program} -n __fish_use_subcommand -a {command.name}")
        chosen = f"complete -c {program} -n '__fish_seen_subcommand_from {command.name}'"
        lines.extend(f"{chosen} -a '{word}'" for word in command.first)
        for option in command.options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            takes = " -r -F" if option.file else f" -x -a '{' '.join(option.words)}'" if option.words else ""
            lines.append(f"{chosen} {names}{takes}")
    return "\n".join(lines)


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
