"""The exit codes of every program, from their own enumerations and help texts."""

from collections.abc import Iterator, Mapping

from controlplane_adapter.exits import Exit as AdapterExit
from dispatcher.cli.main import build_parser
from dispatcher.cli.parsing import CommandParser
from lab.reference.tables import code, table
from maestro_cli.exits import Exit as CliExit
from status_reporter.exits import Exit as ReporterExit

_MARK = "exit code"
_OTHERS = "0 printed, 2 the command was misused"


def sections() -> Iterator[tuple[str, str]]:
    """Title and content."""
    adapter = ((code(str(each.value)), each.meaning) for each in AdapterExit)
    yield "Control plane adapter", table(("code", "meaning"), adapter)
    reporter = ((code(str(each.value)), each.meaning) for each in ReporterExit)
    yield "Status reporter", table(("code", "meaning"), reporter)
    cli = ((code(str(each.value)), each.name.lower().replace("_", " ")) for each in CliExit)
    yield "maestro-cli", table(("code", "meaning"), cli)
    yield "hyperfleet-adapter", table(("command", "codes"), _commands())


def _commands() -> Iterator[tuple[str, str]]:
    """What each sub-command's help says of its exit codes."""
    (commands,) = build_parser()._subparsers._group_actions  # type: ignore[union-attr] # noqa: SLF001 - no public name
    choices: Mapping[str, CommandParser] = commands.choices  # type: ignore[assignment]
    for name, parser in choices.items():
        parser.load()
        said = [line for line in (parser.epilog or "").splitlines() if line.startswith(_MARK)]
        yield code(name), "; ".join(line.removeprefix(_MARK).strip(" :") for line in said) or _OTHERS
