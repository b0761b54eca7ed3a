"""`lab-kubernetes`: run the stand-in API server. It serves TLS, because kubectl sends its token only over TLS."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab import loopback
from lab.certificates import self_signed
from lab.kubeconfig import kubeconfig
from lab.kubernetes.server import LabKubernetes
from lab.version_option import add_version
from shared.command_line import ArgumentParser, port

_DESCRIPTION = textwrap.dedent(
    """\
    Run a stand-in Kubernetes API server on 127.0.0.1. It keeps its objects in memory, responds as the real server does,
    and writes a kubeconfig for kubectl. There are no nodes: a pod stays Pending.
    It runs until Ctrl-C or SIGTERM, then removes the kubeconfig and forgets everything.
    """
)
_EXAMPLES = textwrap.dedent(
    """\
    examples:
      lab-kubernetes
      lab-kubernetes --port 6443 --kubeconfig /tmp/lab.kubeconfig
      lab-kubernetes --output json    one line {"url": ..., "kubeconfig": ...}, for programs that start it
      kubectl --kubeconfig lab.kubeconfig create namespace demo
    """
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return asyncio.run(_serve(options))
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        print(f"lab-kubernetes: {named}{error.strerror}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="lab-kubernetes",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--port", type=port, default=0, help="0 (default) = a free one")
    parser.add_argument(
        "--kubeconfig", type=Path, default=Path("lab.kubeconfig"), metavar="FILE", help="default lab.kubeconfig"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="format of the address")
    return parser


async def _serve(options: argparse.Namespace) -> int:
    stopped = loopback.stop_signal()
    with tempfile.TemporaryDirectory() as folder:
        async with LabKubernetes(port=options.port, tls=self_signed(Path(folder))) as server:
            content = kubeconfig(server.url, server.admin_token, server.ca_file)
            with _own_file(options.kubeconfig, content):
                print(_address(server.url, options.kubeconfig, options.output), flush=True)
                await stopped.wait()
    return 0


@contextlib.contextmanager
def _own_file(file: Path, content: str) -> Iterator[None]:
    """A file with the admin's token: new, for its owner only, and removed at the end. Raises OSError if it exists."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        why = f"{file} exists: another lab-kubernetes may use it; remove it, or choose another with --kubeconfig"
        raise OSError(error.errno, why) from error
    try:
        with os.fdopen(descriptor, "w") as opened:
            opened.write(content)
        yield
    finally:
        file.unlink(missing_ok=True)


def _address(url: str, file: Path, output: str) -> str:
    if output == "json":
        return json.dumps({"url": url, "kubeconfig": str(file)})
    return f"Kubernetes is up at {url}; stop it with Ctrl-C.\ntry: kubectl --kubeconfig {file} get namespaces"


if __name__ == "__main__":
    raise SystemExit(main())
