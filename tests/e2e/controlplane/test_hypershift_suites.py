"""HyperShift's own tables of good and bad HostedClusters, from its module: what its definition refuses, we refuse first.

No server is needed here: the suites say themselves what the definition thinks of each object.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import yaml

from controlplane_adapter.hostedcluster.immutability import immutable_changes
from controlplane_adapter.hostedcluster.validation.cluster import manifest_problems
from lab.real.artifacts.crds import HYPERSHIFT, HYPERSHIFT_ASSETS
from lab.real.artifacts.go_modules import module_folder

JUDGED = ("gcp", "networking", "services", "dns", "validation")
# For changes, also the suites of fields that only an overlay can bring in.
HELD = (*JUDGED, "capabilities", "etcd", "etcdsharding", "ratcheting", "secretencryption")

# The fields that no rendered object has. An overlay can bring them in; then the agent tells what the server thinks.
OUT_OF_REACH = {
    "v4InternalSubnet is an IPv6 CIDR": "spec.operatorConfiguration",
    "v4InternalSubnet has an invalid CIDR format": "spec.operatorConfiguration",
    "v4InternalSubnet prefix length exceeds /30": "spec.operatorConfiguration",
    "v4InternalSubnet first octet is 0": "spec.operatorConfiguration",
    "v6InternalSubnet is an IPv4 CIDR": "spec.operatorConfiguration",
    "v6InternalSubnet prefix length exceeds /125": "spec.operatorConfiguration",
    "servicePublishingStrategy is nodePort and address is invalid": "nodePort: we publish by routes only",
    "loadBalancer hostname clashes with namedCertificates": "loadBalancer: we publish by routes only",
    "scaling is ScaleUpOnly and scaleDown is set": "spec.autoscaling",
    "balancingIgnoredLabels contains invalid label key with special characters": "spec.autoscaling",
    "balancingIgnoredLabels contains invalid label key starting with dash": "spec.autoscaling",
    "balancingIgnoredLabels contains invalid label key ending with dash": "spec.autoscaling",
}
# What the definition takes and we do not.
STRICTER = {
    "GCP endpointAccess is PublicAndPrivate": "a public endpoint without host names is found by nobody",
    "baseDomain is empty": "an empty value is left out, never written",
    "baseDomainPrefix is empty": "an empty value is left out, never written",
}


class Case(NamedTuple):
    suite: str
    name: str
    initial: dict[str, Any]
    updated: dict[str, Any]
    refused: bool

    @property
    def subject(self) -> str:
        """What the case is about: `When <subject> it should fail`."""
        return self.name.removeprefix("When ").rsplit(" it should ", 1)[0]


def cases(kind: str, suites: tuple[str, ...]) -> Iterator[Case]:
    folder = module_folder(HYPERSHIFT) / HYPERSHIFT_ASSETS / "tests" / "hostedclusters.hypershift.openshift.io"
    for suite in suites:
        (file,) = folder.glob(f"*.hostedclusters.{suite}.testsuite.yaml")
        for each in yaml.safe_load(file.read_text())["tests"].get(kind, []):
            initial, updated = hosted_cluster(each["initial"]), hosted_cluster(each.get("updated", each["initial"]))
            yield Case(suite, each["name"], initial, updated, "expectedError" in each)


def hosted_cluster(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(text)
    return {**loaded, "metadata": {"name": "demo", "namespace": "clusters"}}


CREATED = list(cases("onCreate", JUDGED))
CHANGED = list(cases("onUpdate", HELD))


def named(case: Case) -> str:
    return f"{case.suite}: {case.subject}"


@pytest.mark.parametrize(
    "case", [each for each in CREATED if each.refused and each.subject not in OUT_OF_REACH], ids=named
)
def test_an_object_that_hypershift_refuses_is_refused_by_us_first(case: Case) -> None:
    assert manifest_problems(case.initial)


@pytest.mark.parametrize(
    "case", [each for each in CREATED if not each.refused and each.subject not in STRICTER], ids=named
)
def test_an_object_that_hypershift_takes_has_no_problem_for_us(case: Case) -> None:
    assert manifest_problems(case.initial) == []


@pytest.mark.parametrize("case", [each for each in CREATED if each.subject in STRICTER], ids=named)
def test_we_are_stricter_only_where_we_say_so(case: Case) -> None:
    assert not case.refused
    assert manifest_problems(case.initial)


@pytest.mark.parametrize("case", [each for each in CREATED if each.subject in OUT_OF_REACH], ids=named)
def test_what_is_out_of_our_reach_is_refused_by_hypershift_and_passed_by_us(case: Case) -> None:
    assert case.refused
    assert manifest_problems(case.initial) == []


@pytest.mark.parametrize("case", CHANGED, ids=named)
def test_a_change_is_refused_by_us_exactly_when_hypershift_refuses_it(case: Case) -> None:
    assert bool(immutable_changes(case.initial, case.updated)) == case.refused


def test_every_suite_was_replayed_and_every_exception_was_met() -> None:
    assert {each.suite for each in CREATED} == set(JUDGED)
    assert {*OUT_OF_REACH, *STRICTER} <= {each.subject for each in CREATED}
    assert len(CREATED) >= 80
    assert len(CHANGED) >= 30
