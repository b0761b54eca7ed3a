"""What a single field of a HostedCluster may contain: the API server's limits as a table, and some that it lacks.

A pattern here is never wider than the server's. It is narrower where the server accepts a value on which the operator
then fails (a Secret without a name, an invalid domain).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from controlplane_adapter.hostedcluster.model import ABSENT, Json, value_at
from shared.errors import Problem

_DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_OBJECT_NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DOMAIN = rf"(?:{_DNS_LABEL}\.)+[a-z]{{2,63}}"
_URL = rf"://{_DNS_LABEL}(?:\.{_DNS_LABEL})*(?::[1-9][0-9]{{0,4}})?(?:/[A-Za-z0-9._~/-]*)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """A string of this length that matches the whole pattern; `allowed` describes it in messages."""

    allowed: str
    pattern: str
    longest: int
    shortest: int = 1

    def problem_with(self, value: Any) -> str:
        if not isinstance(value, str):
            return f"must be a string, not {value!r:.60}: {self.allowed}"
        if not self.shortest <= len(value) <= self.longest or not re.fullmatch(self.pattern, value, re.ASCII):
            return f"must be {self.allowed}, not {value!r:.100}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRule:
    choices: tuple[str, ...]

    def problem_with(self, value: Any) -> str:
        return "" if value in self.choices else f"must be {' or '.join(self.choices)}, not {value!r:.60}"


Rule = TextRule | ChoiceRule

SECRET_NAME = TextRule(
    allowed="the name of a Secret: lower-case letters, digits, '-' and '.', at most 253",
    pattern=rf"{_OBJECT_NAME}(?:\.{_OBJECT_NAME})*",
    longest=253,
)
DOMAIN = TextRule(
    allowed="a domain in lower case such as example.com, at most 253 characters",
    pattern=rf"{_DOMAIN}|{_DNS_LABEL}",
    longest=253,
)
HOSTNAME = TextRule(
    allowed="a host name in lower case such as api-demo.example.com, at most 253 characters",
    pattern=_DOMAIN,
    longest=253,
)
LABEL_NAME = TextRule(
    allowed="lower-case letters, digits and '-', beginning and ending with a letter or digit, at most 63",
    pattern=_DNS_LABEL,
    longest=63,
)
_ISSUER = TextRule(
    allowed="an https URL such as https://oidc.example.com/demo, at most 255 characters",
    pattern=f"https{_URL}",
    longest=255,
)
_AVAILABILITY = ChoiceRule(choices=("HighlyAvailable", "SingleReplica"))

FIELD_RULES: dict[str, Rule] = {
    "metadata.name": LABEL_NAME,
    "metadata.namespace": LABEL_NAME,
    "spec.release.image": TextRule(
        allowed="an image such as quay.io/openshift-release-dev/ocp-release:4.22.0-multi, at most 253 characters",
        pattern=r"\w+\S+",
        longest=253,
    ),
    "spec.clusterID": TextRule(
        allowed="a UUID in lower case", pattern=r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}", shortest=36, longest=36
    ),
    "spec.infraID": TextRule(
        allowed="lower-case letters, digits and '-', beginning and ending with a letter or digit, at most 253",
        pattern=_OBJECT_NAME,
        longest=253,
    ),
    "spec.channel": TextRule(allowed="a channel such as stable-4.22, at most 100", pattern=r"\S+", longest=100),
    "spec.updateService": TextRule(allowed="a URL of http or https", pattern=f"https?{_URL}", longest=2048),
    "spec.issuerURL": _ISSUER,
    "spec.kubeAPIServerDNSName": DOMAIN,
    "spec.pullSecret.name": SECRET_NAME,
    "spec.sshKey.name": SECRET_NAME,
    "spec.serviceAccountSigningKey.name": SECRET_NAME,
    "spec.secretEncryption.aescbc.activeKey.name": SECRET_NAME,
    "spec.secretEncryption.type": ChoiceRule(choices=("aescbc", "kms")),
    "spec.dns.baseDomain": DOMAIN,
    "spec.dns.baseDomainPrefix": DOMAIN,
    "spec.dns.publicZoneID": TextRule(allowed="1-258 characters without spaces", pattern=r"\S+", longest=258),
    "spec.dns.privateZoneID": TextRule(allowed="1-265 characters without spaces", pattern=r"\S+", longest=265),
    "spec.controllerAvailabilityPolicy": _AVAILABILITY,
    "spec.infrastructureAvailabilityPolicy": _AVAILABILITY,
    "spec.olmCatalogPlacement": ChoiceRule(choices=("management", "guest")),
    "spec.configuration.featureGate.featureSet": ChoiceRule(
        choices=("TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade", "OKD")
    ),
    # OpenShiftSDN, which the API server still takes, ended before the oldest release that HyperShift runs.
    "spec.networking.networkType": ChoiceRule(choices=("OVNKubernetes", "Calico", "Other")),
    "spec.networking.allocateNodeCIDRs": ChoiceRule(choices=("Enabled", "Disabled")),
    "spec.etcd.managementType": ChoiceRule(choices=("Managed", "Unmanaged")),
    "spec.etcd.managed.storage.type": ChoiceRule(choices=("PersistentVolume",)),
    "spec.etcd.managed.storage.persistentVolume.size": TextRule(
        allowed="a size such as 8Gi",
        pattern=r"[1-9][0-9]{0,17}(?:\.[0-9]{1,9})?(?:[KMGTPE]i|[kMGTPE])?",
        longest=30,
    ),
    "spec.etcd.managed.storage.persistentVolume.storageClassName": TextRule(
        allowed="the name of a StorageClass, at most 253", pattern=SECRET_NAME.pattern, longest=253
    ),
}

REQUIRED = ("metadata.name", "metadata.namespace", "spec.release.image", "spec.platform.type", "spec.pullSecret.name")


def field_problems(manifest: Json) -> Iterator[Problem]:
    for path in REQUIRED:
        if value_at(manifest, path) is ABSENT:
            yield missing(path, FIELD_RULES.get(path))
    yield from rule_problems(manifest, FIELD_RULES)


def rule_problems(manifest: Json, rules: dict[str, Rule]) -> Iterator[Problem]:
    for path, rule in rules.items():
        value = value_at(manifest, path)
        if value is not ABSENT and (message := rule.problem_with(value)):
            yield Problem(path, message)


def missing(path: str, rule: Rule | None) -> Problem:
    match rule:
        case TextRule(allowed=allowed):
            return Problem(path, f"is required: {allowed}")
        case ChoiceRule(choices=choices):
            return Problem(path, f"is required: {' or '.join(choices)}")
        case _:
            return Problem(path, "is required")
