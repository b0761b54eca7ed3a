"""The error that a failed call to Maestro's gRPC server stands for.

The server answers nearly everything with UNKNOWN, so the meaning is in the text (`refusals.from_text`).
"""

import grpc

from shared import errors
from shared.errors import HyperFleetError
from shared.maestro.refusals import GRPC_NAMES, Names, from_text, unauthenticated, unreachable
from shared.redaction import redact_text


def from_grpc(what: str, code: grpc.StatusCode, details: str, names: Names = GRPC_NAMES) -> HyperFleetError:
    """The error that a failed call to the gRPC server stands for; `what` says what was tried."""
    details = redact_text(details)
    match code:
        case grpc.StatusCode.UNKNOWN:
            return from_text(what, details, names)
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return errors.DeadlineExceeded(f"{what}: no answer in time", why=details)
        case grpc.StatusCode.UNAUTHENTICATED:
            return unauthenticated(what, details, names)
        case grpc.StatusCode.PERMISSION_DENIED:
            return errors.Forbidden(f"{what}: not allowed", why=details)
        case grpc.StatusCode.RESOURCE_EXHAUSTED if "larger than max" in details:
            return errors.TooLarge(f"{what}: the message is too large", why=details)
        case grpc.StatusCode.UNIMPLEMENTED:
            why = "whatever answers at the gRPC address is not Maestro"
            return errors.Misconfigured(f"{what}: no such service", why=why, remedy=f"check {names.address}")
        case grpc.StatusCode.INTERNAL:
            return errors.ServerError(f"{what}: Maestro failed", why=details)
        case _:
            return unreachable(what, details or code.name, names)
