"""An asynchronous client of the Kubernetes API: lean calls, server-side apply, watches that resume, a Lease."""

from shared.kubernetes.client import DeletionPolicy, KubernetesClient, Page, PatchType, StreamEvent
from shared.kubernetes.credentials.access import Access, AccessSource, FixedAccess
from shared.kubernetes.credentials.choice import access_source
from shared.kubernetes.discovery import ResourceKind
from shared.kubernetes.http.refusals import Expired
from shared.kubernetes.leadership.lease import Lease
from shared.kubernetes.objects import Object, ObjectRef, Selection, equal_labels, select_one, uid_of, version_of
from shared.kubernetes.watching.known import Change, WatchEvent
from shared.kubernetes.watching.watch import Watch

__all__ = [
    "Access",
    "AccessSource",
    "Change",
    "DeletionPolicy",
    "Expired",
    "FixedAccess",
    "KubernetesClient",
    "Lease",
    "Object",
    "ObjectRef",
    "Page",
    "PatchType",
    "ResourceKind",
    "Selection",
    "StreamEvent",
    "Watch",
    "WatchEvent",
    "access_source",
    "equal_labels",
    "select_one",
    "uid_of",
    "version_of",
]
