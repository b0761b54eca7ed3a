"""Every setting of every program, from the tables that the programs read."""

from collections.abc import Iterable, Iterator

from controlplane_adapter import setting_table
from dispatcher.config.overrides import SETTINGS as CONFIG_SETTINGS
from dispatcher.runtime.settings import SETTINGS as RUNTIME_SETTINGS
from dpu_bridge.settings import SETTINGS as BRIDGE_SETTINGS
from lab.reference.tables import code, codes, table
from maestro_cli.connection.options import OPTIONS as CLI_OPTIONS
from shared import log_settings
from shared.environment import Setting
from shared.maestro import OPTIONS as MAESTRO_OPTIONS
from status_reporter.settings import SETTINGS as REPORTER_SETTINGS


def sections() -> Iterator[tuple[str, str]]:
    """Title and content."""
    yield "Dispatcher", _variables(RUNTIME_SETTINGS)
    yield "Dispatcher: variables and flags of the configuration files", _config()
    adapter = (*setting_table.SETTINGS, *setting_table.render_settings().values())
    yield "Control plane adapter", _variables(adapter)
    yield "Connection to Maestro", _variables(each.setting for each in MAESTRO_OPTIONS)
    yield "Status reporter", _variables(REPORTER_SETTINGS)
    yield "maestro-cli", _cli()
    yield "DPU bridge", _variables(each for each in BRIDGE_SETTINGS if each not in log_settings.SETTINGS)
    yield "Logs of every program", _variables(log_settings.SETTINGS)


def _variables(settings: Iterable[Setting[object]]) -> str:
    rows = (
        (codes(each.names), "**required**" if each.required else code(each.shown), each.meaning) for each in settings
    )
    return table(("variable", "default", "meaning"), rows)


def _config() -> str:
    rows = (
        (code(".".join(map(str, each.path))), codes(each.variables), code(f"--{each.flag}") if each.flag else "")
        for each in CONFIG_SETTINGS
    )
    return table(("key of the adapter config", "variable", "flag"), rows)


def _cli() -> str:
    rows = ((code(each.flag), codes(each.variables), code(each.default), each.meaning) for each in CLI_OPTIONS)
    return table(("flag", "variable", "default", "meaning"), rows)
