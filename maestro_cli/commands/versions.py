"""`version`: what this is."""

import platform

from maestro_cli.commands.session import Session
from maestro_cli.output.printing import print_answer
from shared import __version__


async def run(session: Session) -> None:
    form = session.form("table")
    data = {"version": __version__, "python": platform.python_version(), "platform": platform.platform()}
    if form.is_table:
        print_answer(f"maestro-cli {data['version']} (Python {data['python']}, {data['platform']})")
    else:
        print_answer(form.compile()(data))
