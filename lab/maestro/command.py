"""`lab-maestro`: the in-memory Maestro as a process, to try things by hand or from another language."""

import argparse
import asyncio
import json
import signal
import sys
import textwrap
from collections.abc import Sequence

from lab.maestro.refusals import Refusal
from lab.maestro.server import LabMaestro

_STORY = textwrap.dedent(
    """\
    Serve a Maestro that keeps everything in memory and answers as the real one does. Three ports on 127.0.0.1:

      REST    read works, manage consumers   curl $REST/api/maestro/v1/resource-bundles
      gRPC    for sources: publish works and subscribe to their status, as the adapters do
      broker  for agents: fetch works of a consumer and report their status

    A work is accepted only for a consumer that is registered: name some with --consumer, or POST to /consumers.
    It runs until it is interrupted, and then forgets everything.
    """
)
_EXAMPLES = textwrap.dedent(
    """\
    examples:
      lab-maestro --consumer cluster1
      lab-maestro --rest-port 8000 --grpc-port 8090 --broker-port 8091 --consumer cluster1 --consumer cluster2
      lab-maestro --output json    one line {"rest": ..., "grpc": ..., "broker": ...}, for programs that start it
    """
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_serve(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lab-maestro",
        description=_STORY,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("rest", "grpc", "broker"):
        parser.add_argument(f"--{name}-port", type=_port, default=0, metavar="PORT", help="0 (default) = a free one")
    parser.add_argument(
        "--heartbeat-seconds", type=_seconds, default=10.0, metavar="S", help="time between heartbeats (default 10)"
    )
    parser.add_argument(
        "--consumer", action="append", default=[], metavar="NAME", help="a management cluster to register; repeatable"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="how the addresses are told")
    return parser


async def _serve(options: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    maestro = LabMaestro(
        heartbeat_seconds=options.heartbeat_seconds,
        rest_port=options.rest_port,
        grpc_port=options.grpc_port,
        broker_port=options.broker_port,
    )
    try:
        for name in options.consumer:
            maestro.store.add_consumer(name)
        async with maestro:
            print(_addresses(maestro, options.output), flush=True)
            await stop.wait()
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


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:  # noqa: PLR2004 - TCP's own limit
        raise argparse.ArgumentTypeError(f"{port} is no port: 0 to 65535")
    return port


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} is no time to wait between heartbeats")
    return seconds


if __name__ == "__main__":
    raise SystemExit(main())
