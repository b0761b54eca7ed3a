"""Which watches an adapter needs."""

import pytest

from dispatcher.config.compiled import Discovery, Resource
from dispatcher.engine.runs import AwaitedDeletion
from dispatcher.runtime.leading import lease_name
from dispatcher.runtime.watches import Watches, watched_kinds
from shared.languages.gotemplate import compile_template
from tests.support.adapters import adapter, resource


def in_namespace(written: str | None, name: str = "job") -> Resource:
    template = None if written is None else compile_template(written)
    return resource(name, discovery=Discovery(namespace=template, by_name=compile_template("x")))


def test_jobs_are_watched_and_others_where_they_ask_for_it() -> None:
    kinds = watched_kinds(
        adapter(
            resource("job"),
            resource("namespace", "Namespace", "v1"),
            resource("deployment", "Deployment", "apps/v1", watch=True),
            resource("work", "ManifestWork", transport="maestro"),
        )
    )
    assert [(each.api_version, each.kind) for each in kinds] == [("batch/v1", "Job"), ("apps/v1", "Deployment")]


def test_resources_of_one_kind_share_a_watch() -> None:
    (kind,) = watched_kinds(adapter(resource("one"), resource("two", watch=False)))
    assert [each.name for each in kind.owners.resources] == ["one", "two"]


def test_a_job_that_is_not_to_be_watched_is_not() -> None:
    assert watched_kinds(adapter(resource(watch=False))) == ()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["adapters"], "adapters"),
        (["adapters", "adapters"], "adapters"),
        (["one", "two"], ""),
        ([None], ""),
        (["*"], ""),
        (["ns-{{ .id }}"], ""),
        (["one", None], ""),
    ],
)
def test_one_plain_namespace_is_watched_alone(written: list[str | None], expected: str) -> None:
    (kind,) = watched_kinds(adapter(*(in_namespace(each, f"r{index}") for index, each in enumerate(written))))
    assert kind.namespace == expected


@pytest.mark.parametrize(
    ("kind", "consumer", "expected"), [("Job", "", True), ("Namespace", "", False), ("ManifestWork", "mgmt-1", True)]
)
def test_deletions_of_watched_kinds_and_of_works_are_seen(kind: str, consumer: str, *, expected: bool) -> None:
    watches = Watches(adapter(resource(), resource("work", "ManifestWork", transport="maestro")))
    deletion = AwaitedDeletion(
        resource="r", api_version="batch/v1", kind=kind, namespace="", name="", uid="u", consumer=consumer
    )
    assert watches.follows(deletion) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dns", "hyperfleet-adapter-dns"),
        ("My Adapter!", "hyperfleet-adapter-my-adapter"),
        ("x" * 400, "hyperfleet-adapter-" + "x" * 234),
    ],
)
def test_the_lease_is_named_after_the_adapter(name: str, expected: str) -> None:
    assert lease_name(name) == expected
