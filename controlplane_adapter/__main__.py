"""`controlplane-adapter`: install the signal handlers first, then import the rest.

A pod can be stopped while its containers still start. SIGTERM is sent once; a process that misses it is killed without
a report.
"""

import gc
import os
import sys

from controlplane_adapter.exits import Exit
from controlplane_adapter.stop_signals import StopSignals
from shared import __version__
from shared.early_stop import end_at_sigterm
from shared.standard_streams import run_command, write_line

ABOUT = """\
usage: controlplane-adapter [--help | --version | check]

Brings a cluster's HostedCluster on its management cluster to the state of one generation, and writes
adapter-report.json. It runs as the main container of a Job, once per generation.
`controlplane-adapter check` says which prerequisites are missing (`check --help`).

All settings are environment variables (defaults in brackets):
"""
MAESTRO = """
Connection to Maestro, each also with the prefix HYPERFLEET_:
"""
DEFAULTS = """
Defaults for all clusters; a cluster's own spec overrides them, and a variable that is set and empty removes a default
(*: {name}, {cluster_id} and {infra_id} are replaced by the cluster's):
"""


def usage() -> str:
    from controlplane_adapter import setting_table as table  # noqa: PLC0415 - only for the help
    from shared import log_settings  # noqa: PLC0415
    from shared.environment import help_table  # noqa: PLC0415

    codes = "".join(f"  {code.value}  {code.meaning}\n" for code in Exit)
    return (
        f"{ABOUT}{help_table(table.SETTINGS)}{help_table(log_settings.SETTINGS)}"
        f"{MAESTRO}{help_table(table.maestro_settings())}"
        f"{DEFAULTS}{help_table(table.render_settings().values())}\nExit codes:\n{codes}"
    )


def main() -> int:
    if sys.argv[1:]:
        return run_command("controlplane-adapter", _command)
    stops = StopSignals()
    stops.install()
    gc.disable()  # importing creates nothing but what stays, so there is nothing to collect
    from controlplane_adapter.run import run  # noqa: PLC0415 - after the signal handlers: importing takes time

    gc.enable()
    code = run(os.environ, stops)
    stops.ignore()
    return code


def _command() -> int:
    match sys.argv[1:]:
        case ["check", *arguments]:
            end_at_sigterm()
            from controlplane_adapter.check.command import main as check  # noqa: PLC0415 - only for the command

            return check(arguments, os.environ)
        case ["-h" | "--help"]:
            write_line(usage().rstrip())
            return Exit.REPORTED
        case ["--version"]:
            write_line(f"controlplane-adapter {__version__}")
            return Exit.REPORTED
        case _:
            print(usage(), end="", file=sys.stderr)
            return Exit.MISCONFIGURED


if __name__ == "__main__":
    sys.exit(main())
