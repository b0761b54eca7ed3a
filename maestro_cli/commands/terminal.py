"""`tui`: the full-screen interface, where textual is installed."""

from maestro_cli.commands.session import Session
from maestro_cli.exits import UsageError


async def run(session: Session) -> None:
    try:
        from maestro_cli.tui.app import MaestroApp  # noqa: PLC0415 - textual is not in every image
    except ModuleNotFoundError as error:
        raise UsageError(
            "the terminal interface is not installed", why=f"{error.name} is missing", remedy="pip install textual"
        ) from error
    async with session.client() as client:
        await MaestroApp(client, session.arguments.consumer, session.writer).run_async()
