"""The platform block of a HostedCluster on Google Cloud: project, network, identities and labels.

Beyond the API server's checks: the block must be there exactly when the platform is GCP, and no two roles may share a
service account, because the operator stores credentials by e-mail and would lose one of them.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from controlplane_adapter.hostedcluster.model import ABSENT, PLATFORM, Json, value_at
from controlplane_adapter.hostedcluster.sources import EMAILS, GCP, IDENTITY, RESOURCE_LABELS
from controlplane_adapter.hostedcluster.validation.fields import ChoiceRule, Rule, TextRule, missing, rule_problems
from shared.errors import Problem

MAX_LABELS = 60
_ACCOUNT_DOMAIN = ".iam.gserviceaccount.com"
_LABEL_TEXT = "[a-z](?:[_a-z0-9-]{0,61}[a-z0-9])?"
_RESOURCE_NAME = TextRule(
    allowed="a short name of lower-case letters, digits and '-', beginning with a letter, at most 63",
    pattern="[a-z](?:[-a-z0-9]*[a-z0-9])?",
    longest=63,
)
_POOL_NAME = TextRule(
    allowed="4-32 lower-case letters, digits and '-', beginning with a letter, but not with gcp-",
    pattern="(?!gcp-)[a-z][a-z0-9-]{2,30}[a-z0-9]",
    shortest=4,
    longest=32,
)
_LABEL_KEY = TextRule(
    allowed="1-63 lower-case letters, digits, '_' and '-', beginning with a letter, but not with goog",
    pattern=f"(?!goog){_LABEL_TEXT}",
    longest=63,
)
_LABEL_VALUE = TextRule(
    allowed="empty, or up to 63 lower-case letters, digits, '_' and '-', beginning with a letter",
    pattern=f"(?:{_LABEL_TEXT})?",
    shortest=0,
    longest=63,
)
_EMAIL = TextRule(
    allowed=f"the e-mail of a service account, name@project{_ACCOUNT_DOMAIN}",
    pattern="[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z][a-z0-9-]{4,28}[a-z0-9]" + _ACCOUNT_DOMAIN.replace(".", r"\."),
    shortest=37,
    longest=85,
)
_FIELDS: dict[str, Rule] = {
    f"{GCP}.project": TextRule(
        allowed="the id of a project: 6-30 lower-case letters, digits and '-', beginning with a letter",
        pattern="[a-z][a-z0-9-]{4,28}[a-z0-9]",
        shortest=6,
        longest=30,
    ),
    f"{GCP}.region": TextRule(
        allowed="a region such as us-central1, not a zone", pattern="[a-z]+-[a-z]+[0-9]+", longest=63
    ),
    f"{GCP}.networkConfig.network.name": _RESOURCE_NAME,
    f"{GCP}.networkConfig.privateServiceConnectSubnet.name": _RESOURCE_NAME,
    f"{IDENTITY}.projectNumber": TextRule(allowed="the number of a project, 1-25 digits", pattern="[0-9]+", longest=25),
    f"{IDENTITY}.poolID": _POOL_NAME,
    f"{IDENTITY}.providerID": _POOL_NAME,
}
_OPTIONAL: dict[str, Rule] = {f"{GCP}.endpointAccess": ChoiceRule(choices=("Private", "PublicAndPrivate"))}


def gcp_problems(manifest: Json, roles: Collection[str]) -> Iterator[Problem]:
    """`roles` are those that need a service account."""
    block = value_at(manifest, GCP)
    if value_at(manifest, "spec.platform.type") != PLATFORM:
        if block is not ABSENT:
            yield Problem(GCP, f"is only for platform type {PLATFORM}")
        return
    rules = _FIELDS | {f"{EMAILS}.{role}": _EMAIL for role in roles}
    for path, rule in rules.items():
        if value_at(block, path.removeprefix(f"{GCP}.")) is ABSENT:
            yield missing(path, rule)
    yield from rule_problems(manifest, rules | _OPTIONAL)
    yield from _account_problems(manifest, roles)
    yield from _label_problems(value_at(manifest, RESOURCE_LABELS))


def _account_problems(manifest: Json, roles: Collection[str]) -> Iterator[Problem]:
    """Whether valid e-mails match the project and differ from each other; invalid ones are already reported."""
    project = value_at(manifest, f"{GCP}.project")
    valid_project = not _FIELDS[f"{GCP}.project"].problem_with(project)
    owners: dict[str, str] = {}
    for role in roles:
        email = value_at(manifest, f"{EMAILS}.{role}")
        if _EMAIL.problem_with(email):
            continue
        if valid_project and not email.endswith(f"@{project}{_ACCOUNT_DOMAIN}"):
            yield Problem(f"{EMAILS}.{role}", f"must be in project {project!r}, not {email!r:.100}")
        if (owner := owners.setdefault(email, role)) != role:
            yield Problem(f"{EMAILS}.{role}", f"must be a separate account; {email!r:.100} is already used for {owner}")


def _label_problems(labels: Any) -> Iterator[Problem]:
    if labels is ABSENT:
        return
    if not isinstance(labels, list) or not 1 <= len(labels) <= MAX_LABELS:
        yield Problem(RESOURCE_LABELS, f"must be a list of 1-{MAX_LABELS} labels")
        return
    pairs = [each if isinstance(each, Mapping) else {} for each in labels]
    times_seen = Counter(str(each.get("key")) for each in pairs)
    for index, pair in enumerate(pairs):
        key = pair.get("key")
        for name, rule in (("key", _LABEL_KEY), ("value", _LABEL_VALUE)):
            if message := rule.problem_with(pair.get(name)):
                yield Problem(f"{RESOURCE_LABELS}[{index}].{name}", f"the {name} of label {key!r:.80} {message}")
        if times_seen[str(key)] > 1:
            yield Problem(f"{RESOURCE_LABELS}[{index}].key", f"{key!r:.80} occurs {times_seen[str(key)]} times")
