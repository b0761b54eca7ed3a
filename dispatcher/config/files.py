"""The three files, read and validated: models with the positions of their values, also of those no file holds."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from dispatcher.config.broker_variables import broker_overrides
from dispatcher.config.compiled import Place
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.models.adapter import AdapterConfig
from dispatcher.config.models.blocks import Block
from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.models.old_spellings import OldBlock, modernised, modernised_adapter
from dispatcher.config.models.pruning import names_in, pruned
from dispatcher.config.models.structure import findings_of
from dispatcher.config.models.task import TaskConfig
from dispatcher.config.overrides import Override, overrides, with_overrides
from dispatcher.config.reading import paths
from dispatcher.config.reading.documents import Document
from dispatcher.config.reading.parsing import read_file
from shared.redaction import REDACTED, redact_text

_Model = TypeVar("_Model", bound=Block)
_KINDS: Mapping[type[Block], tuple[str, str]] = {
    AdapterConfig: ("an adapter config", "--config"),
    TaskConfig: ("a task config", "--task-config"),
    BrokerConfig: ("a broker config", "--broker-config"),
}
_SOURCE = re.compile(r"params\[\d+\]\.source\.")


def _in_source(path: str) -> bool:
    """The Go framework reads over unknown keys below a param's source."""
    return _SOURCE.match(path) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Generic[_Model]):
    """A file's model and where its values come from.

    `whole` is False where parts of the file are wrong and were left out; `names` are then all the names it has.
    """

    document: Document
    model: _Model
    origins: Mapping[paths.Path, str]
    whole: bool = True
    names: frozenset[str] = frozenset()


@dataclass(slots=True)
class Files:
    """Collects what is found while the files are read."""

    environment: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)

    def adapter(self, file: Path, flags: Mapping[str, str]) -> Written[AdapterConfig] | None:
        document = self._read(file)
        if document is None or self._is_of_another_kind(document, AdapterConfig):
            return None
        data, blocks = modernised_adapter(document.data)
        self._refuse_old(document, blocks)
        found = list(overrides(data, self.environment, flags))
        return self._validated(AdapterConfig, replace(document, data=data), found)

    def broker(self, file: Path | None) -> Written[BrokerConfig] | None:
        """Unknown keys are a mistake here, and not refused: the Go library reads over them."""
        document = self._read(file) if file else Document("the environment", "")
        if document is None:
            return None
        found = list(broker_overrides(self.environment))
        return self._validated(BrokerConfig, document, found, lenient=lambda _: True)

    def task(self, file: Path) -> Written[TaskConfig] | None:
        document = self._read(file)
        if document is None or self._is_of_another_kind(document, TaskConfig):
            return None
        if document.data is None:
            self._refuse("empty-file", "the file is empty", document.place(()), "write at least `params: []`")
            return None
        return self._modern(document)

    def _modern(self, document: Document) -> Written[TaskConfig] | None:
        """Blocks in an old spelling are refused, and checked in their modern form."""
        data, blocks = modernised(document.data)
        self._refuse_old(document, blocks)
        written = self._validated(TaskConfig, replace(document, data=data), [], lenient=_in_source)
        if written is None or not blocks:
            return written
        return replace(written, document=document, whole=False, names=frozenset(names_in(data)))

    def _refuse_old(self, document: Document, blocks: Sequence[OldBlock]) -> None:
        for block in blocks:
            self._refuse("old-spelling", block.message, document.place(block.key, key=True), block.hint)

    def _read(self, file: Path) -> Document | None:
        document = read_file(file, self.findings)
        if document is not None:
            self.documents[document.file] = document
        return document

    def _is_of_another_kind(self, document: Document, expected: type[Block]) -> bool:
        """Refuse a file that has keys of another kind of file only: one finding in place of one for each key."""
        keys = set(document.data) if isinstance(document.data, dict) else set()
        actual = next(
            (each for each in _KINDS if each is not expected and keys and keys <= each.model_fields.keys()), None
        )
        if actual is None or keys & expected.model_fields.keys():
            return False
        (kind, option), (wanted, _) = _KINDS[actual], _KINDS[expected]
        self._refuse("other-kind", f"this is {kind}, not {wanted}", document.place(()), f"name it with {option}")
        return True

    def _refuse(self, rule: str, message: str, place: Place, hint: str) -> None:
        self.findings.append(Finding(severity=Severity.REFUSED, rule=rule, message=message, place=place, hint=hint))

    def _validated(
        self,
        model: type[_Model],
        document: Document,
        found: Sequence[Override],
        *,
        lenient: Callable[[str], bool] = lambda _: False,
    ) -> Written[_Model] | None:
        """`lenient` says at which paths an unknown key is a mistake only."""
        origins = {override.path: override.origin for override in found}
        data = with_overrides({} if document.data is None else document.data, found)

        def locate(path: paths.Path, key: bool) -> tuple[Place, str]:  # noqa: FBT001 - the type of a callback
            return document.place(path, key=key), origins.get(path, "")

        try:
            return Written(document=document, model=model.model_validate(data), origins=origins)
        except ValidationError as error:
            findings, rest = list(findings_of(error, model, locate)), pruned(data, model, error)
        ignored = [finding.rule == "unknown-key" and lenient(finding.place.path) for finding in findings]
        for finding, is_ignored in zip(findings, ignored, strict=True):
            self.findings.append(replace(finding, severity=Severity.MISTAKE) if is_ignored else finding)
        if rest is None:
            return None
        names = frozenset(names_in(data))
        return Written(document=document, model=rest, origins=origins, whole=all(ignored), names=names)

    def complete(self) -> tuple[Finding, ...]:
        """The findings in the order of their files and lines, each once and with the text of its line."""
        order = {name: number for number, name in enumerate(self.documents)}
        secrets = _first_secrets(self.findings)
        found = [self._with_line(finding, secrets) for finding in dict.fromkeys(self.findings)]
        return tuple(
            sorted(found, key=lambda each: (order.get(each.place.file, -1), each.place.line, each.place.column))
        )

    def _with_line(self, finding: Finding, secrets: Mapping[tuple[str, int], int]) -> Finding:
        document = self.documents.get(finding.place.file)
        line = finding.line or (document.line(finding.place.line) if document else "")
        secret = secrets.get((finding.place.file, finding.place.line))
        if secret is not None:
            line = f"{line[: secret - 1]}{REDACTED}"
        return replace(finding, line=redact_text(line))


def _first_secrets(findings: Iterable[Finding]) -> dict[tuple[str, int], int]:
    """The column of the first secret in each line that has one: what follows it is not shown."""
    columns: dict[tuple[str, int], int] = {}
    for finding in findings:
        if finding.rule == "clear-text-secret":
            line = (finding.place.file, finding.place.line)
            columns[line] = min(finding.place.column, columns.get(line, finding.place.column))
    return columns
