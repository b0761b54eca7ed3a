"""The kinds of the API and their properties.

Built-in kinds are a table. Custom kinds are added and removed with their CustomResourceDefinitions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object in one version.

    `counts_generations`: a change of the spec increments the generation. `unconditional`: an update may omit the
    resourceVersion. `creates_on_update`: a PUT creates a missing object.
    """

    group: str = ""
    version: str = "v1"
    name: str
    plural: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    has_status: bool = False
    counts_generations: bool = False
    unconditional: bool = True
    creates_on_update: bool = False
    custom: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        return f"{self.name}.{self.group}" if self.group else self.name


_RBAC = "rbac.authorization.k8s.io"

NAMESPACE = Kind(name="Namespace", plural="namespaces", short_names=("ns",), namespaced=False, has_status=True)
POD = Kind(name="Pod", plural="pods", short_names=("po",), has_status=True, counts_generations=True)
JOB = Kind(group="batch", name="Job", plural="jobs", has_status=True, counts_generations=True)
SERVICE_ACCOUNT = Kind(name="ServiceAccount", plural="serviceaccounts", short_names=("sa",))
CONFIG_MAP = Kind(name="ConfigMap", plural="configmaps", short_names=("cm",))
SECRET = Kind(name="Secret", plural="secrets")
EVENT = Kind(name="Event", plural="events", short_names=("ev",), creates_on_update=True)
LEASE = Kind(group="coordination.k8s.io", name="Lease", plural="leases", unconditional=False, creates_on_update=True)
ROLE = Kind(group=_RBAC, name="Role", plural="roles", creates_on_update=True)
ROLE_BINDING = Kind(group=_RBAC, name="RoleBinding", plural="rolebindings", creates_on_update=True)
CLUSTER_ROLE = Kind(group=_RBAC, name="ClusterRole", plural="clusterroles", namespaced=False, creates_on_update=True)
CLUSTER_ROLE_BINDING = Kind(
    group=_RBAC, name="ClusterRoleBinding", plural="clusterrolebindings", namespaced=False, creates_on_update=True
)
NODE = Kind(name="Node", plural="nodes", short_names=("no",), namespaced=False, has_status=True)
CERTIFICATE_REQUEST = Kind(
    group="certificates.k8s.io",
    name="CertificateSigningRequest",
    plural="certificatesigningrequests",
    short_names=("csr",),
    namespaced=False,
    has_status=True,
)
DEFINITION = Kind(
    group="apiextensions.k8s.io",
    name="CustomResourceDefinition",
    plural="customresourcedefinitions",
    short_names=("crd", "crds"),
    namespaced=False,
    has_status=True,
    counts_generations=True,
    unconditional=False,
)

BUILT_IN = (
    NAMESPACE,
    POD,
    JOB,
    SERVICE_ACCOUNT,
    CONFIG_MAP,
    SECRET,
    EVENT,
    LEASE,
    ROLE,
    ROLE_BINDING,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    NODE,
    CERTIFICATE_REQUEST,
    DEFINITION,
)


class Kinds:
    """The kinds served right now."""

    def __init__(self) -> None:
        self._kinds = {(kind.group, kind.version, kind.plural): kind for kind in BUILT_IN}

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._kinds.values()))

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        return self._kinds.get((group, version, plural))

    def of_document(self, document: Mapping[str, Any]) -> Kind | None:
        """The kind named by the object's apiVersion and kind."""
        wanted = (document.get("apiVersion"), document.get("kind"))
        return next((kind for kind in self if (kind.api_version, kind.name) == wanted), None)

    def serves(self, group: str, version: str) -> bool:
        return any((kind.group, kind.version) == (group, version) for kind in self)

    def define(self, definition: Mapping[str, Any]) -> None:
        """Serve the versions of a CustomResourceDefinition, replacing its previous ones."""
        self.forget(definition)
        spec = definition["spec"]
        names = spec["names"]
        for version in spec["versions"]:
            if not version.get("served"):
                continue
            kind = Kind(
                group=spec["group"],
                version=version["name"],
                name=names["kind"],
                plural=names["plural"],
                singular=names.get("singular", names["kind"].lower()),
                short_names=tuple(names.get("shortNames") or ()),
                namespaced=spec["scope"] == "Namespaced",
                has_status="status" in (version.get("subresources") or {}),
                counts_generations=True,
                unconditional=False,
                custom=True,
                schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
            )
            self._kinds[kind.group, kind.version, kind.plural] = kind

    def forget(self, definition: Mapping[str, Any]) -> None:
        spec = definition["spec"]
        served = (spec["group"], spec["names"]["plural"])
        self._kinds = {key: kind for key, kind in self._kinds.items() if (kind.group, kind.plural) != served}
