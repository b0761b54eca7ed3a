"""Identifiers of resources: UUIDs of version 7, which sort by the time they were made."""

import secrets
import uuid
from datetime import UTC, datetime, timedelta

_EPOCH = datetime.fromtimestamp(0, UTC)


def uuid7(now: datetime) -> str:
    milliseconds = (now - _EPOCH) // timedelta(milliseconds=1) & (2**48 - 1)
    number = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=number))
