"""The ManifestWork around a HostedCluster: its name, its marks, and what is read back of them."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane_adapter.work.feedback import FEEDBACK
from controlplane_adapter.work.manifestwork import generation_of, hosted_cluster_in, owner_labels, work_for, work_name
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import MAX_LABEL, is_label_name, problems_of

CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
HOSTED_CLUSTER: dict[str, Any] = {
    "apiVersion": "hypershift.openshift.io/v1beta1",
    "kind": "HostedCluster",
    "metadata": {"name": "demo", "namespace": "clusters"},
    "spec": {},
}
ODD_IDS = {
    "upper case": "ABC-123",
    "unicode": "größe-Ω-集群",
    "200 characters": "x" * 200,
    "200 characters of nothing": "-" * 200,
    "one that ends with a dash": "abc-",
    "one with a quote": "a' or '1'='1",
    "one with a line break": "a\nb",
    "an empty one": "",
    "one character too many": "x" * (MAX_LABEL - len("hostedcluster-") + 1),
}


def work(generation: int = 3) -> ManifestWork:
    return work_for(HOSTED_CLUSTER, cluster_id=CLUSTER_ID, consumer="us-east-mgmt-01", generation=generation)


def test_the_name_is_the_documented_one() -> None:
    assert work_name(CLUSTER_ID) == f"hostedcluster-{CLUSTER_ID}"


def test_an_id_that_just_fits_is_not_cut() -> None:
    longest = "x" * (MAX_LABEL - len("hostedcluster-"))

    assert work_name(longest) == f"hostedcluster-{longest}"


@pytest.mark.parametrize("cluster_id", ODD_IDS.values(), ids=ODD_IDS)
def test_the_name_is_a_label_whatever_the_id_is(cluster_id: str) -> None:
    name = work_name(cluster_id)

    assert is_label_name(name)
    assert name.startswith("hostedcluster-")
    assert name == work_name(cluster_id)


@given(st.text(max_size=300))
def test_no_id_has_a_name_that_is_no_label(cluster_id: str) -> None:
    assert is_label_name(work_name(cluster_id))


@given(st.lists(st.text(alphabet="aAbB-_. é", max_size=80), unique=True, min_size=2, max_size=30))
def test_no_two_ids_share_a_name(cluster_ids: list[str]) -> None:
    assert len({work_name(each) for each in cluster_ids}) == len(cluster_ids)


def test_the_work_is_one_that_maestro_takes() -> None:
    assert list(problems_of(work())) == []


def test_the_work_is_marked_as_ours_and_with_its_generation() -> None:
    made = work(3)

    assert made.labels == {
        "hyperfleet.io/cluster-id": CLUSTER_ID,
        "hyperfleet.io/adapter": "controlplane",
        "hyperfleet.io/generation": "3",
    }
    assert made.annotations == {"hyperfleet.io/generation": "3"}
    assert made.has_labels(owner_labels(CLUSTER_ID))
    assert not made.has_labels(owner_labels("another"))


def test_the_work_asks_for_feedback_of_the_hosted_cluster_and_keeps_what_others_set() -> None:
    (config,) = work().manifest_configs

    assert config["resourceIdentifier"] == {
        "group": "hypershift.openshift.io",
        "resource": "hostedclusters",
        "namespace": "clusters",
        "name": "demo",
    }
    assert config["updateStrategy"] == {"type": "ServerSideApply"}
    (rule,) = config["feedbackRules"]
    assert {each["name"]: each["path"] for each in rule["jsonPaths"]} == dict(FEEDBACK)


def test_what_is_deleted_goes_with_all_that_belongs_to_it() -> None:
    assert work().delete_option == {"propagationPolicy": "Foreground"}


def test_the_hosted_cluster_is_found_among_other_objects() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters"}}

    assert hosted_cluster_in(replace(work(), manifests=(namespace, HOSTED_CLUSTER))) == HOSTED_CLUSTER
    assert hosted_cluster_in(replace(work(), manifests=(namespace,))) is None


@pytest.mark.parametrize(
    ("annotations", "generation"),
    [
        pytest.param({"hyperfleet.io/generation": "3"}, 3, id="the annotation tells it"),
        pytest.param({"hyperfleet.io/generation": str(2**63 - 1)}, 2**63 - 1, id="however large it is"),
        pytest.param({}, 0, id="none is 0"),
        pytest.param({"hyperfleet.io/generation": ""}, 0, id="an empty one is 0"),
        pytest.param({"hyperfleet.io/generation": "three"}, 0, id="a word is 0"),
        pytest.param({"hyperfleet.io/generation": "-3"}, 0, id="a negative one is 0"),
        pytest.param({"hyperfleet.io/generation": "3.0"}, 0, id="a fraction is 0"),
        pytest.param({"hyperfleet.io/generation": "\u00b2"}, 0, id="a superscript is 0"),
        pytest.param({"hyperfleet.io/generation": "\u0663"}, 0, id="a digit of another script is 0"),
        pytest.param({"hyperfleet.io/generation": "9" * 5000}, 0, id="more digits than any generation has are 0"),
    ],
)
def test_the_generation_of_a_work(annotations: dict[str, str], generation: int) -> None:
    assert generation_of(replace(work(7), annotations=annotations)) == generation
