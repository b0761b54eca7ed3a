"""What an operator does with maestro-cli, and what a script reads from its exit code."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from lab.maestro.agent import Agent
from maestro_cli.exits import Exit
from tests.support.maestro import MaestroServer, unique
from tests.support.maestro_cli import CONSUMER, TO, Cli, Files, config_map, manifest_work

EXECUTOR = {
    "subject": {"type": "ServiceAccount", "serviceAccount": {"namespace": "ops", "name": "deployer"}},
}


async def test_plain_manifests_become_a_work_that_is_created_once(cli: Cli, files: Files) -> None:
    path = files.write(config_map(), config_map("b"))
    assert (await cli("apply", "-f", path, "--name", "w", *TO)).out == "work w on mgmt-01 is created\n"
    assert (await cli("apply", "-f", path, "--name", "w", *TO)).out == "work w on mgmt-01 is unchanged\n"
    shown = json.loads((await cli("get", "w", *TO, "-o", "json")).out)
    assert [each["metadata"]["name"] for each in shown["manifests"]] == ["a", "b"]
    assert shown["version"] == 1


async def test_a_well_known_kind_brings_its_status_back(cli: Cli, files: Files, agent: Agent) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sync", "namespace": "ns"}}
    await cli("apply", "-f", files.write(job), *TO, "--wait", "Applied")
    await agent.observe("Job", "ns", "sync", {"succeeded": 1})
    waited = await cli("wait", "job-sync", *TO, "--for", "Job:succeeded>=1", "--timeout", "240s")
    assert (waited.code, waited.out) == (0, "job-sync: Job:succeeded>=1 is met\n")


async def test_what_apply_brought_before_is_removed_and_what_others_brought_is_refused(cli: Cli, files: Files) -> None:
    await cli("apply", "-f", files.write(config_map("a"), config_map("b")), "--name", "w", *TO)
    await cli("apply", "-f", files.write(config_map("a")), "--name", "w", *TO, "--prune")
    assert await names_in(cli, "w") == ["a"]

    # With `--strategy replace` the manifests are written as they are, and none of them is remembered as ours.
    theirs = files.write({"manifests": [config_map("a"), config_map("theirs")]})
    await cli("build", "w", *TO, "--source-file", theirs, "--strategy", "replace", "--apply")
    refused = await cli("apply", "-f", files.write(config_map("a", x="2")), "--name", "w", *TO)
    assert refused.code == Exit.CONFLICT
    assert "ConfigMap/default/theirs" in refused.err
    assert await names_in(cli, "w") == ["a", "theirs"]

    kept = await cli("apply", "-f", files.write(config_map("a", x="2")), "--name", "w", *TO, "--keep-others")
    assert (kept.code, await names_in(cli, "w")) == (0, ["a", "theirs"])
    replaced = await cli("apply", "-f", files.write(config_map("a", x="3")), "--name", "w", *TO, "--replace")
    assert (replaced.code, await names_in(cli, "w")) == (0, ["a"])


async def names_in(cli: Cli, work: str) -> list[str]:
    shown = json.loads((await cli("get", work, *TO, "-o", "json")).out)
    return [each["metadata"]["name"] for each in shown["manifests"]]


async def test_what_get_prints_as_manifestwork_goes_back_unchanged(cli: Cli, files: Files) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO)
    printed = yaml.safe_load((await cli("get", "w", *TO, "-o", "manifestwork")).out)
    assert (await cli("apply", "-f", files.write(printed), *TO)).out == "work w on mgmt-01 is unchanged\n"


async def test_what_get_printed_restores_the_work_after_it_was_deleted_and_on_another_cluster(
    cli: Cli, files: Files, agent: Agent
) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--wait", "Applied")
    kept = files.write(yaml.safe_load((await cli("get", "w", *TO, "-o", "manifestwork")).out))
    await cli("delete", "w", *TO, "--wait", "--timeout", "240s")
    assert (await cli("apply", "-f", kept, *TO)).out == "work w on mgmt-01 is created\n"
    await cli("consumer", "ensure", "mgmt-01-b")
    assert (await cli("apply", "-f", kept, "-c", "mgmt-01-b")).out == "work w on mgmt-01-b is created\n"


async def test_of_several_names_those_that_are_there_are_shown(cli: Cli, files: Files) -> None:
    for name in ("a", "b"):
        await cli("apply", "-f", files.write(config_map(name)), "--name", name, *TO)
    shown = await cli("get", "a", "nope", "b", *TO, "-o", "name")
    assert (shown.code, shown.out) == (Exit.NOT_FOUND, "a\nb\n")
    assert "'nope'" in shown.err


async def test_diff_says_what_would_change_and_hides_secrets(cli: Cli, files: Files) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}}
    before = files.write(config_map(x="1"), {**secret, "stringData": {"password": "hunter2"}})
    after = files.write(config_map(x="2"), {**secret, "stringData": {"password": "hunter3"}})
    await cli("apply", "-f", before, "--name", "w", *TO)
    same = await cli("diff", "-f", before, "--name", "w", *TO)
    assert (same.code, same.out) == (Exit.OK, "")
    different = await cli("diff", "-f", after, "--name", "w", *TO)
    assert different.code == Exit.DIFFERENT
    new = await cli("diff", "-f", after, "--name", "new", *TO)
    assert (new.code, "hunter" in new.out) == (Exit.DIFFERENT, False)
    assert [line.split(":")[0] for line in new.out.splitlines()] == ["+ ConfigMap/default/a", "+ Secret/default/s"]
    assert different.out.splitlines()[:2] == [
        '- ConfigMap/default/a data.x: "1"',
        '+ ConfigMap/default/a data.x: "2"',
    ]
    assert "hunter" not in different.out
    listed = json.loads((await cli("diff", "-f", after, "--name", "w", *TO, "-o", "json")).out)
    in_yaml = (await cli("diff", "-f", after, "--name", "w", *TO, "-o", "yaml")).out
    assert in_yaml.startswith("- kind: ")
    assert yaml.safe_load(in_yaml) == listed
    assert {each["path"] for each in listed} == {"data.x", "stringData.password"}


async def test_what_was_applied_does_not_differ_whatever_maestro_adds_to_it(cli: Cli, files: Files) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n"}}
    path = files.write(namespace, deployment | {"spec": {"replicas": 1.0}})
    await cli("apply", "-f", path, "--name", "w", *TO)
    same = await cli("diff", "-f", path, "--name", "w", *TO)
    assert (same.code, same.out, same.err) == (Exit.OK, "", "")


async def test_apply_keeps_the_executor_that_the_file_does_not_name(cli: Cli, files: Files, agent: Agent) -> None:
    work = manifest_work("w", config_map())
    work["spec"]["executor"] = EXECUTOR
    await cli("apply", "-f", files.write(work), *TO, "--wait", "Applied")
    printed = yaml.safe_load((await cli("get", "w", *TO, "-o", "manifestwork")).out)
    assert printed["spec"].pop("executor") == EXECUTOR
    printed["metadata"]["labels"] = {"a": "b"}
    assert (await cli("apply", "-f", files.write(printed), *TO)).out == "work w on mgmt-01 is updated\n"
    work["metadata"]["labels"] = {"a": "b"}
    assert (await cli("apply", "-f", files.write(work), *TO)).out == "work w on mgmt-01 is unchanged\n"


async def test_an_executor_that_maestro_does_not_show_yet_is_not_taken_away(cli: Cli, files: Files) -> None:
    work = manifest_work("w", config_map())
    named = files.write(work | {"spec": work["spec"] | {"executor": EXECUTOR}})
    assert (await cli("apply", "-f", named, *TO)).code == 0
    changed = files.write(manifest_work("w", config_map(x="2")))
    for command in (
        ("apply", "-f", changed, *TO),
        ("apply", "-f", changed, *TO, "--dry-run"),
        ("build", "w", "-f", changed, *TO, "--apply"),
    ):
        refused = await cli(*command)
        assert refused.code == Exit.ERROR
        assert all(part in refused.err for part in ("executor", "agent has reported", "--drop-executor"))
    printed = await cli("get", "w", *TO, "-o", "manifestwork")
    assert "has an executor" in printed.err
    assert (await cli("build", "w", "-f", changed, *TO, "--apply", "--drop-executor")).code == 0
    assert (await cli("get", "w", *TO, "-o", "manifestwork")).err == ""


async def test_a_dry_run_sends_nothing(cli: Cli, files: Files) -> None:
    printed = await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--dry-run")
    assert printed.out == "work w on mgmt-01 would be created with 1 manifest(s)\n"
    assert (await cli("get", "w", *TO)).code == Exit.NOT_FOUND


async def test_another_sources_work_is_shown_and_not_touched(cli: Cli, files: Files) -> None:
    path = files.write(config_map())
    await cli("apply", "-f", path, "--name", "w", *TO, "--source-id", unique("other"))
    assert "InProgress (other source)" in (await cli("list", *TO)).out
    for refused in (
        await cli("apply", "-f", path, "--name", "w", *TO),
        await cli("delete", "w", *TO),
    ):
        assert refused.code == Exit.CONFLICT
        assert "another source" in refused.err
    ended = await cli("wait", "w", *TO, "--for", "delete", "--timeout", "3s")
    assert ended.code == Exit.TIMEOUT
    assert (await cli("delete", "w", *TO, "--adopt")).code == 0


async def test_a_wait_ends_by_the_condition_that_must_not_come(cli: Cli, files: Files, agent: Agent) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sync", "namespace": "ns"}}
    await cli("apply", "-f", files.write(job), *TO, "--wait", "Applied")
    await agent.observe("Job", "ns", "sync", {"conditions": [{"type": "Failed", "status": "True"}]})
    failed = await cli("wait", "job-sync", *TO, "--for", "Job:Complete", "--fail-on", "Job:Failed", "--timeout", "240s")
    assert failed.code == Exit.FAILED_CONDITION
    assert "Job:Failed holds" in failed.err


async def test_a_wait_survives_a_restart_of_maestro(
    cli: Cli, files: Files, server: MaestroServer, consumer: str
) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO)
    waiting = asyncio.create_task(cli("wait", "w", *TO, "--for", "Applied", "--timeout", "240s"))
    await server.kill()
    await server.start()
    async with Agent(server.broker_address, consumer):
        assert (await waiting).code == 0


async def test_several_works_are_waited_for_as_kubectl_users_write_it(cli: Cli, files: Files, agent: Agent) -> None:
    for name in ("a", "b"):
        await cli("apply", "-f", files.write(config_map(name)), "--name", name, *TO)
    waited = await cli("wait", "a", "b", *TO, "--for=condition=Available", "--timeout", "240s")
    assert waited.out == "a: Available is met\nb: Available is met\n"


async def test_another_sources_work_is_changed_and_waited_for_when_it_is_adopted(
    cli: Cli, files: Files, agent: Agent
) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--source-id", unique("other"))
    changed = files.write(config_map(x="2"))
    adopted = await cli("apply", "-f", changed, "--name", "w", *TO, "--adopt", "--keep-others", "--wait")
    assert adopted.out == "work w on mgmt-01 is updated; Available is met\n"
    assert (await cli("wait", "w", *TO, "--timeout", "240s")).code == 0


async def test_a_wait_that_ends_says_what_was_seen(cli: Cli, files: Files) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO)
    ended = await cli("wait", "w", *TO, "--for", "Applied AND Available", "--timeout", "3s")
    assert ended.code == Exit.TIMEOUT
    assert "Applied: no such value yet" in ended.err


async def test_a_wrong_expression_is_refused_before_anything_is_sent(cli: Cli, files: Files) -> None:
    refused = await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--wait", "Applied AND")
    assert refused.code == Exit.USAGE
    assert (await cli("get", "w", *TO)).code == Exit.NOT_FOUND


async def test_deleting_twice_is_fine(cli: Cli, files: Files, agent: Agent) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--wait", "Applied")
    assert (await cli("delete", "w", *TO, "--wait", "--timeout", "240s")).code == 0
    again = await cli("delete", "w", *TO)
    assert (again.code, again.err) == (0, "work w on mgmt-01 is not there: nothing to delete\n")


async def test_build_puts_in_and_takes_out(cli: Cli, files: Files) -> None:
    await cli("apply", "-f", files.write(config_map("a")), "--name", "w", *TO)
    await cli("build", "w", *TO, "--source-file", files.write({"manifests": [config_map("b")]}), "--apply")
    assert await names_in(cli, "w") == ["a", "b"]
    await cli("build", "w", *TO, "--remove", "ConfigMap/a", "--apply")
    assert await names_in(cli, "w") == ["b"]
    missing = await cli("build", "nope", *TO, "--remove", "ConfigMap/a")
    assert missing.code == Exit.NOT_FOUND
    absent = await cli("build", "w", *TO, "--remove", "ConfigMap/typo", "--apply")
    assert (absent.code, "it has ConfigMap/default/b" in absent.err) == (Exit.NOT_FOUND, True)


async def test_validate_finds_everything_at_once(cli: Cli, files: Files) -> None:
    work = manifest_work("Not A Name", {"kind": "ConfigMap", "metadata": {}})
    work["spec"] |= {"manifestConfigs": [{"resourceIdentifier": {"resource": "jobs", "name": "none"}}]}
    found = await cli("validate", "-f", files.write(work), "-o", "json")
    assert found.code == Exit.ERROR
    paths = " ".join(each["path"] for each in json.loads(found.out))
    assert all(part in paths for part in ("metadata.name", "manifests[0]", "manifestConfigs[0]"))
    assert (await cli("validate", "-f", files.write(config_map()), "--name", "w")).code == 0
    unknown = await cli("validate", "-f", files.write(config_map()), "--name", "w", "--consumer", "nope")
    assert unknown.code == Exit.NOT_FOUND


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        pytest.param(["apply", "-f", "missing.yaml", *TO], Exit.USAGE, "cannot be read", id="no such file"),
        pytest.param(["get", "w"], Exit.USAGE, "--consumer", id="no consumer"),
        pytest.param(["get", "w", "-c", "nope"], Exit.NOT_FOUND, "not registered", id="an unknown consumer"),
        pytest.param(["delete", *TO], Exit.USAGE, "--all", id="nothing named to delete"),
        pytest.param(["list", "-o", "xml"], Exit.USAGE, "jsonpath", id="an unknown form"),
        pytest.param(["list", "-o", "jsonpath={.a"], Exit.USAGE, "refused", id="a wrong JSONPath"),
        pytest.param(["list", "--timeout", "soon"], Exit.USAGE, "duration", id="no duration"),
        pytest.param(["list", "--context", "nope"], Exit.USAGE, "no context", id="no such context"),
        pytest.param(["consumer", "label", CONSUMER, "x"], Exit.USAGE, "key=value", id="no label"),
        pytest.param(["list", "-l", "a b"], Exit.ERROR, "selector", id="no selector"),
        pytest.param(["list", "--grpc-client-token", "t"], Exit.USAGE, "in the open", id="a token without TLS"),
    ],
)
async def test_a_mistake_is_named_with_its_remedy(cli: Cli, arguments: list[str], code: int, part: str) -> None:
    printed = await cli(*arguments)
    assert printed.code == code
    assert part in printed.err
    assert printed.err.startswith("maestro-cli: ")


async def test_consumers_are_registered_labelled_listed_and_removed(cli: Cli) -> None:
    await cli("consumer", "ensure", "mgmt-02", "region=eu")
    await cli("consumer", "ensure", "mgmt-02", "region=us")
    assert json.loads((await cli("consumer", "get", "mgmt-02", "-o", "json")).out)["labels"] == {"region": "eu"}
    await cli("consumer", "label", "mgmt-02", "tier=gold", "region-")
    assert (await cli("consumer", "list", "-l", "tier=gold", "-o", "name")).out == "mgmt-02\n"
    assert (await cli("consumer", "delete", "mgmt-02")).out == "consumer mgmt-02 is deleted\n"
    for command in (("get", "mgmt-02"), ("label", "mgmt-02", "region=us")):
        unknown = await cli("consumer", *command)
        assert unknown.code == Exit.NOT_FOUND
        assert "`maestro-cli consumer ensure mgmt-02`" in unknown.err


async def test_a_context_stands_in_for_flags_and_keeps_no_token(cli: Cli, tmp_path: Path) -> None:
    await cli("config", "set-context", "lab", "--source-id", "from-context", "--grpc-endpoint", "h:1")
    listed = await cli("config", "get-contexts")
    assert listed.out.splitlines()[1].split() == ["*", "lab", "h:1", "from-context"]
    status = json.loads((await cli("status", "-o", "json", MAESTRO_SOURCE_ID="")).out)
    assert status["source"] == "from-context"
    refused = await cli("config", "set-context", "lab", "--grpc-client-token", "s3cret")
    assert refused.code == Exit.USAGE
    assert "s3cret" not in (tmp_path / "config.yaml").read_text()


async def test_status_names_what_needs_attention(cli: Cli, files: Files) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO)
    status = json.loads((await cli("status", "-o", "json")).out)
    assert status["rest"]["state"] == status["grpc"]["state"] == "ok"
    assert status["works"]["InProgress"] >= 1


async def test_status_of_a_maestro_that_is_half_there_shows_which_half(cli: Cli) -> None:
    nowhere = "127.0.0.1:1"
    for flag, missing, there in (("--http-endpoint", "rest", "grpc"), ("--grpc-endpoint", "grpc", "rest")):
        shown = await cli("status", flag, nowhere, "--timeout", "1s", "-o", "json")
        assert shown.code == Exit.UNREACHABLE
        status = json.loads(shown.out)
        assert (status[there]["state"], status[missing]["endpoint"]) == ("ok", nowhere)
        assert status[missing]["state"] != "ok"


async def test_output_forms(cli: Cli, files: Files) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO)
    assert (await cli("list", *TO, "-o", "name")).out == "w\n"
    assert (await cli("get", "w", *TO, "-o", "jsonpath={.manifests[*].kind}")).out == "ConfigMap\n"
    lines = "jsonpath={range .items[*]}{.name}={.version}{'\\n'}{end}"
    assert (await cli("list", *TO, "-o", lines)).out.splitlines()[0] == "w=1"
    assert (await cli("get", "w", *TO, "-o", "go-template={{ .name }}/{{ .state }}")).out == "w/InProgress\n"
    assert yaml.safe_load((await cli("get", "w", *TO, "-o", "yaml")).out)["consumerName"] == CONSUMER
    assert "State:       InProgress" in (await cli("describe", "w", *TO)).out
