"""Everything that is wrong with a cluster, found before anything is sent, by the field to change.

`manifest_problems` checks any HostedCluster and names its paths. `cluster_problems` checks a rendered one: it adds what
only the spec shows, and names the source of each wrong value.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from controlplane_adapter.hostedcluster import versions
from controlplane_adapter.hostedcluster.model import OWN_PREFIX, Json, enclosing, value_at
from controlplane_adapter.hostedcluster.render_settings import SERVICE_ACCOUNT_ROLES, RenderSettings
from controlplane_adapter.hostedcluster.rendering import Rendered, listed
from controlplane_adapter.hostedcluster.sources import CLUSTER_NETWORK, HOST_PREFIX, find, is_set
from controlplane_adapter.hostedcluster.validation.consistency import consistency_problems
from controlplane_adapter.hostedcluster.validation.fields import field_problems
from controlplane_adapter.hostedcluster.validation.gcp import gcp_problems
from controlplane_adapter.hostedcluster.validation.networks import NETWORKS, network_problems
from controlplane_adapter.hostedcluster.validation.overlay import overlay_problems
from controlplane_adapter.hostedcluster.validation.services import service_problems
from shared.errors import Problem
from shared.model.manifestwork_validation import object_problems
from shared.model.snapshot import ClusterSnapshot

_VERSION_FORM = "a version such as 4.22.3 or 4.23.0-rc.1, as a string"
# The identity of the object, which an overlay may not change.
_MAP_KEY = re.compile(r"\[([^\]]*[^\]\d][^\]]*)\]$")
_IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace", "spec.clusterID", "spec.infraID", "status")


def cluster_problems(snapshot: ClusterSnapshot, rendered: Rendered, settings: RenderSettings) -> list[Problem]:
    """All problems of a HostedCluster that was rendered from `snapshot`, overlay included."""
    chosen = [path for path, origin in rendered.origins.items() if origin.startswith("spec.")]
    spec_problems = list(_spec_problems(snapshot, settings))
    reported = {each.path for each in spec_problems}
    misfits = list(overlay_problems(rendered.before_overlay, rendered.overlay))
    overlaid = [path for path in NETWORKS if _is_overlaid(path, rendered)]
    found = manifest_problems(rendered.manifest, roles=settings.service_account_roles, chosen=chosen, overlaid=overlaid)
    others = [_at_its_source(each, rendered) for each in found]
    reported |= {each.path for each in misfits}
    rest = [each for each in others if each.path not in reported]
    reported |= {each.path for each in rest}
    unsendable = [_at_its_source(each, rendered) for each in object_problems(rendered.manifest)]
    rest += [each for each in unsendable if each.path not in reported]
    return list(dict.fromkeys([*spec_problems, *misfits, *rest, *_identity_problems(rendered)]))


def manifest_problems(
    manifest: Json,
    *,
    roles: Collection[str] = tuple(SERVICE_ACCOUNT_ROLES),
    chosen: Collection[str] = (),
    overlaid: Collection[str] = (),
) -> list[Problem]:
    """All problems of a HostedCluster.

    `roles` are those that need a Google service account, `chosen` the paths that the cluster's own spec set, `overlaid`
    those that an overlay changed.
    """
    return [
        *field_problems(manifest),
        *consistency_problems(manifest),
        *gcp_problems(manifest, roles),
        *network_problems(manifest, chosen, overlaid),
        *service_problems(manifest),
    ]


def _at_its_source(problem: Problem, rendered: Rendered) -> Problem:
    """The problem, named by the source of the value; the key of a label or annotation stays in the message."""
    key = _MAP_KEY.search(problem.path)
    if key is None:
        return Problem(_source_of(problem.path, rendered), problem.message)
    source = "id" if key[1].startswith(OWN_PREFIX) else _source_of(problem.path[: key.start()], rendered)
    return Problem(source, f"{key[1]!r:.100}: {problem.message}")


def _source_of(path: str, rendered: Rendered) -> str:
    """The source of the value at `path`; a value that differs from the rendered one is the overlay's."""
    if not _is_overlaid(path, rendered):
        for each in enclosing(path):
            if each in rendered.origins:
                return rendered.origins[each]
    return f"overlay.{path}"


def _is_overlaid(path: str, rendered: Rendered) -> bool:
    return bool(value_at(rendered.manifest, path) != value_at(rendered.before_overlay, path))


def _identity_problems(rendered: Rendered) -> Iterator[Problem]:
    before, after = rendered.before_overlay, rendered.manifest
    for path in _IDENTITY:
        if (expected := value_at(before, path)) != value_at(after, path):
            yield Problem(f"overlay.{path}", f"must stay {expected!r:.100}")
    for path in ("metadata.labels", "metadata.annotations"):
        expected_map, actual = value_at(before, path), value_at(after, path)
        for key, value in expected_map.items():
            if key.startswith(OWN_PREFIX) and (not isinstance(actual, Mapping) or actual.get(key) != value):
                yield Problem(f"overlay.{path}", f"{key} must stay {value!r:.100}")


def _spec_problems(snapshot: ClusterSnapshot, settings: RenderSettings) -> Iterator[Problem]:
    """Problems of the spec that the manifest does not show."""
    yield from _version_problems(snapshot.spec)
    yield from _host_prefix_problems(snapshot, settings)
    yield from _email_map_problems(snapshot.spec, settings)
    yield from _resource_label_problems(snapshot, settings)


def _version_problems(spec: Json) -> Iterator[Problem]:
    path, version, image = "spec.openshift_version", spec.get("openshift_version"), spec.get("release_image")
    if not is_set(version):
        if not is_set(image):
            yield Problem(path, f"is required, or spec.release_image: {_VERSION_FORM}")
    elif not isinstance(version, str) or (number := versions.parse(version)) is None:
        yield Problem(path, f"must be {_VERSION_FORM}, not {version!r:.60}")
    elif isinstance(image, str) and (shown := versions.of_image(image)) not in (None, number):
        yield Problem(path, f"is {version}, but spec.release_image has version {shown}")


def _host_prefix_problems(snapshot: ClusterSnapshot, settings: RenderSettings) -> Iterator[Problem]:
    prefix, cidrs = (find(path, snapshot, settings) for path in (HOST_PREFIX, CLUSTER_NETWORK))
    if len(listed(prefix.value)) > max(1, count := len(listed(cidrs.value))):
        yield Problem(prefix.origin, f"must be one number, or one for each of the {count} cluster networks")


def _email_map_problems(spec: Json, settings: RenderSettings) -> Iterator[Problem]:
    path, roles = "spec.service_account_emails", settings.service_account_roles
    emails = spec.get("service_account_emails")
    if not is_set(emails):
        return
    if not isinstance(emails, Mapping):
        yield Problem(path, f"must be an object of role and e-mail, not {emails!r:.60}")
        return
    for role, email in emails.items():
        if role not in roles:
            yield Problem(f"{path}.{role}", f"is not a role; the roles are {', '.join(roles)}")
        elif is_set(alone := spec.get(roles[role])) and is_set(email) and alone != email:
            yield Problem(f"spec.{roles[role]}", f"is {alone!r:.100}, but {path}.{role} is {email!r:.100}")


def _resource_label_problems(snapshot: ClusterSnapshot, settings: RenderSettings) -> Iterator[Problem]:
    labels = snapshot.spec.get("resource_labels")
    if not is_set(labels):
        return
    if not isinstance(labels, Mapping):
        yield Problem("spec.resource_labels", f"must be an object of label and value, not {labels!r:.60}")
    elif settings.cluster_id_label in labels:
        yield Problem(f"spec.resource_labels.{settings.cluster_id_label}", "is reserved for the cluster's id")
