"""`config`: contexts of the config file."""

from maestro_cli.commands.session import Session
from maestro_cli.connection.options import OPTIONS
from maestro_cli.connection.settings import config_file
from maestro_cli.exits import UsageError
from maestro_cli.output.printing import print_answer
from maestro_cli.output.tables import table


async def run(session: Session) -> None:
    arguments = session.arguments
    config = config_file(arguments, session.environment)
    match arguments.verb:
        case "use-context":
            config.using(arguments.context_name).write()
            print_answer(f"context {arguments.context_name} is used from now on")
        case "set-context":
            values = {
                option.attribute: getattr(arguments, option.attribute)
                for option in OPTIONS
                if option.in_contexts and hasattr(arguments, option.attribute)
            }
            if hasattr(arguments, "grpc_client_token"):
                raise UsageError("a token is not kept in the config file", remedy="give --grpc-client-token-file")
            config.with_context(arguments.context_name, values).write()
            print_answer(f"context {arguments.context_name} is written to {config.path}")
        case _:
            rows = [
                ["*" if name == config.current else "", name, each.get("grpc_endpoint", ""), each.get("source_id", "")]
                for name, each in sorted(config.contexts.items())
            ]
            print_answer(table(["CURRENT", "NAME", "GRPC ENDPOINT", "SOURCE"], rows))
