"""Every failure that can reach a user, in one tree: is it worth another try, and what should be done about it?

    HyperFleetError
    ├── Transient                 worth trying again; `retry_after` where the other side named a wait
    │   ├── Unavailable           no connection, a broken connection or stream, or too many requests
    │   ├── DeadlineExceeded      no answer in time: the request may or may not have been carried out
    │   └── ServerError           the server says that it failed itself
    └── Permanent                 trying the same again changes nothing
        ├── Misconfigured         settings that cannot work; `.problems` lists all of them
        ├── Invalid               content that is, or would be, refused; `.problems` lists all of them
        │   └── InvalidReport     the adapter's report cannot be understood
        ├── TooLarge              more bytes than the other side accepts
        ├── NotFound
        │   ├── UnknownConsumer   the management cluster is not registered in Maestro
        │   └── UnknownKind       the API server does not serve this kind
        ├── AlreadyExists
        ├── Conflict              somebody else wrote first; `.latest_version` where the server named it
        ├── Deleting              the object is being deleted and accepts no change
        ├── NotOwned              the object belongs to somebody else and is left alone
        ├── Unauthenticated       the credentials are missing, expired or unknown
        └── Forbidden             the identity is known and not allowed to do this

An error says what happened, why, and what to do; `str(error)` is these three in one line, fit for a condition.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Problem(NamedTuple):
    """One thing wrong with a document: `path` is where, `message` is what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class HyperFleetError(Exception):
    """What failed, why it failed, and what the reader can do about it."""

    def __init__(self, what: str, *, why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        sentence = f"{self.what}: {self.why}" if self.why else self.what
        return f"{sentence} ({self.remedy})" if self.remedy else sentence


class Transient(HyperFleetError):
    """Worth trying again."""

    def __init__(self, what: str, *, why: str = "", remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.retry_after = retry_after


class Permanent(HyperFleetError):
    """Trying the same again changes nothing."""


class Unavailable(Transient):
    """There is no connection, or it broke."""


class DeadlineExceeded(Transient):
    """No answer in time; whether the request was carried out is not known."""


class ServerError(Transient):
    """The server failed while it worked on the request."""


class _WithProblems(Permanent):
    def __init__(self, what: str, problems: Iterable[Problem] = (), *, why: str = "", remedy: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__(what, why=why or "; ".join(map(str, self.problems)), remedy=remedy)


class Misconfigured(_WithProblems):
    """Settings that cannot work."""


class Invalid(_WithProblems):
    """Content that is refused, here or by the server."""


class InvalidReport(Invalid):
    """The adapter's report is not one of the accepted forms."""


class TooLarge(Permanent):
    """More bytes than the other side accepts."""


class NotFound(Permanent):
    """There is no such object."""


class UnknownConsumer(NotFound):
    """The management cluster is not registered in Maestro."""


class UnknownKind(NotFound):
    """The API server does not serve this kind of object."""


class AlreadyExists(Permanent):
    """There is such an object already."""


class Conflict(Permanent):
    """Somebody else wrote first."""

    def __init__(self, what: str, *, why: str = "", remedy: str = "", latest_version: int | None = None) -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.latest_version = latest_version


class Deleting(Permanent):
    """The object is being deleted and accepts no change until it is gone."""


class NotOwned(Permanent):
    """The object belongs to another source, or lacks our labels."""


class Unauthenticated(Permanent):
    """The credentials are missing, expired or unknown to the server."""


class Forbidden(Permanent):
    """The server knows the identity and does not allow this."""
