"""The Job with maestro-cli agrees with the program it runs and with its page."""

import re
from pathlib import Path
from typing import Any

import yaml

from maestro_cli.command_line import parse
from shared.languages.gotemplate import compile_structure

FOLDER = Path(__file__).parents[3] / "jobs" / "maestro-cli"
VARIABLES = {
    "eventId": "e-1",
    "adapter": "nodepool",
    "workName": "w",
    "managementCluster": "mgmt-01",
    "manifestConfigMap": "m",
    "waitFor": "Job:Complete",
    "maestroApiUrl": "https://maestro:8000",
    "maestroGrpcUrl": "maestro:8090",
    "adapterImage": "a",
    "reporterImage": "r",
}


def containers() -> dict[str, Any]:
    template = compile_structure(yaml.safe_load((FOLDER / "job.yaml").read_text()))
    pod = template.render(VARIABLES)["spec"]["template"]["spec"]
    return {each["name"]: each for each in pod["containers"]}


def test_the_page_names_every_variable_and_no_other() -> None:
    used = set(re.findall(r"{{ \.(\w+) }}", (FOLDER / "job.yaml").read_text()))
    named = set(re.findall(r"`\.(\w+)`", (FOLDER / "README.md").read_text()))
    assert used == named == VARIABLES.keys()


def test_the_command_line_is_one_that_the_program_takes() -> None:
    container = containers()["maestro-cli"]
    parsed = parse([*container["command"][1:], *container["args"]])
    assert (parsed.consumer, parsed.named, parsed.wait) == ("mgmt-01", "w", "Job:Complete")


def test_both_containers_are_locked_down_and_meet_at_one_file() -> None:
    found = containers()
    environment = {name: {e["name"]: e.get("value") for e in each["env"]} for name, each in found.items()}
    assert environment["maestro-cli"]["RESULTS_PATH"] == environment["status-reporter"]["RESULTS_INPUT_PATH"]
    for each in found.values():
        assert each["securityContext"]["readOnlyRootFilesystem"]
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
