"""The page of prerequisites names what the adapter needs and what its check shows, as they are in the code."""

import re
from pathlib import Path

import yaml

from controlplane_adapter.check.command import build_parser
from controlplane_adapter.check.probe import FEEDBACK
from controlplane_adapter.hostedcluster.render_settings import SERVICE_ACCOUNT_ROLES, RenderSettings

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "prerequisites.md").read_text()
NAMED = set(re.findall(r"`([^`\n]+)`", PAGE))


def rows(heading: str) -> list[list[str]]:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def test_each_prerequisite_has_a_check() -> None:
    found = [
        row
        for heading in ("In the cluster's Google Cloud project", "On the management cluster", "In Maestro")
        for row in rows(heading)
    ]

    assert len(found) > 12
    assert [row for row in found if not row[-1]] == []


def test_each_role_of_a_service_account_is_named_by_its_field() -> None:
    assert set(SERVICE_ACCOUNT_ROLES.values()) <= NAMED


def test_the_namespace_and_the_feature_set_are_those_of_the_adapter() -> None:
    assert {RenderSettings().namespace, RenderSettings().feature_set} <= NAMED


def test_the_crd_is_asked_for_gcp_as_the_probe_asks() -> None:
    assert FEEDBACK["gcp"] in PAGE


def test_the_agents_permissions_are_tried_for_the_account_that_is_shipped() -> None:
    shipped = list(yaml.safe_load_all((ROOT / "jobs" / "controlplane" / "management-cluster.yaml").read_text()))
    (subject,) = {(each["namespace"], each["name"]) for document in shipped for each in document.get("subjects", ())}

    assert f"--as=system:serviceaccount:{subject[0]}:{subject[1]}" in PAGE


def test_each_option_of_the_check_is_on_the_page() -> None:
    options = {each.option_strings[-1] for each in build_parser()._actions if each.dest != "help"}

    assert {row[0].strip("`").split()[0] for row in rows("`controlplane-adapter check`")} == options
