"""`make demo`, `hyperfleet-lab`: the whole system on this machine, from an event to a status, or parts of it."""

import argparse
import asyncio
import signal
import sys
import textwrap
from collections.abc import Coroutine, Sequence

from lab.demo import showing, up
from lab.demo.bridge_chapter import dpu_bridge
from lab.demo.scenarios import SCENARIOS
from lab.system import Pace, Part
from lab.system.parts import MEANING
from lab.version_option import add_version
from shared.command_line import ArgumentParser

INTERRUPTED = 130
_DESCRIPTION = textwrap.dedent(
    """\
    Starts the whole system on this machine and shows it at work: stand-ins of the HyperFleet API, Sentinel, a broker,
    Kubernetes, Maestro and HyperShift, and our own programs as real processes. Ctrl-C stops and removes everything.
    `hyperfleet-lab up` starts only the parts that you need.
    """
)
_EPILOG = """\
scenarios:
{scenarios}
exit code: 0 everything happened as it should, 1 something did not, 130 interrupted
"""
_UP_EPILOG = """\
parts (one that needs others starts them too):
{parts}
examples:
  hyperfleet-lab up
  hyperfleet-lab up --only maestro,api
  hyperfleet-lab up --only kubernetes,maestro -o env > lab.env &    then: . ./lab.env
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    if options.command == "up":
        return _run(up.run(options.only, options.output))
    chosen = {"": showing.DEFAULT, "all": showing.ALL}.get(options.scenario, (options.scenario,))
    pace = Pace.production() if options.speed == "1" else Pace()
    return _run(showing.run(chosen, pace, keep=options.keep))


def _run(command: Coroutine[None, None, int]) -> int:
    try:
        return asyncio.run(_until_terminated(command))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED


async def _until_terminated(command: Coroutine[None, None, int]) -> int:
    """Ctrl-C and SIGTERM clean up, also in the background of a shell; a second Ctrl-C ends it at once."""
    task, loop = asyncio.ensure_future(command), asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return await task


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="hyperfleet-lab",
        description=_DESCRIPTION,
        epilog=_EPILOG.format(scenarios=_scenario_lines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument(
        "--scenario", choices=[*showing.ALL, "all"], default="", help=f"what to show ({' and '.join(showing.DEFAULT)})"
    )
    parser.add_argument("--speed", choices=["demo", "1"], default="demo", help="1 uses the intervals of production")
    parser.add_argument("--keep", action="store_true", help="leave it running, and print lines to try")
    commands = parser.add_subparsers(dest="command", metavar="up", title="command")
    _add_up(commands)
    return parser


def _scenario_lines() -> str:
    described = {**SCENARIOS, showing.BRIDGE: dpu_bridge}
    return "".join(f"  {name:<18} {each.__doc__}\n" for name, each in described.items())


def _add_up(commands: "argparse._SubParsersAction[ArgumentParser]") -> None:
    parser = commands.add_parser(
        "up",
        help="start parts of the lab and print their addresses",
        description="Starts parts of the lab, prints where they answer, and runs until Ctrl-C or SIGTERM.",
        epilog=_UP_EPILOG.format(parts="".join(f"  {each:<12} {text}\n" for each, text in MEANING.items())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", type=_parts, default=frozenset(Part), metavar="PART,…", help="the parts to start (all)"
    )
    parser.add_argument(
        "-o", "--output", choices=["text", "env", "json"], default="text", help="how the addresses are printed (text)"
    )


def _parts(text: str) -> frozenset[Part]:
    try:
        return frozenset(Part(each.strip()) for each in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; choose from {', '.join(Part)}") from None


if __name__ == "__main__":
    sys.exit(main())
