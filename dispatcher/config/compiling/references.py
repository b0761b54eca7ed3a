"""Files that a task config names: they stand beside it or below, and nowhere else."""

import os
from pathlib import Path

from dispatcher.config.compiling.context import Context
from dispatcher.config.findings import Severity
from dispatcher.config.reading import paths
from dispatcher.config.reading.documents import Document
from dispatcher.config.reading.parsing import read_text


def referenced(context: Context, name: str, path: paths.Path) -> Document | None:
    """The text of a file that is named at a path of the task config; None with a finding where there is none."""
    place = context.place(path)
    folder = Path(os.path.abspath(context.folder))  # noqa: PTH100 - links of a mounted ConfigMap stay as they are
    file = Path(os.path.normpath(folder / name))
    if not file.is_relative_to(folder):
        hint = "put it beside the task config"
        context.report(Severity.REFUSED, "file-outside", f"{name!r} is outside of {folder}", place, hint)
        return None
    if file.is_dir():
        context.report(Severity.REFUSED, "unreadable-file", f"{name!r} is a folder", place)
        return None
    text = read_text(file, context.findings, place=place)
    if text is None:
        return None
    document = Document(str(context.folder / name), text)
    context.documents[document.file] = document
    return document
