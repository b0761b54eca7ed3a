"""The shipped rights, the Job that uses them and the page that explains them name the same account and the same verbs."""

import re
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[3] / "jobs" / "controlplane"
JOB = yaml.safe_load((FOLDER / "job.yaml").read_text())
PAGE = (FOLDER / "README.md").read_text()
OBJECTS: dict[str, Any] = {each["kind"]: each for each in yaml.safe_load_all((FOLDER / "rbac.yaml").read_text())}
GROUPS = {"jobs": "batch", "jobs/status": "batch", "pods": ""}


def test_the_rights_are_given_to_the_jobs_account_in_the_jobs_namespace() -> None:
    account, role, binding = (OBJECTS[kind] for kind in ("ServiceAccount", "Role", "RoleBinding"))
    namespace = JOB["metadata"]["namespace"]

    assert {each["metadata"]["namespace"] for each in OBJECTS.values()} == {namespace}
    assert account["metadata"]["name"] == JOB["spec"]["template"]["spec"]["serviceAccountName"]
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": account["metadata"]["name"], "namespace": namespace}
    ]
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": role["metadata"]["name"],
    }


def test_the_page_names_every_verb_and_no_other() -> None:
    """In the row of the account, verbs stand before what they are allowed on."""
    (row,) = re.findall(r"^\| ServiceAccount .+$", PAGE, re.MULTILINE)
    reported: set[tuple[str, str, str]] = set()
    verbs: list[str] = []
    for name in re.findall(r"`([a-z/]+)`", row):
        if name in GROUPS:
            reported |= {(GROUPS[name], name, verb) for verb in verbs}
            verbs = []
        else:
            verbs.append(name)
    given = {
        (group, resource, verb)
        for rule in OBJECTS["Role"]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

    assert reported == given
    assert not any("*" in right for right in given)
