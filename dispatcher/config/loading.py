"""From files, environment and flags to an adapter that can run, or to one error that says all that is wrong.

    load("adapter.yaml", "task.yaml", environment=os.environ)  -> Loaded      raises ConfigError

`inspect` does the same without raising: it is what `validate` shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dispatcher.config.checking import check_settings, check_task, check_transports
from dispatcher.config.compiled import Adapter
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.task import CompiledTask, compile_task
from dispatcher.config.files import Files, Written
from dispatcher.config.findings import ConfigError, Finding, Severity
from dispatcher.config.models.adapter import AdapterConfig
from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.models.task import TaskConfig
from dispatcher.config.showing.redacting import merged, redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """`adapter` is what the engine runs; `config`, `task` and `broker` are what the files, environment and flags say.

    `warnings` are the findings that did not stop it.
    """

    adapter: Adapter
    config: AdapterConfig
    task: TaskConfig
    broker: BrokerConfig
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All that was found; `loaded` is None where something is refused."""

    findings: tuple[Finding, ...]
    loaded: Loaded | None


def load(
    adapter_file: str | Path,
    task_file: str | Path,
    *,
    broker_file: str | Path | None = None,
    environment: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Loaded:
    """`flags` are those that were given, by name without dashes. With `strict`, mistakes are refused too."""
    inspection = inspect(adapter_file, task_file, broker_file=broker_file, environment=environment, flags=flags)
    refused = [each for each in inspection.findings if _refuses(each, strict=strict)]
    if refused or inspection.loaded is None:
        raise ConfigError(inspection.findings, refused=refused)
    return replace(inspection.loaded, warnings=inspection.findings)


def _refuses(finding: Finding, *, strict: bool) -> bool:
    return finding.severity is Severity.REFUSED or (strict and finding.severity is Severity.MISTAKE)


def inspect(
    adapter_file: str | Path,
    task_file: str | Path,
    *,
    broker_file: str | Path | None = None,
    environment: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
    semantic: bool = True,
    needs_environment: bool = True,
) -> Inspection:
    """`semantic` adds the checks of names and references; `needs_environment` refuses unset required variables."""
    files = Files(environment)
    config = files.adapter(Path(adapter_file), flags or {})
    task = files.task(Path(task_file))
    broker = files.broker(Path(broker_file) if broker_file else None)
    if config is not None and broker is not None and semantic:
        check_settings(config, broker, files.findings)
    compiled = None
    if task is not None:
        unset = Severity.REFUSED if needs_environment else Severity.ADVICE
        compiled = _compiled(files, config, task, Path(task_file).parent, unset, semantic=semantic)
    loaded = None
    refused = any(finding.severity is Severity.REFUSED for finding in files.findings)
    if config and task and broker and compiled and not refused:
        loaded = _loaded(config.model, task.model, broker.model, compiled)
    return Inspection(findings=files.complete(), loaded=loaded)


def _compiled(
    files: Files,
    config: Written[AdapterConfig] | None,
    task: Written[TaskConfig],
    folder: Path,
    unset_variable: Severity,
    *,
    semantic: bool,
) -> CompiledTask:
    context = Context(
        document=task.document,
        findings=files.findings,
        folder=folder,
        assumed=frozenset() if task.whole else task.names,
    )
    compiled = compile_task(context, task.model, files.environment, unset_variable=unset_variable)
    files.documents |= context.documents
    if semantic:
        check_task(context, task.model, compiled)
    if semantic and config is not None:
        check_transports(config, context, compiled)
    return compiled


def _loaded(config: AdapterConfig, task: TaskConfig, broker: BrokerConfig, compiled: CompiledTask) -> Loaded:
    settings = merged(config, task)
    adapter = Adapter(
        name=config.adapter.name,
        version=config.adapter.version,
        config=settings,
        redacted_config=redacted(settings),
        params=compiled.params,
        preconditions=compiled.preconditions,
        resources=compiled.resources,
        payloads=compiled.payloads,
        post_actions=compiled.post_actions,
    )
    return Loaded(adapter=adapter, config=config, task=task, broker=broker)
