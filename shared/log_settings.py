"""The settings of logging, without the logging library, so that a command's help can show them at once."""

from shared.environment import Setting, one_of

LEVEL = Setting(
    "LOG_LEVEL", one_of("debug", "info", "warn", "warning", "error"), "info", "debug, info, warn, error", shown="info"
)
FORMAT = Setting("LOG_FORMAT", one_of("auto", "json", "text"), "auto", "json, text, auto", shown="auto")
OUTPUT = Setting("LOG_OUTPUT", one_of("stdout", "stderr"), "stderr", "stderr, stdout", shown="stderr")

SETTINGS: tuple[Setting[object], ...] = (LEVEL, FORMAT, OUTPUT)
