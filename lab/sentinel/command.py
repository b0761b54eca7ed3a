"""`lab-sentinel`: Sentinel as a process, between an API and a broker that are processes of their own."""

import argparse
import asyncio
import sys
import textwrap
from collections.abc import Sequence
from datetime import timedelta

from lab.loopback import until_stopped
from lab.sentinel.publishing import EmbeddedPublisher, Publisher
from lab.sentinel.sentinel import LabSentinel
from lab.sentinel.settings import Sentinel
from lab.version_option import add_version
from shared import times
from shared.command_line import ArgumentParser
from shared.errors import HyperFleetError
from shared.standard_streams import run_command

_DESCRIPTION = textwrap.dedent(
    """\
    Poll a HyperFleet API and publish an event for every resource that is not reconciled, or was last reported long
    ago. One process serves one type of resources. The rules and the events are those of the real Sentinel.
    """
)
_EXAMPLES = textwrap.dedent(
    """\
    examples:
      lab-sentinel --api http://127.0.0.1:8000 --broker 127.0.0.1:5673 --topic hyperfleet-clusters
      lab-sentinel --api ... --broker amqp://guest:guest@127.0.0.1:5672/ --topic hyperfleet-nodepools \\
          --resource-type nodepools --owner-references
      lab-sentinel --poll-interval 500ms --debounce 1s --stale 30s ...    for impatient demonstrations
    """
)


_TIMES = (
    ("poll-interval", "5s", "between two lists of the resources"),
    ("debounce", "10s", "how long after its last report a resource that is not reconciled is published"),
    ("stale", "30m", "how long after its last report a reconciled one is published"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_command("lab-sentinel", lambda: _run(_parser().parse_args(arguments)))


def _run(options: argparse.Namespace) -> int:
    try:
        asyncio.run(_serve(options))
    except HyperFleetError as error:
        print(f"lab-sentinel: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="lab-sentinel",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--api", type=_url, required=True, metavar="URL", help="the HyperFleet API, without a path")
    parser.add_argument(
        "--broker", required=True, metavar="ADDRESS", help="host:port of lab-broker, or an amqp:// URL of RabbitMQ"
    )
    parser.add_argument("--topic", required=True, help="where events go")
    parser.add_argument("--exchange-type", default="topic", metavar="TYPE", help="of RabbitMQ's exchange (topic)")
    parser.add_argument(
        "--resource-type", choices=("clusters", "nodepools"), default="clusters", help="of which resources (clusters)"
    )
    parser.add_argument("--owner-references", action="store_true", help="name the parent in events")
    parser.add_argument(
        "--selector",
        type=_label,
        action="append",
        default=[],
        metavar="LABEL=VALUE",
        help="only resources with it; repeatable",
    )
    for name, default, meaning in _TIMES:
        parser.add_argument(
            f"--{name}", type=_duration, default=_duration(default), metavar="TIME", help=f"{meaning} ({default})"
        )
    return parser


async def _serve(options: argparse.Namespace) -> None:
    settings = Sentinel(
        api_url=options.api,
        topic=options.topic,
        resource_type=options.resource_type,
        poll_interval=options.poll_interval,
        debounce=options.debounce,
        stale=options.stale,
        selector=dict(options.selector),
        owner_references=options.owner_references,
    )
    async with LabSentinel(settings, _publisher(options)):
        print(f"Watching {settings.resource_type} for {settings.topic}; stop it with Ctrl-C.", flush=True)
        await until_stopped()


def _publisher(options: argparse.Namespace) -> Publisher:
    if not options.broker.startswith(("amqp://", "amqps://")):
        return EmbeddedPublisher(options.broker)
    from lab.sentinel.rabbitmq import RabbitPublisher  # noqa: PLC0415 - only those who use RabbitMQ need its client

    return RabbitPublisher(options.broker, exchange_type=options.exchange_type)


def _duration(text: str) -> timedelta:
    try:
        return timedelta(seconds=times.parse_duration(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"must be an http:// or https:// URL, not {text!r}")
    return text.rstrip("/")


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not LABEL=VALUE")
    return key, value


if __name__ == "__main__":
    raise SystemExit(main())
