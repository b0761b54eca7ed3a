"""`python -m dpu_bridge`: run the DPF-HCP bridge operator. Until kopf handles signals, SIGTERM ends it at once."""

import os
import sys

from shared import __version__
from shared.early_stop import end_at_sigterm
from shared.environment import quoted
from shared.errors import HyperFleetError, Misconfigured
from shared.standard_streams import run_command, write_line

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
    if sys.argv[1:]:
        return run_command(COMPONENT, _explain)
    import asyncio  # noqa: PLC0415 - after the signal handler: importing takes time

    from dpu_bridge import settings  # noqa: PLC0415 - as above
    from dpu_bridge.operator.running import run  # noqa: PLC0415 - as above
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


def _explain() -> int:
    match sys.argv[1:]:
        case ["-h" | "--help"]:
            from dpu_bridge import settings  # noqa: PLC0415 - only for the help

            write_line(f"{ABOUT}{settings.table()}{EXITS}".rstrip())
        case ["--version"]:
            write_line(f"{COMPONENT} {__version__}")
        case [argument, *_]:
            sys.stderr.write(
                f"error: unexpected argument {quoted(argument)}: settings are environment variables (--help)\n"
            )
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
