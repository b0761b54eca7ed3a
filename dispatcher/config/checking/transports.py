"""Resources that go to Maestro need a Maestro that can be reached."""

from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.task import CompiledTask
from dispatcher.config.files import Written
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.models.adapter import AdapterConfig
from shared.errors import Misconfigured


def check_transports(config: Written[AdapterConfig], context: Context, compiled: CompiledTask) -> None:
    on_maestro = [index for index, each in enumerate(compiled.resources) if each.transport == "maestro"]
    if not on_maestro:
        return
    if config.model.clients.maestro is None:
        message = "this goes to Maestro, but the adapter config has no clients.maestro"
        hint = "add clients.maestro with grpc_server_address, http_server_address and source_id"
        place = context.place(("resources", on_maestro[0], "transport", "client"))
        context.report(Severity.MISTAKE, "maestro", message, place, hint)
        return
    from dispatcher.config.maestro import maestro_settings  # noqa: PLC0415 - gRPC, which others do not wait for

    try:
        maestro_settings(config.model)
    except Misconfigured as error:
        for problem in error.problems:
            path = ("clients", "maestro", *problem.path.removeprefix("clients.maestro.").split("."))
            context.findings.append(
                Finding(
                    severity=Severity.MISTAKE,
                    rule="maestro",
                    message=problem.message,
                    place=config.document.place(path),
                    origin=config.origins.get(path, ""),
                )
            )
