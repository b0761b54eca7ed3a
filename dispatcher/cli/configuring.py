"""Which configuration a command works with: its files, and every setting that a flag can change."""

import argparse
import os
import sys
from pathlib import Path

from dispatcher.cli.terminal import UsageError, print_error
from dispatcher.config.findings import ConfigError
from dispatcher.config.loading import Loaded, load
from dispatcher.config.overrides import SETTINGS

_ADAPTER_VARIABLE, _TASK_VARIABLE, _BROKER_VARIABLE = (
    "HYPERFLEET_ADAPTER_CONFIG",
    "HYPERFLEET_TASK_CONFIG",
    "BROKER_CONFIG_FILE",
)
_ADAPTER_FALLBACKS = (Path("/etc/hyperfleet/config.yaml"), Path("configs/config.yaml"))
_PREFIX = "setting:"


def add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--config", metavar="FILE", help=f"adapter config; otherwise ${_ADAPTER_VARIABLE}")
    parser.add_argument("-t", "--task-config", metavar="FILE", help=f"task config; otherwise ${_TASK_VARIABLE}")
    parser.add_argument("--broker-config", metavar="FILE", help=f"broker config; otherwise ${_BROKER_VARIABLE}")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """One flag for each setting; a flag wins over the environment, which wins over the file."""
    group = parser.add_argument_group("settings", "each replaces what the environment and the adapter config say")
    for setting in SETTINGS:
        if not setting.flag:
            continue
        path = ".".join(map(str, setting.path))
        group.add_argument(
            f"--{setting.flag}",
            dest=f"{_PREFIX}{setting.flag}",
            metavar="VALUE",
            help=f"{path} (${setting.variables[0]})",
            nargs="?" if setting.switch else None,
            const="true" if setting.switch else None,
        )


def given_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """The settings that were given as flags, by the flag's name."""
    named = vars(arguments).items()
    return {
        name.removeprefix(_PREFIX): value for name, value in named if name.startswith(_PREFIX) and value is not None
    }


def adapter_file(arguments: argparse.Namespace) -> Path:
    named = arguments.config or os.environ.get(_ADAPTER_VARIABLE)
    if named:
        return Path(named)
    found = next((path for path in _ADAPTER_FALLBACKS if path.is_file()), None)
    if found is None:
        fallbacks = " and ".join(map(str, _ADAPTER_FALLBACKS))
        raise UsageError(f"no adapter config: give --config FILE or set ${_ADAPTER_VARIABLE}; {fallbacks} do not exist")
    return found


def task_file(arguments: argparse.Namespace) -> Path:
    named = arguments.task_config or os.environ.get(_TASK_VARIABLE)
    if not named:
        raise UsageError(f"no task config: give --task-config FILE or set ${_TASK_VARIABLE}")
    return Path(named)


def broker_file(arguments: argparse.Namespace) -> Path | None:
    """The file that is named, or `broker.yaml` beside the program where there is one."""
    named = arguments.broker_config or os.environ.get(_BROKER_VARIABLE)
    beside = Path(sys.argv[0]).with_name("broker.yaml")
    return Path(named) if named else beside if beside.is_file() else None


def load_configuration(arguments: argparse.Namespace, *, with_broker: bool = False, strict: bool = False) -> Loaded:
    """The configuration, its warnings on standard error. Raises UsageError with everything that is wrong in it."""
    try:
        loaded = load(
            adapter_file(arguments),
            task_file(arguments),
            broker_file=broker_file(arguments) if with_broker else None,
            environment=os.environ,
            flags=given_settings(arguments),
            strict=strict,
        )
    except ConfigError as error:
        raise UsageError(error.explain()) from None
    for warning in loaded.warnings:
        print_error(f"warning: {warning}")
    return loaded
