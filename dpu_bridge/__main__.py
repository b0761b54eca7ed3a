"""`python -m dpu_bridge`: run the DPF-HCP bridge operator. Until kopf handles signals, SIGTERM ends it at once."""

import os
import sys

from shared import __version__
from shared.early_stop import end_at_sigterm
from shared.environment import quoted
from shared.errors import HyperFleetError, Misconfigured

ABOUT = """\
dpu-hcp-bridge: the operator of DPUHCPBridge objects. Each links one DPUCluster of DPF to one hosted control plane of
HyperShift: the operator makes the HostedCluster and its NodePool, gives DPF the kubeconfig, approves the certificate
requests of the DPUs that join, and removes everything when the bridge is deleted.

Run one replica. All settings are environment variables (defaults in brackets):
"""
EXITS = """
Exit codes:
  0  ended by a signal
  1  failed; the last log line says why
  2  the settings or arguments cannot be used
"""
COMPONENT = "dpu-hcp-bridge"


def main() -> int:
    end_at_sigterm(0)
    from dpu_bridge import settings  # noqa: PLC0415 - after the signal handler: importing takes time

    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.stdout.write(f"{ABOUT}{settings.table()}{EXITS}")
        return 0
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{COMPONENT} {__version__}\n")
        return 0
    if sys.argv[1:]:
        sys.stderr.write(
            f"error: unexpected argument {quoted(sys.argv[1])}: settings are environment variables (--help)\n"
        )
        return 2
    import asyncio  # noqa: PLC0415 - the help needs none of it

    from dpu_bridge.operator.running import run  # noqa: PLC0415
    from shared import logs  # noqa: PLC0415

    try:
        logs.configure_from(os.environ, component=COMPONENT, version=__version__)
        chosen = settings.read(os.environ)
    except Misconfigured as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    try:
        asyncio.run(run(chosen))
    except HyperFleetError as error:
        logs.get(__name__).error("the operator failed", error=str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
