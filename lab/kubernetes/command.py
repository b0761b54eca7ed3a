"""`lab-kubernetes`: the stand-in API server by hand, over TLS because kubectl sends its token over nothing else."""

import argparse
import asyncio
import signal
import tempfile
from pathlib import Path

from lab.certificates import self_signed
from lab.kubeconfig import kubeconfig
from lab.kubernetes.server import LabKubernetes


async def _serve(server: LabKubernetes, advice: str) -> None:
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    async with server:
        print(f"serving {server.url}; {advice}", flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="lab-kubernetes", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on loopback; 0 takes a free one")
    parser.add_argument("--kubeconfig", type=Path, default=Path("lab.kubeconfig"), help="file to write")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = LabKubernetes(port=arguments.port, tls=self_signed(Path(folder)))
        arguments.kubeconfig.write_text(kubeconfig(server.url, server.admin_token, server.ca_file))
        asyncio.run(_serve(server, f"try: kubectl --kubeconfig {arguments.kubeconfig} get jobs -A"))
        arguments.kubeconfig.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
