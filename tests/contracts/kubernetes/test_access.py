"""Whom an API server lets do what: tokens, Roles, and how it refuses."""

import pytest

from tests.support.kubernetes import (
    APPLY,
    Api,
    Document,
    condition,
    config_map,
    good,
    job,
    pod,
    set_conditions,
    types_of,
    unique,
)

UNAUTHORIZED = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "Unauthorized",
    "reason": "Unauthorized",
    "code": 401,
}
# What the status reporter is shipped with.
REPORTER = (
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "watch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
)


def denial(account: str, verb: str, resource: str, where: str, *, group: str = "batch", name: str = "") -> Document:
    plural = resource.partition("/")[0]
    subject = f"{plural}.{group}" if group else plural
    quoted = f' "{name}"' if name else ""
    message = f'{subject}{quoted} is forbidden: User "{account}" cannot {verb} resource "{resource}"'
    message += f' in API group "{group}" {where}'
    details = {"name": name, "group": group, "kind": plural}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "Forbidden",
        "details": {key: value for key, value in details.items() if value},
        "code": 403,
    }


@pytest.mark.parametrize("token", ["nobody-knows-me", ""], ids=["unknown", "none"])
async def test_who_is_not_known_is_unauthorized(api: Api, token: str) -> None:
    answer = await api.as_(token).get("jobs", "j")

    assert answer.status_code == 401
    assert answer.json() == UNAUTHORIZED


async def test_the_reporters_rights_suffice_to_report(api: Api) -> None:
    good(await api.create("jobs", job("j")))
    good(await api.create("pods", pod("p")))
    reporter = await api.new_account(REPORTER)

    body = {"metadata": {"annotations": {"a": "b"}}, **set_conditions(condition("Applied"))}
    after = good(await reporter.patch("jobs", "j", body, "status"))
    good(await reporter.get("pods", "p"))
    good(await reporter.get("jobs", "j"))
    async with reporter.watch("pods", fieldSelector="metadata.name=p") as watch:
        assert (await watch.next())[0] == "ADDED"

    assert types_of(after) == ["Applied"]
    assert after["metadata"]["annotations"] == {"a": "b"}


@pytest.mark.parametrize(
    ("request_line", "verb", "resource"),
    [
        ("PATCH jobs/j", "patch", "jobs"),
        ("PUT jobs/j/status", "update", "jobs/status"),
        ("GET jobs/j/status", "get", "jobs/status"),
        ("GET jobs", "list", "jobs"),
        ("POST jobs", "create", "jobs"),
        ("DELETE jobs/j", "delete", "jobs"),
        ("DELETE jobs", "deletecollection", "jobs"),
        ("GET jobs?watch=true", "watch", "jobs"),
    ],
)
async def test_what_the_reporter_has_no_right_to_is_forbidden(
    api: Api, request_line: str, verb: str, resource: str
) -> None:
    good(await api.create("jobs", job("j")))
    reporter = await api.new_account(REPORTER)
    account = await user_of(reporter)
    method, _, path = request_line.partition(" ")

    answer = await reporter.send(method, f"/apis/batch/v1/namespaces/{api.namespace}/{path}", {})

    name = "j" if "/" in path else ""
    assert answer.status_code == 403
    assert answer.json() == denial(account, verb, resource, f'in the namespace "{api.namespace}"', name=name)


async def user_of(account: Api) -> str:
    """The caller's own name, as the server knows it from its refusals."""
    message: str = (await account.send("GET", "/api/v1/namespaces/default/secrets")).json()["message"]
    return message.partition('User "')[2].partition('"')[0]


async def test_a_service_account_is_named_after_its_namespace(api: Api) -> None:
    account = await user_of(await api.new_account(REPORTER))

    assert account.startswith(f"system:serviceaccount:{api.namespace}:account-")


async def test_a_role_holds_in_its_own_namespace_only(api: Api) -> None:
    reporter = await api.new_account(REPORTER)
    account = await user_of(reporter)

    elsewhere = await reporter.send("GET", "/apis/batch/v1/namespaces/default/jobs/j")
    everywhere = await reporter.send("GET", "/api/v1/pods", watch="true")

    assert elsewhere.json() == denial(account, "get", "jobs", 'in the namespace "default"', name="j")
    assert everywhere.json() == denial(account, "watch", "pods", "at the cluster scope", group="")


async def test_a_right_may_be_given_for_one_name(api: Api) -> None:
    for name in ("mine", "other"):
        good(await api.create("pods", pod(name)))
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "watch"], "resourceNames": ["mine"]}
    account = await api.new_account([rule])

    good(await account.get("pods", "mine"))
    async with account.watch("pods", fieldSelector="metadata.name=mine") as watch:
        assert (await watch.next())[1]["metadata"]["name"] == "mine"
    other = await account.get("pods", "other")
    async with account.watch("pods", fieldSelector="metadata.name=other") as watch:
        assert watch.answer.status_code == 403

    assert other.status_code == 403


async def test_a_right_to_patch_does_not_let_apply_create(api: Api) -> None:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}
    account = await api.new_account([rule])
    name = unique("c")

    answer = await account.patch("configmaps", name, config_map(name), how=APPLY, fieldManager="m")

    user = await user_of(account)
    where = f'in the namespace "{api.namespace}"'
    assert answer.json() == denial(user, "create", "configmaps", where, group="", name=name)


async def test_everybody_may_ask_what_is_served(api: Api) -> None:
    account = await api.new_account(REPORTER)

    served = good(await account.send("GET", "/apis/batch/v1"))

    names = {(each["name"], each["kind"], each["namespaced"]) for each in served["resources"]}
    assert names >= {("jobs", "Job", True), ("jobs/status", "Job", True)}
    assert good(await account.send("GET", "/version"))["major"] == "1"


async def test_a_token_is_given_only_for_an_account_that_is_there(api: Api) -> None:
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}

    answer = await api.send("POST", api.path("serviceaccounts", "nobody", "token"), request)

    assert answer.status_code == 404
    assert answer.json()["message"] == 'serviceaccounts "nobody" not found'
