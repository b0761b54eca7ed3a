"""Alerts on recorded metrics: a chart's rules, the metrics of a process as Prometheus would scrape them, and promtool."""

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

MINUTES = 60
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The samples of a registry, one minute apart. `target` has the labels that Prometheus gives to the process."""

    first: Mapping[tuple[str, str], float]
    second: Mapping[tuple[str, str], float]

    def series(self) -> list[dict[str, str]]:
        """Promtool's notation: each sample goes on as it did in that minute."""
        return [
            {"series": name + labels, "values": f"{value:g}+{self.second[name, labels] - value:g}x{MINUTES}"}
            for (name, labels), value in self.first.items()
        ]


def record(registry: CollectorRegistry, minute: Callable[[], None], target: Labels) -> Recording:
    """`minute` is what happens in the process in each minute."""
    minute()
    first = _samples(registry, target)
    minute()
    return Recording(first=first, second=_samples(registry, target))


def _samples(registry: CollectorRegistry, target: Labels) -> dict[tuple[str, str], float]:
    return {
        (sample.name, _label_text({**sample.labels, **target})): sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name.startswith(("hyperfleet_", "dpu_bridge_"))
    }


def _label_text(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in sorted(labels.items())) + "}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The alerts of a PrometheusRule."""

    groups: list[dict[str, Any]]

    @property
    def alerts(self) -> dict[str, dict[str, Any]]:
        return {rule["alert"]: rule for group in self.groups for rule in group["rules"]}

    def check(self, folder: Path, recording: Recording, firing: Mapping[str, Labels]) -> None:
        """Assert that after an hour these alerts fire, with these labels besides the rule's own, and no others."""
        (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": self.groups}))
        tests = [{"interval": "1m", "input_series": recording.series(), "alert_rule_test": self._expected(firing)}]
        document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
        (folder / "test.yaml").write_text(yaml.safe_dump(document))
        promtool("check", "rules", folder / "rules.yaml")
        promtool("test", "rules", folder / "test.yaml")

    def _expected(self, firing: Mapping[str, Labels]) -> list[dict[str, Any]]:
        return [
            {
                "eval_time": f"{MINUTES}m",
                "alertname": name,
                "exp_alerts": [_alert(rule, firing[name])] if name in firing else [],
            }
            for name, rule in self.alerts.items()
        ]


def _alert(rule: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    def filled(text: str) -> str:
        return re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found[1]], text)

    annotations = {key: filled(text) for key, text in rule["annotations"].items()}
    return {"exp_labels": {**labels, **rule["labels"]}, "exp_annotations": annotations}


def rules_of(manifests: str) -> Rules:
    (rule,) = (each for each in yaml.safe_load_all(manifests) if each and each["kind"] == "PrometheusRule")
    return Rules(rule["spec"]["groups"])


def promtool(*arguments: str | Path) -> None:
    program = shutil.which("promtool")
    assert program, "promtool is missing: apt-get install prometheus"
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
