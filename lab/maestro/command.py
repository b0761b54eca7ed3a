"""`lab-maestro`: run the stand-in Maestro as a process."""

import argparse
import asyncio
import contextlib
import json
import sys
import textwrap
from collections.abc import Sequence

from lab import loopback
from lab.hypershift.on_agent import HyperShiftOnAgent
from lab.maestro.agent import Agent
from lab.maestro.server import LabMaestro
from lab.maestro.storage.refusals import Refusal
from lab.version_option import add_version
from shared.command_line import ArgumentParser, port

_DESCRIPTION = textwrap.dedent(
    """\
    Run a stand-in Maestro. It keeps everything in memory and responds as the real one does. Three ports on 127.0.0.1:

      REST    read works, manage consumers   curl $REST/api/maestro/v1/resource-bundles
      gRPC    for sources: publish works and subscribe to their status, as the adapters do
      broker  for agents: fetch works of a consumer and report their status

    A work is accepted only for a registered consumer: name some with --consumer, or POST to /consumers.
    Nothing happens to a work until an agent takes it: simulate one with --agent.
    It runs until Ctrl-C or SIGTERM, and then forgets everything.
    """
)
_EXAMPLES = textwrap.dedent(
    """\
    examples:
      lab-maestro --consumer cluster1 --agent
      lab-maestro --rest-port 8000 --grpc-port 8090 --broker-port 8091 --consumer cluster1 --consumer cluster2
      lab-maestro --output json    one line {"rest": ..., "grpc": ..., "broker": ...}, for programs that start it
    """
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.agent and not options.consumer:
        parser.error("--agent needs a --consumer")
    return asyncio.run(_serve(options))


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="lab-maestro",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    for name in ("rest", "grpc", "broker"):
        parser.add_argument(f"--{name}-port", type=port, default=0, metavar="PORT", help="0 (default) = a free one")
    parser.add_argument(
        "--heartbeat-seconds", type=_above_zero, default=10.0, metavar="S", help="time between heartbeats (default 10)"
    )
    parser.add_argument(
        "--consumer", action="append", default=[], metavar="NAME", help="a management cluster to register; repeatable"
    )
    parser.add_argument(
        "--agent",
        action="store_true",
        help="simulate the work agent of each --consumer, with a HyperShift operator for its HostedClusters",
    )
    parser.add_argument(
        "--speed",
        type=_above_zero,
        default=100.0,
        metavar="N",
        help="speed of that operator; 1 is the real one's (default 100)",
    )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="format of the addresses")
    return parser


async def _serve(options: argparse.Namespace) -> int:
    stopped = loopback.stop_signal()
    maestro = LabMaestro(
        heartbeat_seconds=options.heartbeat_seconds,
        rest_port=options.rest_port,
        grpc_port=options.grpc_port,
        broker_port=options.broker_port,
    )
    try:
        for name in options.consumer:
            maestro.store.add_consumer(name)
        async with maestro, contextlib.AsyncExitStack() as agents:
            for name in options.consumer if options.agent else ():
                agent = await agents.enter_async_context(Agent(maestro.broker_address, name))
                await agents.enter_async_context(HyperShiftOnAgent(agent, speed=options.speed))
            print(_addresses(maestro, options.output), flush=True)
            await stopped.wait()
    except Refusal as refusal:
        print(f"lab-maestro: {refusal.reason}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"lab-maestro: {error.strerror}; choose another, or 0 for a free one", file=sys.stderr)
        return 1
    return 0


def _addresses(maestro: LabMaestro, output: str) -> str:
    addresses = {"rest": maestro.rest_url, "grpc": maestro.grpc_address, "broker": maestro.broker_address}
    if output == "json":
        return json.dumps(addresses)
    lines = [f"{name:8}{address}" for name, address in addresses.items()]
    return "\n".join(["Maestro is up; stop it with Ctrl-C.", *lines])


def _above_zero(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")
    return number


if __name__ == "__main__":
    raise SystemExit(main())
