"""Fields of a HostedCluster that must fit together, beyond networks, services and the platform.

Names that combine to a name that is too long, an image that cannot exist, encryption without a key, two kinds of etcd.
"""

import re
from collections.abc import Iterator, Mapping

from controlplane_adapter.hostedcluster import versions
from controlplane_adapter.hostedcluster.model import ABSENT, IMAGE, PLATFORM, Json, effective, value_at
from controlplane_adapter.hostedcluster.sources import BASE_DOMAIN
from controlplane_adapter.hostedcluster.validation.fields import TextRule
from shared.errors import Problem

# The namespace of the control plane is `<namespace>-<name>`.
MAX_NAMESPACE = 63
MAX_MAP_ENTRIES = 20
GRACE_PERIOD = "hypershift.openshift.io/destroy-grace-period"
# The operator fails on a value that Go cannot parse.
_DURATION = TextRule(
    allowed="a duration such as 300s", pattern=r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ns|us|ms|s|m|h))+", longest=60
)
# Every tag in these repositories ends with an architecture; one that does not cannot exist.
_PUBLIC_IMAGE = re.compile(r"quay\.io/openshift-release-dev/ocp-release(-nightly)?(:[A-Za-z0-9_.-]{1,128})?")
_ENCRYPTION = "spec.secretEncryption"


def consistency_problems(manifest: Json) -> Iterator[Problem]:
    yield from _name_problems(manifest)
    yield from _release_problems(manifest)
    yield from _encryption_problems(manifest)
    yield from _etcd_problems(manifest)
    yield from _dns_problems(manifest)
    yield from _map_problems(manifest)
    yield from _annotation_problems(manifest)


def _name_problems(manifest: Json) -> Iterator[Problem]:
    name, namespace = value_at(manifest, "metadata.name"), value_at(manifest, "metadata.namespace")
    if not isinstance(name, str) or not isinstance(namespace, str):
        return
    if (length := len(namespace) + 1 + len(name)) > MAX_NAMESPACE:
        effect = f"makes the control plane's namespace '{namespace}-{name}' {length} characters long"
        yield Problem("metadata.name", f"{effect}, more than {MAX_NAMESPACE}")


def _release_problems(manifest: Json) -> Iterator[Problem]:
    image = value_at(manifest, IMAGE)
    if not isinstance(image, str) or not _PUBLIC_IMAGE.fullmatch(image):
        return
    if not versions.names_architecture(tag := versions.tag_of(image)):
        suffixes = ", ".join(f"-{each}" for each in versions.ARCHITECTURES)
        yield Problem(IMAGE, f"the tag {tag!r:.60} must end with an architecture ({suffixes})")


def _encryption_problems(manifest: Json) -> Iterator[Problem]:
    encryption = value_at(manifest, _ENCRYPTION)
    if encryption is ABSENT:
        return
    kind = value_at(encryption, "type")
    if kind is ABSENT:
        yield Problem(f"{_ENCRYPTION}.type", "is required")
    if kind == "aescbc" and value_at(encryption, "aescbc.activeKey.name") is ABSENT:
        yield Problem(f"{_ENCRYPTION}.aescbc.activeKey.name", "is required for type aescbc: the name of a Secret")
    if kind == "kms" and value_at(manifest, "spec.platform.type") == PLATFORM:
        yield Problem(f"{_ENCRYPTION}.type", f"must be aescbc: HyperShift has no KMS for {PLATFORM}")


def _etcd_problems(manifest: Json) -> Iterator[Problem]:
    etcd = value_at(manifest, "spec.etcd")
    if etcd is ABSENT:
        return
    kind = effective(manifest, "spec.etcd.managementType")
    for name, needed in (("managed", "Managed"), ("unmanaged", "Unmanaged")):
        if (value_at(etcd, name) is not ABSENT) != (kind == needed):
            yield Problem(f"spec.etcd.{name}", f"must be set exactly when managementType is {needed}")


def _dns_problems(manifest: Json) -> Iterator[Problem]:
    if value_at(manifest, "spec.dns") is not ABSENT and value_at(manifest, BASE_DOMAIN) is ABSENT:
        yield Problem(BASE_DOMAIN, "is required where a zone is given")


def _map_problems(manifest: Json) -> Iterator[Problem]:
    for path in ("spec.labels", "spec.nodeSelector"):
        entries = value_at(manifest, path)
        if isinstance(entries, Mapping) and len(entries) > MAX_MAP_ENTRIES:
            yield Problem(path, f"must have at most {MAX_MAP_ENTRIES} entries, not {len(entries)}")


def _annotation_problems(manifest: Json) -> Iterator[Problem]:
    annotations = value_at(manifest, "metadata.annotations")
    period = annotations.get(GRACE_PERIOD) if isinstance(annotations, Mapping) else None
    if period is not None and (message := _DURATION.problem_with(period)):
        yield Problem("metadata.annotations", f"{GRACE_PERIOD} {message}")
