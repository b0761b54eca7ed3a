"""`rbac`: the rules that a task config needs, as Roles or as values of the chart."""

import argparse
import os
from collections.abc import Mapping
from typing import Any

import yaml

from dispatcher.cli import configuring
from dispatcher.cli.terminal import UsageError, answer
from dispatcher.config.compiled import Adapter
from dispatcher.config.findings import ConfigError
from dispatcher.config.loading import inspect
from dispatcher.rights.needed import CLUSTER, Rule, needed_rules

_EPILOG = """\
examples:
  Roles to apply, for the account the dispatcher runs as:
    hyperfleet-adapter rbac -c adapter-config.yaml -t task-config.yaml --account my-adapter --namespace my-namespace
  the same as values of the chart:
    hyperfleet-adapter rbac -c adapter-config.yaml -t task-config.yaml -o values

exit code: 0 printed, 2 the configuration is refused or the command was misused
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Prints the least rights on Kubernetes that the resources and params of a task config need."
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s -c FILE -t FILE [options]"
    configuring.add_files(parser)
    parser.add_argument(
        "-o", "--output", choices=["manifests", "values"], default="manifests", help="form of the answer"
    )
    parser.add_argument(
        "--account", metavar="NAME", help="the dispatcher's ServiceAccount; otherwise the adapter's name"
    )
    parser.add_argument("--namespace", metavar="NAME", default="default", help="the ServiceAccount's namespace")
    configuring.add_settings(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    adapter = _adapter(arguments)
    rules = needed_rules(adapter)
    if arguments.output == "values":
        values = {"namespaces": {name: each for name, each in rules.items() if name != CLUSTER}}
        answer(_yaml({"rbac": {**values, "clusterRules": rules.get(CLUSTER, [])}}))
        return 0
    account = arguments.account or adapter.name
    documents = [
        document for name, each in rules.items() for document in _role(name, each, account, arguments.namespace)
    ]
    answer("---\n".join(_yaml(each) + "\n" for each in documents).rstrip("\n"))
    return 0


def _adapter(arguments: argparse.Namespace) -> Adapter:
    """The compiled adapter; what the environment must have when it runs need not be there now."""
    inspection = inspect(
        configuring.adapter_file(arguments),
        configuring.task_file(arguments),
        environment=os.environ,
        flags=configuring.given_settings(arguments),
        needs_environment=False,
    )
    if inspection.loaded is None:
        raise UsageError(ConfigError(inspection.findings, refused=inspection.findings).explain())
    return inspection.loaded.adapter


def _role(namespace: str, rules: list[Rule], account: str, account_namespace: str) -> list[dict[str, Any]]:
    """A Role with its binding; a ClusterRole where the rules hold in the whole cluster."""
    prefix = "" if namespace != CLUSTER else "Cluster"
    metadata = {"name": account} | ({"namespace": namespace} if namespace != CLUSTER else {})
    api_version = "rbac.authorization.k8s.io/v1"
    return [
        {"apiVersion": api_version, "kind": f"{prefix}Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": api_version,
            "kind": f"{prefix}RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": f"{prefix}Role", "name": account},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": account_namespace}],
        },
    ]


def _yaml(document: Mapping[str, Any]) -> str:
    return yaml.safe_dump(document, sort_keys=False).rstrip()
