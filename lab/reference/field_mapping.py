"""From a cluster's spec to its HostedCluster: every field, its sources in their order, and how it may change."""

from collections.abc import Iterator

from controlplane_adapter.hostedcluster.immutability import FIELD_MUTABILITY, Mutability
from controlplane_adapter.hostedcluster.render_settings import SERVICE_ACCOUNT_ROLES, RenderSettings, variable
from controlplane_adapter.hostedcluster.sources import EMAILS, RESOURCE_LABELS, SOURCES, Source
from lab.reference.tables import code, table

_HEADINGS = ("field of the HostedCluster", "field of the cluster", "before it", "after it", "once it exists")
_NONE = "may change"
IMAGE = "spec.release.image"
SERVICES = "spec.services"


def mapping() -> str:
    return table(_HEADINGS, sorted(_rows()))


def _rows() -> Iterator[tuple[str, ...]]:
    for path, source in SOURCES.items():
        yield code(path), code(f"spec.{source.spec}"), _of_adapter(source), _of_setting(source), _change(path)
    for role, field in SERVICE_ACCOUNT_ROLES.items():
        path, named = f"{EMAILS}.{role}", code(f"spec.service_account_emails.{role}")
        yield code(path), code(f"spec.{field}"), "", named, _change(path)
    yield code(f"{RESOURCE_LABELS}[0].value"), code("id"), "", "", _change(RESOURCE_LABELS)
    labels = code(variable("resource_labels"))
    yield code(RESOURCE_LABELS), code("spec.resource_labels"), labels, "", _change(RESOURCE_LABELS)
    yield code(SERVICES), f"host names under {code('spec.base_domain')}", "", "", _change(SERVICES)
    release = f"the repository is {code(variable('release_repository'))}"
    yield code(IMAGE), code("spec.openshift_version"), code("spec.release_image"), release, _change(IMAGE)


def _of_adapter(source: Source) -> str:
    return f"{code(source.data[0])} of the adapter {code(source.adapter)}" if source.data else ""


def _of_setting(source: Source) -> str:
    if not source.setting:
        return ""
    default = getattr(RenderSettings(), source.setting)
    return code(variable(source.setting)) + (f" ({default})" if default else "")


def _change(path: str) -> str:
    """The rule of the field, or of what contains it."""
    found = (
        rule for known, rule in FIELD_MUTABILITY.items() if path == known or path.startswith((f"{known}.", f"{known}["))
    )
    rule: Mutability | None = next(found, None)
    return rule.value if rule else _NONE
