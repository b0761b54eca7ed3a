"""What tests on a real cluster do with kubectl, here a script: what it could not do is tried again, never taken for done."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import JobNamespace, Kubectl, Refused
from tests.support.outages import pods

POD = json.dumps({"metadata": {"name": "one"}}, indent=1)
NOTHING = "echo 'No resources found'"
DELETED = "echo 'pod \"one\" deleted from jobs namespace'"
NO_HANDSHAKE = "echo 'Unable to connect to the server: net/http: TLS handshake timeout' >&2; exit 1"


@pytest.fixture
def namespace(tmp_path: Path) -> JobNamespace:
    return JobNamespace(Kubectl(tmp_path / "kubectl", tmp_path / "kubeconfig"), "jobs")


def answers(folder: Path, **commands: list[str]) -> None:
    """Each command does what its lines say, one at each call; the last one from then on."""
    cases = []
    for command, lines in commands.items():
        steps = "".join(f"{number}) {line};; " for number, line in enumerate(lines[:-1], 1))
        cases.append(f"*' {command} '*) case $(count {command}) in {steps}*) {lines[-1]};; esac;;")
    script = folder / "kubectl"
    script.write_text(
        f"#!/bin/sh\ncount() {{ echo >>{folder}/$1; wc -l <{folder}/$1; }}\n"
        f'case " $* " in\n{chr(10).join(cases)}\nesac\n'
    )
    script.chmod(0o755)


def calls(folder: Path, command: str) -> int:
    return len((folder / command).read_text())


async def test_a_pod_that_ended_before_it_was_deleted_was_not_killed_and_the_next_one_is(
    tmp_path: Path, namespace: JobNamespace
) -> None:
    answers(tmp_path, get=[f"echo '{POD}'"], delete=[NOTHING, DELETED])
    await pods(namespace, namespace)["pods of Jobs"].kill()
    assert calls(tmp_path, "delete") == 2


async def test_no_pod_of_a_job_is_refused(tmp_path: Path, namespace: JobNamespace) -> None:
    answers(tmp_path, get=[f"echo '{POD}'"], delete=[NOTHING])
    with pytest.raises(Refused, match="no pod of a Job runs"):
        await pods(namespace, namespace, no_pod_seconds=0.5)["pods of Jobs"].kill()


async def test_no_dispatcher_is_refused(tmp_path: Path, namespace: JobNamespace) -> None:
    answers(tmp_path, delete=[NOTHING, DELETED])
    kill = pods(namespace, namespace)["dispatcher"].kill
    with pytest.raises(Refused, match="no dispatcher"):
        await kill()
    await kill()


async def test_a_log_whose_stream_breaks_is_read_again(tmp_path: Path, namespace: JobNamespace) -> None:
    answers(tmp_path, logs=["echo started", "echo started; echo retrying in 1s; exec sleep 600"])
    await namespace.logged("one", "adapter", "retrying in")
    assert calls(tmp_path, "logs") == 2


async def test_a_server_that_was_too_slow_for_the_handshake_is_asked_again(
    tmp_path: Path, namespace: JobNamespace
) -> None:
    answers(tmp_path, create=[NO_HANDSHAKE, "echo created"], get=["echo 'Error from server (NotFound)' >&2; exit 1"])
    assert await namespace.kubectl("create", "job") == "created\n"
    with pytest.raises(Refused, match="NotFound"):
        await namespace.kubectl("get", "job")
    assert (calls(tmp_path, "create"), calls(tmp_path, "get")) == (2, 1)


@pytest.mark.parametrize("command", ["get", "logs"])
async def test_no_process_is_left_where_its_caller_is_cancelled_again_while_it_ends(
    tmp_path: Path, namespace: JobNamespace, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A timeout inside a timeout; its transport would be found unclosed in a later test."""
    started = asyncio.Queue[asyncio.subprocess.Process]()
    start = asyncio.create_subprocess_exec

    async def seen(*arguments: str, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*arguments, **options)
        started.put_nowait(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", seen)
    answers(tmp_path, get=["exec sleep 600"], logs=["exec sleep 600"])
    asked = namespace.kubectl("get", "job") if command == "get" else namespace.logged("one", "adapter", "never")
    task = asyncio.create_task(asked)
    process = await started.get()
    for _ in range(2):
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert process.returncode == -signal.SIGKILL
