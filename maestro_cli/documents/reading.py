"""Which documents a `-f` means: a file, standard input (`-`) or all YAML and JSON files of a folder."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from maestro_cli.exits import UsageError

STDIN = "-"
_ENDINGS = {".yaml", ".yml", ".json"}


@dataclass(frozen=True, slots=True)
class Document:
    """One object and where it was written, for messages."""

    source: str
    content: dict[str, Any]


def read_documents(names: Iterable[str]) -> list[Document]:
    """All documents, `List` objects taken apart. Raises UsageError for what cannot be read."""
    documents = [document for name in names for source, text in _texts(name) for document in _parsed(source, text)]
    if not documents:
        raise UsageError("the files hold no object", remedy="give a ManifestWork or Kubernetes manifests with -f")
    return documents


def _texts(name: str) -> Iterator[tuple[str, str]]:
    if name == STDIN:
        yield "standard input", sys.stdin.read()
        return
    path = Path(name)
    for each in _files(path) if path.is_dir() else [path]:
        try:
            yield str(each), each.read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{each} cannot be read", why=error.strerror or "unknown error") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{each} is not text in UTF-8") from error


def _files(folder: Path) -> list[Path]:
    files = sorted(each for each in folder.iterdir() if each.suffix in _ENDINGS and each.is_file())
    if not files:
        raise UsageError(f"the folder {folder} has no .yaml, .yml or .json file")
    return files


def _parsed(source: str, text: str) -> Iterator[Document]:
    try:
        loaded = list(yaml.safe_load_all(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        raise UsageError(f"{where} is not valid YAML", why=error.problem or str(error.context)) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"{source} is not valid YAML", why=str(error)) from error
    for number, content in enumerate(loaded, 1):
        where = source if len(loaded) == 1 else f"{source}, document {number}"
        yield from _objects(where, content)


def _objects(source: str, content: Any) -> Iterator[Document]:
    match content:
        case None:
            return
        case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
            for each in items:
                yield from _objects(source, each)
        case list(items):
            for each in items:
                yield from _objects(source, each)
        case Mapping():
            yield Document(source, {str(key): value for key, value in content.items()})
        case _:
            raise UsageError(f"{source} is no object", why=f"it holds {content!r:.60}")
