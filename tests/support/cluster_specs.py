"""Cluster specs for every test that judges them: a good one, all the named bad ones, and whatever hypothesis thinks of.

The same bad specs are shown to our validation and to the real API server, which lets some of them through.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from controlplane_adapter.hostedcluster.render_settings import SERVICE_ACCOUNT_ROLES, RenderSettings
from shared.model.snapshot import ClusterSnapshot

CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
PROJECT = "my-project-123"
SETTINGS = RenderSettings(pull_secret="pull-secret")
REMOVED: Any = object()


def email(name: str, project: str = PROJECT) -> str:
    return f"{name}@{project}.iam.gserviceaccount.com"


EMAILS = {
    "control_plane_sa_email": email("ctrlplane"),
    "nodepool_sa_email": email("nodepool"),
    "cloud_controller_sa_email": email("cloudctl"),
    "storage_sa_email": email("pdcsidrv"),
    "image_registry_sa_email": email("registry"),
    "network_sa_email": email("cloudnet"),
}
SPEC: Mapping[str, Any] = {
    "gcp_project_id": PROJECT,
    "gcp_project_number": "123456789012",
    "gcp_region": "us-central1",
    "vpc_network_name": "my-vpc",
    "psc_subnet_name": "my-subnet",
    "wif_pool_id": "my-pool",
    "wif_provider_id": "my-provider",
    "openshift_version": "4.22.0",
    **EMAILS,
}

# The whole of what a cluster can say, and a platform that says the rest.
FULL_SPEC: Mapping[str, Any] = {
    **SPEC,
    "channel": "stable-4.22",
    "endpoint_access": "PublicAndPrivate",
    "cluster_network_cidr": "10.132.0.0/14",
    "cluster_network_host_prefix": 23,
    "service_network_cidr": "172.31.0.0/16",
    "machine_network_cidr": "10.0.0.0/16",
    "olm_catalog_placement": "management",
    "etcd_storage_size": "8Gi",
    "etcd_storage_class_name": "premium-rwo",
}
FULL_ADAPTERS: Mapping[str, Any] = {
    "dns": {"base_domain": "gcp.example.com", "public_zone_id": "my-public-zone"},
    "pullsecret": {"pull_secret_name": "demo-pull-secret"},
}
FULL_SETTINGS = RenderSettings(
    ssh_key="{name}-ssh-key",
    encryption_key="{name}-etcd-encryption-key",
    signing_key="{name}-sa-signing-key",
    issuer_url="https://oidc.example.com/{infra_id}",
    cluster_id_label="hyperfleet-cluster-id",
)


def snapshot(
    changes: Mapping[str, Any] | None = None,
    *,
    cluster_id: str = CLUSTER_ID,
    name: str = "demo",
    generation: int = 1,
    adapters: Mapping[str, Any] | None = None,
) -> ClusterSnapshot:
    """The good cluster with these changes to its spec, as it comes out of a file."""
    spec = {key: value for key, value in {**SPEC, **(changes or {})}.items() if value is not REMOVED}
    cluster = {"id": cluster_id, "name": name, "generation": generation, "spec": spec}
    return ClusterSnapshot.parse(json.dumps({"cluster": cluster, "adapters": adapters or {}}).encode())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BadSpec:
    """A cluster that must be refused with `field` named; `let_through` where the API server would take it."""

    title: str
    field: str
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    let_through: bool = False
    name: str = "demo"
    cluster_id: str = CLUSTER_ID
    adapters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    settings: RenderSettings = SETTINGS

    @property
    def snapshot(self) -> ClusterSnapshot:
        return snapshot(self.changes, cluster_id=self.cluster_id, name=self.name, adapters=self.adapters)


def _bad(title: str, name: str, value: Any, *, let_through: bool = False, **more: Any) -> BadSpec:
    return BadSpec(title=title, field=f"spec.{name}", changes={name: value, **more}, let_through=let_through)


def _projects() -> list[BadSpec]:
    project, number = "gcp_project_id", "gcp_project_number"
    return [
        _bad("no project", project, REMOVED),
        _bad("an empty project", project, ""),
        _bad("a project in upper case", project, "My-Project"),
        _bad("a project that is too short", project, "abcde"),
        _bad("a project that is too long", project, "a" * 31),
        _bad("a project that ends with a hyphen", project, "my-project-"),
        _bad("a project of a domain", project, "example.com:my-project"),
        _bad("a project that is a number", project, 123456789012),
        _bad("a project with a line end", project, f"{PROJECT}\n"),
        _bad("no project number", number, REMOVED),
        _bad("a project number with letters", number, "12345a"),
        _bad("a project number that is too long", number, "1" * 26),
        _bad("a negative project number", number, -5),
        _bad("a project number that is a switch", number, value=True),
        _bad("a project number that is a list", number, ["123"]),
        _bad("no region", "gcp_region", REMOVED),
        _bad("a zone for a region", "gcp_region", "us-central1-a"),
        _bad("a region without its number", "gcp_region", "us-central"),
        _bad("no network", "vpc_network_name", REMOVED),
        _bad("a network by its path", "vpc_network_name", "projects/p/global/networks/my-vpc"),
        _bad("a network name that is too long", "vpc_network_name", "n" * 64),
        _bad("no subnet", "psc_subnet_name", None),
        _bad("a subnet with an underscore", "psc_subnet_name", "my_subnet"),
        _bad("a subnet that begins with a digit", "psc_subnet_name", "1subnet"),
    ]


def _identities() -> list[BadSpec]:
    roles = {name: role for role, name in SERVICE_ACCOUNT_ROLES.items()}
    return [
        *(_bad(f"no service account for {roles[name]}", name, REMOVED) for name in EMAILS),
        _bad("no pool", "wif_pool_id", REMOVED),
        _bad("a reserved pool", "wif_pool_id", "gcp-pool"),
        _bad("a pool that is too short", "wif_pool_id", "abc"),
        _bad("a pool that is too long", "wif_pool_id", "p" * 33),
        _bad("no provider", "wif_provider_id", REMOVED),
        _bad("a reserved provider", "wif_provider_id", "gcp-provider"),
        _bad("a provider in upper case", "wif_provider_id", "My-Provider"),
        _bad("a person's e-mail", "storage_sa_email", "somebody@example.com"),
        _bad("a service account of another project", "network_sa_email", email("cloudnet", "other-project")),
        _bad("a service account with a short name", "nodepool_sa_email", email("np")),
        _bad("a service account that is a number", "nodepool_sa_email", 5),
        _bad("one account for two roles", "network_sa_email", EMAILS["storage_sa_email"], let_through=True),
        BadSpec(
            title="a role nobody knows",
            field="spec.service_account_emails.nodepool",
            changes={"service_account_emails": {"nodepool": email("nodepool")}},
            let_through=True,
        ),
        BadSpec(
            title="a bad e-mail in the map of roles",
            field="spec.service_account_emails.storage",
            changes={"service_account_emails": {"storage": "nobody"}, "storage_sa_email": REMOVED},
        ),
        BadSpec(
            title="two e-mails for one role",
            field="spec.storage_sa_email",
            changes={"service_account_emails": {"storage": email("storage-two")}},
            let_through=True,
        ),
        _bad("a list of roles", "service_account_emails", [email("nodepool")], let_through=True),
    ]


def _networks() -> list[BadSpec]:
    cluster, service, machine = "cluster_network_cidr", "service_network_cidr", "machine_network_cidr"
    return [
        _bad("one range for pods and services", service, "10.132.0.0/14"),
        _bad("services inside the pods' range", service, "10.132.4.0/22", let_through=True),
        _bad("machines inside the pods' range", machine, "10.135.0.0/16", let_through=True),
        _bad("the pods' range around the machines", machine, "10.128.0.0/9", let_through=True),
        _bad("two pod ranges that overlap", cluster, ["10.132.0.0/14", "10.132.0.0/16"], let_through=True),
        _bad("a range that cannot exist", machine, "999.1.1.1/99", let_through=True),
        _bad("a range without its length", machine, "10.0.0.0"),
        _bad("a range with letters", machine, "ten-net"),
        _bad("a range that does not begin at its first address", machine, "10.0.0.1/16", let_through=True),
        _bad("three ranges", cluster, ["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16"]),
        _bad("a range that is a number", cluster, 10),
        _bad("an empty range in a list", machine, [""]),
        _bad("services in another family", service, "fd02::/112", let_through=True),
        _bad("two service ranges of one family", service, ["172.30.0.0/16", "172.31.0.0/16"], let_through=True),
        _bad(
            "pods in both families, services in one",
            service,
            "172.31.0.0/16",
            cluster_network_cidr=["10.0.0.0/16", "fd01::/48"],
            let_through=True,
        ),
        _bad("machines that begin with another family", machine, ["fd03::/64", "10.0.0.0/16"], let_through=True),
        _bad(
            "pods where the API server is advertised",
            cluster,
            "172.16.0.0/13",
            service_network_cidr="10.0.0.0/16",
            let_through=True,
        ),
        _bad("machines where OVN joins its nodes", machine, "100.64.0.0/20", let_through=True),
        _bad("a node's share larger than the pods' range", "cluster_network_host_prefix", 13, let_through=True),
        _bad("a node's share of nothing", "cluster_network_host_prefix", 31, let_through=True),
        _bad("a node's share as text", "cluster_network_host_prefix", "23"),
        _bad("more shares than ranges", "cluster_network_host_prefix", [23, 24], let_through=True),
        _bad("a network type nobody knows", "network_type", "foo"),
        _bad("a network type that is gone", "network_type", "OpenShiftSDN", let_through=True),
    ]


def _releases_and_endpoints() -> list[BadSpec]:
    version, image, access, domain = "openshift_version", "release_image", "endpoint_access", "base_domain"
    repository = "quay.io/openshift-release-dev/ocp-release"
    return [
        _bad("no version", version, REMOVED),
        _bad("a version without its patch", version, "4.22", let_through=True),
        _bad("a version that is a number", version, 4.22),
        _bad("a version that is a name", version, "latest", let_through=True),
        _bad("a version with a space", version, "4.22.0 "),
        _bad("an image with a space", image, f"{repository}:4.22.0 -multi"),
        _bad("an image that is too long", image, f"{'r' * 250}:4.22.0-multi"),
        _bad("an image that begins with a hyphen", image, "-image:4.22.0"),
        _bad("an image for no machine", image, f"{repository}:4.22.0", let_through=True),
        _bad(
            "a version that is not the image's",
            version,
            "4.22.1",
            release_image=f"{repository}:4.22.0-multi",
            let_through=True,
        ),
        _bad("an access nobody knows", access, "Public"),
        _bad("an access that is a number", access, 1),
        BadSpec(
            title="a public endpoint without a domain",
            field=f"spec.{domain}",
            changes={access: "PublicAndPrivate"},
            let_through=True,
        ),
        _bad("a domain with a space", domain, "exa mple.com"),
        _bad("a domain with an at sign", domain, "@example.com"),
        _bad("a domain that is too long", domain, f"{'a.' * 126}example"),
        _bad("a domain in upper case", domain, "Example.COM", let_through=True),
        _bad("a domain with a hyphen at its edge", domain, "-example.com", let_through=True),
        _bad("a domain no host name can end with", domain, "cluster1", endpoint_access="PublicAndPrivate"),
        BadSpec(
            title="a bad domain from the DNS adapter",
            field="adapters.dns.base_domain",
            adapters={"dns": {"base_domain": "@foo"}},
        ),
        _bad("a zone that is too long", "public_zone_id", "z" * 259, base_domain="example.com"),
        BadSpec(title="a zone without a domain", field=f"spec.{domain}", changes={"public_zone_id": "my-zone"}),
        _bad("a private zone that is too long", "private_zone_id", "z" * 266, base_domain="example.com"),
        _bad("an issuer that is no URL", "issuer_url", "not a url"),
        _bad("an issuer that is not safe", "issuer_url", "http://oidc.example.com", let_through=True),
        _bad("an issuer that is only a path", "issuer_url", "/oidc", let_through=True),
        _bad("an issuer that is too long", "issuer_url", f"https://oidc.example.com/{'x' * 240}"),
    ]


def _rest() -> list[BadSpec]:
    return [
        BadSpec(title="no pull secret", field="spec.pull_secret_name", settings=RenderSettings()),
        _bad("a pull secret in upper case", "pull_secret_name", "Pull-Secret", let_through=True),
        BadSpec(
            title="a bad pull secret from its adapter",
            field="adapters.pullsecret.pull_secret_name",
            adapters={"pullsecret": {"pull_secret_name": 5}},
        ),
        _bad("an SSH key that can be no Secret", "ssh_key_secret_name", "ssh key", let_through=True),
        _bad("an encryption key that can be no Secret", "etcd_encryption_key_secret_name", "Key", let_through=True),
        _bad("a signing key that can be no Secret", "service_account_signing_key_secret_name", "a/b", let_through=True),
        _bad("an availability nobody knows", "controller_availability_policy", "foo"),
        _bad("an infrastructure availability nobody knows", "infrastructure_availability_policy", "Available"),
        _bad("a catalog nowhere", "olm_catalog_placement", "nowhere"),
        _bad("a feature set nobody knows", "feature_set", "Everything"),
        _bad("a size nobody can read", "etcd_storage_size", "8 GB"),
        _bad("a size of nothing", "etcd_storage_size", "0", let_through=True),
        _bad("a size below nothing", "etcd_storage_size", "-8Gi", let_through=True),
        _bad("a storage class with a space", "etcd_storage_class_name", "Premium RWO", let_through=True),
        _bad("a channel that is too long", "channel", "c" * 101),
        _bad("a channel with a space", "channel", "stable 4.22", let_through=True),
        BadSpec(
            title="a label key in upper case",
            field="spec.resource_labels.Team",
            changes={"resource_labels": {"Team": "a"}},
        ),
        BadSpec(
            title="a reserved label key",
            field="spec.resource_labels.goog-x",
            changes={"resource_labels": {"goog-x": "a"}},
        ),
        BadSpec(
            title="a label value in upper case",
            field="spec.resource_labels.team",
            changes={"resource_labels": {"team": "Payments"}},
        ),
        BadSpec(
            title="a label value that is too long",
            field="spec.resource_labels.team",
            changes={"resource_labels": {"team": "t" * 64}},
        ),
        BadSpec(
            title="a label value that is a number",
            field="spec.resource_labels.team",
            changes={"resource_labels": {"team": 7}},
        ),
        _bad("more labels than can be", "resource_labels", {f"l{index}": "" for index in range(60)}),
        _bad("labels in a list", "resource_labels", [{"key": "team", "value": "a"}], let_through=True),
        BadSpec(
            title="the label of the cluster's id",
            field="spec.resource_labels.cluster-id",
            changes={"resource_labels": {"cluster-id": "mine"}},
            let_through=True,
        ),
        BadSpec(title="a cluster's name in upper case", field="name", name="Demo"),
        BadSpec(title="a cluster's name with a dot", field="name", name="demo.one", let_through=True),
        BadSpec(title="a cluster's name that is too long", field="name", name="n" * 55, let_through=True),
        BadSpec(title="an id that is no UUID", field="id", cluster_id="cluster-1"),
        BadSpec(title="an id in upper case", field="id", cluster_id=CLUSTER_ID.upper()),
    ]


BAD_SPECS = (*_projects(), *_identities(), *_networks(), *_releases_and_endpoints(), *_rest())

_SLUG = "[a-z](?:[a-z0-9-]{0,20}[a-z0-9])?"


def _matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="ascii"))


_SECRETS = _matching(rf"{_SLUG}(?:\.{_SLUG})?")
_DOMAINS = _matching(rf"(?:{_SLUG}\.){{1,3}}[a-z]{{2,6}}")
_VERSIONS = _matching(r"[45]\.[1-9][0-9]?\.(?:0|[1-9][0-9]?)(?:-(?:rc|ec)\.[0-9])?(?:-(?:multi|x86_64))?")
_IMAGES = st.builds("{}:{}".format, _matching(rf"{_SLUG}\.example\.com/{_SLUG}"), _VERSIONS) | _matching(
    r"registry\.example\.com/release@sha256:[a-f0-9]{64}"
)
_LABELS = st.dictionaries(
    _matching("(?!goog|cluster-id)[a-z](?:[_a-z0-9-]{0,20}[a-z0-9])?"),
    _matching("(?:[a-z](?:[_a-z0-9-]{0,20}[a-z0-9])?)?"),
    max_size=4,
)
_POLICIES = st.sampled_from(["HighlyAvailable", "SingleReplica"])
_OPTIONAL = {
    "endpoint_access": st.sampled_from(["Private", ""]),
    "channel": _matching(r"(?:stable|fast|candidate)-4\.[0-9]{2}"),
    "network_type": st.sampled_from(["OVNKubernetes", "Calico", "Other"]),
    "private_zone_id": st.just(""),
    "ssh_key_secret_name": _SECRETS,
    "etcd_encryption_key_secret_name": _SECRETS,
    "service_account_signing_key_secret_name": _SECRETS,
    "issuer_url": _matching(rf"https://{_SLUG}\.example\.com(?::[1-9][0-9]{{1,3}})?(?:/[A-Za-z0-9._~-]{{0,20}})?"),
    "controller_availability_policy": _POLICIES,
    "infrastructure_availability_policy": _POLICIES,
    "olm_catalog_placement": st.sampled_from(["management", "guest"]),
    "feature_set": st.sampled_from(["TechPreviewNoUpgrade", "CustomNoUpgrade", "DevPreviewNoUpgrade"]),
    "etcd_storage_size": _matching("[1-9][0-9]?(?:Gi|G|Ti)"),
    "etcd_storage_class_name": _SECRETS,
    "resource_labels": _LABELS,
    "somebody_elses_field": st.none() | st.integers() | st.text(max_size=5),
}
_SETTINGS = st.builds(
    RenderSettings,
    pull_secret=st.sampled_from(["{name}-pull-secret", "pull-secret", "{infra_id}.pull"]),
    namespace=st.sampled_from(["clusters", "ocm"]),
    arch_suffix=st.sampled_from(["-multi", "-x86_64"]),
    feature_set=st.sampled_from(["TechPreviewNoUpgrade", ""]),
    cluster_id_label=st.sampled_from(["cluster-id", "hyperfleet-cluster-id", ""]),
    resource_labels=st.sampled_from([{}, {"managed-by": "hyperfleet"}]),
    issuer_url=st.sampled_from(["", "https://oidc.example.com/{infra_id}"]),
    controller_availability_policy=st.sampled_from(["", "HighlyAvailable"]),
    annotations=st.sampled_from([{}, RenderSettings().annotations]),
)


@st.composite
def _networks_of(draw: st.DrawFn) -> dict[str, Any]:
    """Ranges that keep out of each other's way: one family or both, as text or as a list."""
    ranges = {
        "cluster_network_cidr": [f"10.{draw(st.integers(0, 31)) * 4}.0.0/{draw(st.integers(14, 20))}", "fd01::/48"],
        "service_network_cidr": [f"172.{draw(st.integers(24, 31))}.0.0/{draw(st.integers(16, 22))}", "fd02::/112"],
        "machine_network_cidr": [f"192.168.{draw(st.integers(0, 255))}.0/24", "fd03:1::/64"],
    }
    both = draw(st.booleans())
    networks: dict[str, Any] = {
        name: pair if both else draw(st.sampled_from([pair[0], pair[:1]])) for name, pair in ranges.items()
    }
    if draw(st.booleans()):
        networks["cluster_network_host_prefix"] = [23, 64] if both else draw(st.integers(20, 30))
    return networks


@st.composite
def good_clusters(draw: st.DrawFn) -> tuple[ClusterSnapshot, RenderSettings]:
    """A cluster that passes our validation, and the settings of the platform it is on."""
    project = draw(_matching("[a-z][a-z0-9-]{4,28}[a-z0-9]"))
    names = draw(st.lists(_matching("[a-z][a-z0-9-]{4,28}[a-z0-9]"), min_size=6, max_size=6, unique=True))
    emails = {role: email(each, project) for role, each in zip(SERVICE_ACCOUNT_ROLES, names, strict=True)}
    spec: dict[str, Any] = {
        "gcp_project_id": project,
        "gcp_project_number": draw(st.integers(0, 10**24) | _matching("[0-9]{1,25}")),
        "gcp_region": draw(_matching("[a-z]{2,12}-[a-z]{4,9}[0-9]{1,2}")),
        "vpc_network_name": draw(_matching("[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")),
        "psc_subnet_name": draw(_matching("[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")),
        "wif_pool_id": draw(_matching("(?!gcp-)[a-z][a-z0-9-]{2,30}[a-z0-9]")),
        "wif_provider_id": draw(_matching("(?!gcp-)[a-z][a-z0-9-]{2,30}[a-z0-9]")),
        **draw(
            st.one_of(
                st.fixed_dictionaries({"openshift_version": _VERSIONS}),
                st.fixed_dictionaries({"release_image": _IMAGES}),
            )
        ),
        **draw(st.fixed_dictionaries({}, optional=_OPTIONAL)),
        **draw(st.one_of(st.just({}), _networks_of())),
    }
    together = draw(st.sets(st.sampled_from(sorted(emails))))
    spec["service_account_emails"] = {role: emails[role] for role in together}
    spec |= {SERVICE_ACCOUNT_ROLES[role]: each for role, each in emails.items() if role not in together}
    adapters: dict[str, Any] = draw(st.sampled_from([{}, {"pullsecret": {"pull_secret_name": "theirs"}}]))
    if draw(st.booleans()):
        zone = {"base_domain": draw(_DOMAINS), "public_zone_id": draw(_SECRETS)}
        adapters = adapters | draw(st.sampled_from([{"dns": zone}, {"dns": {}}]))
        spec |= draw(st.sampled_from([zone, {**zone, "endpoint_access": "PublicAndPrivate"}]))
    cluster = {
        "id": str(draw(st.uuids())),
        "name": draw(_matching("[a-z0-9](?:[-a-z0-9]{1,51}[a-z0-9])?")),
        "generation": draw(st.integers(1, 2**31)),
        "spec": spec,
    }
    content = json.dumps({"cluster": cluster, "adapters": adapters}).encode()
    return ClusterSnapshot.parse(content), draw(_SETTINGS)


@st.composite
def changed_clusters(draw: st.DrawFn) -> tuple[ClusterSnapshot, ClusterSnapshot, RenderSettings]:
    """A good cluster, and the same one after a change of some fields; most such changes can never be made."""
    old, settings = draw(good_clusters())
    other, _ = draw(good_clusters())
    movable = {"openshift_version", "release_image", "channel", "resource_labels", "ssh_key_secret_name"}
    changed = draw(st.sets(st.sampled_from(sorted(movable)), min_size=1)) | draw(
        st.sets(st.sampled_from(sorted({*_OPTIONAL} - movable)), max_size=1)
    )
    spec = {**old.spec, **{name: other.spec[name] for name in sorted(changed) if name in other.spec}}
    return old, dataclasses.replace(old, spec=spec, generation=old.generation + 1), settings


_NASTY = st.sampled_from(
    [
        *("", " ", "a", "A", "-", "0", "x" * 64, "x" * 300, "a\n", "é", "a.b", "4.22.0", "https://[::1]/", "gcp-x"),
        *(None, 0, -1, 1.5, 10**30, True, False, [], ["a"], {}, {"a": "b"}, ["10.0.0.0/8"], "10.0.0.0/8", "::/0"),
        *("Private", "PublicAndPrivate", "1.2.3.4/33", "fd01::/48", "2001:db8::/129", "\u0661", "a--b", "8Gi", "a:b"),
    ]
)


@st.composite
def doubtful_clusters(draw: st.DrawFn) -> tuple[ClusterSnapshot, RenderSettings]:
    """A good cluster in which up to three fields hold something else; some of these still pass."""
    cluster, settings = draw(good_clusters())
    spoiled = draw(
        st.lists(
            st.sampled_from(sorted({*SPEC, *_OPTIONAL, "base_domain", "public_zone_id", "machine_network_cidr"})),
            max_size=3,
        )
    )
    spec = {**cluster.spec, **{name: draw(_NASTY | st.text(max_size=12)) for name in spoiled}}
    document = {"id": cluster.cluster_id, "name": cluster.name, "generation": cluster.generation, "spec": spec}
    content = json.dumps({"cluster": document, "adapters": dict(cluster.adapters)}).encode()
    return ClusterSnapshot.parse(content), settings
