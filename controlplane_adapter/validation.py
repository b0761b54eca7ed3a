"""What is wrong with a cluster before anything of it is sent: everything, at once, by the field to change.

`manifest_problems` judges any HostedCluster by its own paths. `problems_of` judges one that was rendered: it adds what
only the cluster's spec can show, and tells each problem at the place that decides the value.
"""

from collections.abc import Collection, Iterator, Mapping

from controlplane_adapter import versions
from controlplane_adapter.field_rules import field_problems
from controlplane_adapter.gcp_rules import gcp_problems
from controlplane_adapter.hostedcluster import Json, enclosing, value_at
from controlplane_adapter.network_rules import network_problems
from controlplane_adapter.object_rules import object_problems
from controlplane_adapter.render_settings import SERVICE_ACCOUNT_ROLES, RenderSettings
from controlplane_adapter.rendering import Rendered, listed, rendered
from controlplane_adapter.service_rules import service_problems
from controlplane_adapter.sources import CLUSTER_NETWORK, HOST_PREFIX, find, is_something
from shared.errors import Problem
from shared.snapshot import ClusterSnapshot

_VERSION_FORM = "a version such as 4.22.3 or 4.23.0-rc.1, as a string"
# What makes the object the adapter's own; an overlay may not touch it.
_IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace", "spec.clusterID", "spec.infraID", "status")


def problems_of(snapshot: ClusterSnapshot, manifest: Json, settings: RenderSettings) -> list[Problem]:
    """All that is wrong with `manifest`, which was rendered from `snapshot` and may have been overlaid since."""
    infra_id = value_at(manifest, "spec.infraID")
    fresh = rendered(snapshot, settings, infra_id=infra_id if isinstance(infra_id, str) else None)
    chosen = [path for path, origin in fresh.origins.items() if origin.startswith("spec.")]
    of_the_spec = list(_spec_problems(snapshot, settings))
    told = {each.path for each in of_the_spec}
    of_the_manifest = [
        Problem(_decided_at(each.path, manifest, fresh), each.message)
        for each in manifest_problems(manifest, roles=settings.service_account_roles, chosen=chosen)
    ]
    rest = [each for each in of_the_manifest if each.path not in told]
    return list(dict.fromkeys([*of_the_spec, *rest, *_identity_problems(manifest, fresh.manifest)]))


def manifest_problems(
    manifest: Json, *, roles: Collection[str] = tuple(SERVICE_ACCOUNT_ROLES), chosen: Collection[str] = ()
) -> list[Problem]:
    """All that is wrong with a HostedCluster.

    `roles` are those that need a Google service account, `chosen` the paths that the cluster itself decided.
    """
    return [
        *field_problems(manifest),
        *object_problems(manifest),
        *gcp_problems(manifest, roles),
        *network_problems(manifest, chosen),
        *service_problems(manifest),
    ]


def _decided_at(path: str, manifest: Json, fresh: Rendered) -> str:
    """Where the value at `path` comes from; what we did not render, or not so, is of the overlay."""
    if value_at(manifest, path) == value_at(fresh.manifest, path):
        for each in enclosing(path):
            if each in fresh.origins:
                return fresh.origins[each]
    return f"overlay.{path}"


def _identity_problems(manifest: Json, fresh: Json) -> Iterator[Problem]:
    for path in _IDENTITY:
        if (wanted := value_at(fresh, path)) != value_at(manifest, path):
            yield Problem(f"overlay.{path}", f"must stay {wanted!r:.100}")
    for path in ("metadata.labels", "metadata.annotations"):
        ours, theirs = value_at(fresh, path), value_at(manifest, path)
        for key, value in ours.items():
            if key.startswith("hyperfleet.io/") and (not isinstance(theirs, Mapping) or theirs.get(key) != value):
                yield Problem(f"overlay.{path}", f"{key} must stay {value!r:.100}")


def _spec_problems(snapshot: ClusterSnapshot, settings: RenderSettings) -> Iterator[Problem]:
    """What cannot be seen any more in the manifest."""
    yield from _version_problems(snapshot.spec)
    yield from _host_prefix_problems(snapshot, settings)
    yield from _email_map_problems(snapshot.spec, settings)
    yield from _resource_label_problems(snapshot, settings)


def _version_problems(spec: Json) -> Iterator[Problem]:
    path, version, image = "spec.openshift_version", spec.get("openshift_version"), spec.get("release_image")
    if not is_something(version):
        if not is_something(image):
            yield Problem(path, f"is required, or spec.release_image: {_VERSION_FORM}")
    elif not isinstance(version, str) or (number := versions.parse(version)) is None:
        yield Problem(path, f"must be {_VERSION_FORM}, not {version!r:.60}")
    elif isinstance(image, str) and (shown := versions.of_image(image)) not in (None, number):
        yield Problem(path, f"says {version}, but spec.release_image is version {shown}")


def _host_prefix_problems(snapshot: ClusterSnapshot, settings: RenderSettings) -> Iterator[Problem]:
    prefix, cidrs = (find(path, snapshot, settings) for path in (HOST_PREFIX, CLUSTER_NETWORK))
    if len(listed(prefix.value)) > max(1, count := len(listed(cidrs.value))):
        yield Problem(prefix.origin, f"must be one number, or one for each of the {count} cluster networks")


def _email_map_problems(spec: Json, settings: RenderSettings) -> Iterator[Problem]:
    path, roles = "spec.service_account_emails", settings.service_account_roles
    together = spec.get("service_account_emails")
    if not is_something(together):
        return
    if not isinstance(together, Mapping):
        yield Problem(path, f"must be an object of role and e-mail, not {together!r:.60}")
        return
    for role, email in together.items():
        if role not in roles:
            yield Problem(f"{path}.{role}", f"is no role; there are {', '.join(roles)}")
        elif is_something(alone := spec.get(roles[role])) and is_something(email) and alone != email:
            yield Problem(f"spec.{roles[role]}", f"says {alone!r:.100}, but {path}.{role} says {email!r:.100}")


def _resource_label_problems(snapshot: ClusterSnapshot, settings: RenderSettings) -> Iterator[Problem]:
    labels = snapshot.spec.get("resource_labels")
    if not is_something(labels):
        return
    if not isinstance(labels, Mapping):
        yield Problem("spec.resource_labels", f"must be an object of label and value, not {labels!r:.60}")
    elif settings.cluster_id_label in labels:
        yield Problem(f"spec.resource_labels.{settings.cluster_id_label}", "carries the cluster's id and is not free")
