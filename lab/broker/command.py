"""`lab-broker`: the embedded broker as a process, for a Sentinel and a dispatcher that are processes of their own."""

import argparse
import asyncio
import json
import sys
import textwrap
from collections.abc import Sequence

from lab.broker.server import LabBroker
from lab.loopback import until_stopped
from lab.version_option import add_version
from shared.command_line import ArgumentParser, port

_DESCRIPTION = textwrap.dedent(
    """\
    Serve topics and subscriptions on 127.0.0.1, in memory. Publishers and consumers speak one JSON object per line;
    the protocol is in the docstring of shared/embedded_broker.py. Everything is forgotten when it stops.
    """
)
_EXAMPLES = textwrap.dedent(
    """\
    examples:
      lab-broker --port 5673
      lab-broker --subscription hyperfleet-clusters/controlplane   keep messages before the first consumer comes
      lab-broker --output json                                     one line {"broker": "127.0.0.1:..."} for programs
    """
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(
        prog="lab-broker",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--port", type=port, default=0, metavar="PORT", help="0 (default) = a free one")
    parser.add_argument(
        "--subscription",
        type=_subscription,
        action="append",
        default=[],
        metavar="TOPIC/NAME",
        help="a subscription that exists from the start; repeatable",
    )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="how the address is printed")
    return asyncio.run(_serve(parser.parse_args(arguments)))


async def _serve(options: argparse.Namespace) -> int:
    broker = LabBroker(port=options.port)
    for topic, name in options.subscription:
        broker.subscribe(topic, name)
    try:
        async with broker:
            print(_address(broker, options.output), flush=True)
            await until_stopped()
    except OSError as error:
        print(f"lab-broker: {error.strerror}; choose another, or 0 for a free one", file=sys.stderr)
        return 1
    return 0


def _address(broker: LabBroker, output: str) -> str:
    if output == "json":
        return json.dumps({"broker": broker.address})
    return f"The broker listens on {broker.address}; stop it with Ctrl-C."


def _subscription(text: str) -> tuple[str, str]:
    topic, slash, name = text.partition("/")
    if not (topic and slash and name):
        raise argparse.ArgumentTypeError(f"{text!r} is not TOPIC/NAME")
    return topic, name


if __name__ == "__main__":
    raise SystemExit(main())
