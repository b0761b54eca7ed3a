"""`lab-api`: the stand-in HyperFleet API as a process, to try things by hand or from another language."""

import argparse
import asyncio
import json
import sys
import textwrap
from collections.abc import Sequence

from lab.api.entities import BASE, CLUSTER, NODEPOOL
from lab.api.server import LabApi
from lab.loopback import until_stopped
from lab.version_option import add_version
from shared.command_line import ArgumentParser, port

_DESCRIPTION = textwrap.dedent(
    """\
    Serve a HyperFleet API that keeps everything in memory and answers as the real one does: clusters, node pools, and
    the statuses that adapters put. It runs on 127.0.0.1 until it is interrupted, and then forgets everything.
    """
)
_EXAMPLES = textwrap.dedent(
    """\
    examples:
      lab-api --cluster-adapter controlplane --cluster-adapter dns
      curl $URL/api/hyperfleet/v1/clusters -d '{"kind":"Cluster","name":"demo","spec":{}}'
      lab-api --output json    one line {"api": "http://127.0.0.1:..."}, for programs that start it
    """
)


def main(arguments: Sequence[str] | None = None) -> int:
    return asyncio.run(_serve(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="lab-api",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--port", type=port, default=0, metavar="PORT", help="0 (default) = a free one")
    for entity in (CLUSTER, NODEPOOL):
        default = ", ".join(entity.required_adapters)
        parser.add_argument(
            f"--{entity.kind.lower()}-adapter",
            action="append",
            metavar="NAME",
            help=f"an adapter that must report before a {entity.kind} is reconciled; repeatable (default: {default})",
        )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="how the address is printed")
    return parser


async def _serve(options: argparse.Namespace) -> int:
    chosen = {CLUSTER.kind: options.cluster_adapter, NODEPOOL.kind: options.nodepool_adapter}
    api = LabApi(port=options.port, required_adapters={kind: names for kind, names in chosen.items() if names})
    try:
        async with api:
            print(_address(api, options.output), flush=True)
            await until_stopped()
    except OSError as error:
        print(f"lab-api: {error.strerror}; choose another, or 0 for a free one", file=sys.stderr)
        return 1
    return 0


def _address(api: LabApi, output: str) -> str:
    if output == "json":
        return json.dumps({"api": api.url})
    return f"The API is up; stop it with Ctrl-C.\n{api.url}{BASE}/clusters"


if __name__ == "__main__":
    raise SystemExit(main())
