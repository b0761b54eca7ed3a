"""The id of a work in Maestro, which follows from who sends it, where it goes and what it is called.

The id contains the source id: whoever changes the source id of an adapter no longer finds the works it has made.
"""

import uuid

_RESOURCE = "manifestworks.work.open-cluster-management.io"


def work_id(source_id: str, consumer: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{source_id}-{_RESOURCE}-{consumer}-{name}"))
