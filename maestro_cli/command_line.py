"""Every command with its options, in one place. Nothing heavy is imported here: `--help` must be quick.

Both vocabularies are accepted: the Go tool's (`--manifest-file --name --for --wait[=EXPR]`), the document's (`--watch`,
`--condition`, `--status`, `delete --all`), and what kubectl users type (`get NAME -c CONSUMER -o yaml`, `-f`, `-l`).
"""

import argparse
from collections.abc import Sequence
from typing import Final, NoReturn, TypeAlias

from maestro_cli.connection import options
from shared import __version__

PROGRAM: Final = "maestro-cli"
DEFAULT_WAIT: Final = "Available"
# What the completion scripts ask; it takes any text behind `--`.
COMPLETE: Final = "complete"

_EXITS = """\
exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 timeout, 5 conflict or not ours, 6 the condition of --fail-on came,
            7 differences, 8 unreachable or not allowed
"""
_WAITING = """\
expressions of --for, --wait and --fail-on:
  Available                          a condition of the work is True
  Applied=False                      or has another status
  Job/my-namespace/sync:Complete     a condition of an object in the work
  Deployment:readyReplicas>=2        a feedback value of it: = != > >= < <= and in (a, b)
  any(Job:Complete) OR NOT Applied   AND, OR, NOT, parentheses; any() and all() where several objects match
"""
_Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"  # noqa: SLF001 - it has no public name


class WrongCommandLine(Exception):
    """The arguments cannot be understood; the message ends with where to read on."""


class _Parser(argparse.ArgumentParser):
    """Its errors are a sentence, not pages of usage, and leave a result behind as every other error does."""

    def error(self, message: str) -> NoReturn:
        raise WrongCommandLine(f"{message} (see `{self.prog} --help`)")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command with its options. Raises WrongCommandLine."""
    if list(arguments[:2]) == [COMPLETE, "--"]:
        return argparse.Namespace(module="candidates", command=COMPLETE, words=list(arguments[2:]))
    parser = build_parser()
    chosen, unknown = parser.parse_known_args(options.with_switch_values(arguments))
    if unknown:
        raise WrongCommandLine(f"unknown arguments: {' '.join(unknown)} (see `{PROGRAM} {chosen.command} --help`)")
    return chosen


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [options]",
        description="ManifestWorks and consumers of Maestro from a terminal, a script or a Job.",
        epilog=_EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}", help="print the version")
    _common(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog=PROGRAM)
    for add in (_apply, _delete, _get, _list, _describe, _wait, _watch, _validate, _diff, _build, _status, _consumer):
        add(commands)
    for add in (_config, _tui, _version, _completion):
        add(commands)
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    """Options of every command; they may stand before or behind its name."""
    group = parser.add_argument_group("common options")
    add = group.add_argument
    add(
        "-o", "--output", metavar="FORM", default=argparse.SUPPRESS, help="table, wide, name, json, yaml, jsonpath=…, …"
    )
    add("--timeout", metavar="DURATION", default=argparse.SUPPRESS, help="such as 30s or 5m; waits take 5m by default")
    add("-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="log what is done, on standard error")
    add(
        "--results-path",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="write the result for a sidecar ($RESULTS_PATH)",
    )
    add(
        "--results-format",
        choices=("report", "go"),
        default=argparse.SUPPRESS,
        help="adapter report, or Go's StatusResult",
    )
    options.add_to(parser)


def _command(
    commands: _Commands, name: str, module: str, summary: str, *, examples: str = "", aliases: tuple[str, ...] = ()
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        aliases=list(aliases),
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(module=module, command=name)
    _common(parser)
    return parser


def _names(parser: argparse.ArgumentParser, *, several: bool = True) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*" if several else "?", help="name of the work")
    parser.add_argument("--name", dest="named", metavar="NAME", help="the same as NAME")


def _of_consumer(parser: argparse.ArgumentParser, what: str = "the management cluster") -> None:
    parser.add_argument("-c", "--consumer", metavar="CONSUMER", default="", help=what)


def _files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        *("-f", "--manifest-file"),
        dest="files",
        metavar="FILE",
        action="append",
        required=True,
        help="ManifestWork or plain manifests, YAML or JSON; a folder; - is standard input",
    )


def _waits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wait", nargs="?", const=DEFAULT_WAIT, metavar="EXPR", help=f"wait for it ({DEFAULT_WAIT})")
    parser.add_argument("--watch", dest="wait", action="store_const", const=DEFAULT_WAIT, help="the same as --wait")
    parser.add_argument("--fail-on", metavar="EXPR", help="stop waiting, with exit code 6, when this holds")


def _drops_executor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--drop-executor", action="store_true", help="allow that the work loses its executor")


def _removes(group: argparse._MutuallyExclusiveGroup) -> None:
    group.add_argument("--replace", action="store_true", help="the file is the whole work: remove all that it lacks")
    group.add_argument(
        "--prune", action="store_true", help="remove what the file lacks and an apply without --field-manager brought"
    )


def _apply(commands: _Commands) -> None:
    examples = f"""\
examples:
  {PROGRAM} apply -f work.yaml -c mgmt-01 --wait
  {PROGRAM} apply -f job.yaml --name sync -c mgmt-01 --wait 'Job:Complete' --fail-on 'Job:Failed' --timeout 10m
  kustomize build . | {PROGRAM} apply -f - --name app -c mgmt-01 --dry-run

Manifests that are in the work and not in the file stay, or are removed:
  with --field-manager WRITER  what this writer brought before is removed, what other writers brought stays
  with --prune                 what an apply without --field-manager brought is removed
  with --replace               the file is the whole work
  with --keep-others           all of them stay
  with none of these           apply refuses with exit code 5 and names them

{_WAITING}"""
    parser = _command(commands, "apply", "works.applying", "create or update a work", examples=examples)
    _files(parser)
    parser.add_argument("--name", dest="named", metavar="NAME", default="", help="name of the work")
    _of_consumer(parser)
    _waits(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would change, send nothing")
    leftovers = parser.add_mutually_exclusive_group()
    _removes(leftovers)
    leftovers.add_argument("--keep-others", action="store_true", help="keep manifests that the file lacks")
    parser.add_argument("--adopt", action="store_true", help="change a work of that name that another source made")
    _drops_executor(parser)
    parser.add_argument(
        "--feedback", metavar="KIND:NAME=JSONPATH", action="append", default=[], help="a status value to bring back"
    )


def _delete(commands: _Commands) -> None:
    parser = _command(commands, "delete", "works.deleting", "delete works; a work that is not there is fine")
    _names(parser)
    _of_consumer(parser)
    parser.add_argument("--all", action="store_true", help="all works of this source, or all of the named work")
    parser.add_argument("-l", "--selector", metavar="SELECTOR", help="works with these labels")
    parser.add_argument("--wait", action="store_true", help="until the objects are gone from the management cluster")
    parser.add_argument("--watch", dest="wait", action="store_true", help="the same as --wait")
    parser.add_argument("--dry-run", action="store_true", help="show what would be deleted")
    parser.add_argument("--adopt", action="store_true", help="also a work that another source made")


def _get(commands: _Commands) -> None:
    examples = f"{PROGRAM} get hyperfleet-c1-job -c mgmt-01 -o manifestwork > work.yaml   # goes back through apply"
    parser = _command(commands, "get", "works.reading", "show works by name", examples=examples)
    _names(parser)
    _of_consumer(parser)
    parser.add_argument("-l", "--selector", metavar="SELECTOR", help="works with these labels")
    parser.add_argument("--all", action="store_true", help="all works")


def _list(commands: _Commands) -> None:
    parser = _command(commands, "list", "works.reading", "list works")
    _of_consumer(parser, "only of this management cluster")
    parser.add_argument("-l", "--selector", metavar="SELECTOR", help="works with these labels")
    parser.add_argument(
        "--status", metavar="STATE", help="Applied, Available, Failed, InProgress, Deleting, or a condition"
    )
    parser.add_argument("--filter", metavar="TEXT", help="part of the name, or key=value of a label")


def _describe(commands: _Commands) -> None:
    parser = _command(commands, "describe", "works.reading", "show works for a person: manifests, conditions, feedback")
    _names(parser)
    _of_consumer(parser)


def _wait(commands: _Commands) -> None:
    parser = _command(commands, "wait", "works.waiting_for", "wait until an expression holds", examples=_WAITING)
    _names(parser)
    _of_consumer(parser)
    parser.add_argument(
        "--for", "--condition", dest="wait", metavar="EXPR", default=DEFAULT_WAIT, help="what to wait for"
    )
    parser.add_argument("--fail-on", metavar="EXPR", help="stop with exit code 6 when this holds")
    parser.add_argument("--watch", action="store_true", help="accepted; progress is always shown on a terminal")


def _watch(commands: _Commands) -> None:
    parser = _command(commands, "watch", "works.watching", "print a line for every change of works, as it happens")
    _names(parser)
    _of_consumer(parser)
    parser.add_argument("-l", "--selector", metavar="SELECTOR", help="works with these labels")
    parser.add_argument("--poll-interval", metavar="DURATION", help="accepted; changes are streamed, not polled")


def _validate(commands: _Commands) -> None:
    parser = _command(commands, "validate", "works.validating", "check files without sending them")
    _files(parser)
    parser.add_argument("--name", dest="named", metavar="NAME", default="", help="name of the work")
    _of_consumer(parser, "also ask Maestro whether this management cluster is registered")


def _diff(commands: _Commands) -> None:
    parser = _command(
        commands, "diff", "works.comparing_files", "show what apply would change; exit code 7 if anything"
    )
    _files(parser)
    parser.add_argument("--name", dest="named", metavar="NAME", default="", help="name of the work")
    _of_consumer(parser)
    _removes(parser.add_mutually_exclusive_group())


def _build(commands: _Commands) -> None:
    parser = _command(commands, "build", "works.building", "put manifests into a work that is there, or take some out")
    _names(parser, several=False)
    _of_consumer(parser)
    parser.add_argument(
        "--source-file", dest="files", metavar="FILE", action="append", default=[], help="what to put in"
    )
    parser.add_argument("-f", dest="files", metavar="FILE", action="append", help="the same as --source-file")
    parser.add_argument(
        "--remove", metavar="KIND/[NAMESPACE/]NAME", action="append", default=[], help="what to take out"
    )
    parser.add_argument("--strategy", choices=("merge", "replace"), default="merge", help="default merge")
    parser.add_argument("--output-file", metavar="FILE", help="write the work there; .json means JSON")
    parser.add_argument("--apply", action="store_true", help="send it, with the version that was read")
    parser.add_argument("--dry-run", action="store_true", help="print the work only")
    parser.add_argument("--force", action="store_true", help="create the work where there is none")
    parser.add_argument("--adopt", action="store_true", help="change a work of that name that another source made")
    _drops_executor(parser)
    _waits(parser)


def _status(commands: _Commands) -> None:
    _command(commands, "status", "checking", "is Maestro there, who am I, and which works need attention")


def _consumer(commands: _Commands) -> None:
    parser = _command(commands, "consumer", "consumers", "management clusters that Maestro knows")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb, summary in (
        ("list", "list them"),
        ("get", "show one"),
        ("create", "register one"),
        ("ensure", "register one unless it is there"),
        ("delete", "remove one that has no works"),
        ("label", "set labels (key=value) or remove them (key-)"),
    ):
        each = verbs.add_parser(verb, help=summary, allow_abbrev=False)
        _common(each)
        each.set_defaults(verb=verb)
        if verb == "list":
            each.add_argument("-l", "--selector", metavar="SELECTOR", help="consumers with these labels")
        else:
            each.add_argument("consumer", metavar="CONSUMER", help="its name")
        if verb in {"create", "ensure", "label"}:
            each.add_argument("labels", metavar="KEY=VALUE", nargs="*", help="labels")


def _config(commands: _Commands) -> None:
    parser = _command(commands, "config", "configuring", "contexts: named connections in a config file")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb, summary in (
        ("get-contexts", "list contexts"),
        ("use-context", "choose the context that is used"),
        ("set-context", "write a context from the connection options given"),
    ):
        each = verbs.add_parser(verb, help=summary, allow_abbrev=False)
        _common(each)
        each.set_defaults(verb=verb)
        if verb != "get-contexts":
            each.add_argument("context_name", metavar="NAME", help="name of the context")


def _tui(commands: _Commands) -> None:
    parser = _command(commands, "tui", "terminal", "look around in a full-screen terminal interface")
    _of_consumer(parser, "start with this management cluster")


def _version(commands: _Commands) -> None:
    _command(commands, "version", "versions", "print the version")


def _completion(commands: _Commands) -> None:
    examples = f"""\
to have it in every shell:
  bash: {PROGRAM} completion bash >> ~/.bashrc
  zsh:  {PROGRAM} completion zsh >> ~/.zshrc
  fish: {PROGRAM} completion fish > ~/.config/fish/completions/{PROGRAM}.fish
"""
    parser = _command(commands, "completion", "completing", "print a completion script for a shell", examples=examples)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
