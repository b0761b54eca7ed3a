"""Create, read, update and delete of single objects."""

import base64

import pytest

from shared import times
from tests.support.kubernetes import (
    Api,
    Document,
    KubernetesServer,
    condition,
    config_map,
    good,
    job,
    pod,
    set_conditions,
    version_of,
)

STALE = "the object has been modified; please apply your changes to the latest version and try again"


def status(code: int, reason: str, message: str, **details: object) -> Document:
    """The body of a refusal."""
    body: Document = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    body |= {"reason": reason, "code": code}
    return {**body, "details": details} if details else body


async def test_a_created_object_has_an_identity_and_a_version(api: Api) -> None:
    answer = await api.create("jobs", job("j"))
    made = good(answer)["metadata"]

    assert answer.status_code == 201
    assert (made["name"], made["namespace"], made["generation"]) == ("j", api.namespace, 1)
    assert made["uid"]
    assert int(made["resourceVersion"]) > 0
    assert abs((times.now() - times.parse(made["creationTimestamp"])).total_seconds()) < 60
    assert good(await api.get("jobs", "j")) == good(answer)


async def test_a_new_job_is_completed_with_the_defaults_a_client_relies_on(api: Api) -> None:
    made = good(await api.create("jobs", job("j")))
    uid, spec = made["metadata"]["uid"], made["spec"]

    assert made["status"] == {}
    assert {key: spec[key] for key in ("backoffLimit", "completions", "parallelism", "suspend")} == {
        "backoffLimit": 6,
        "completions": 1,
        "parallelism": 1,
        "suspend": False,
    }
    assert (spec["completionMode"], spec["podReplacementPolicy"]) == ("NonIndexed", "TerminatingOrFailed")
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert (
        made["metadata"]["labels"]
        == spec["template"]["metadata"]["labels"]
        == {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": "j",
            "controller-uid": uid,
            "job-name": "j",
        }
    )
    assert spec["template"]["spec"] == {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "adapter",
                "image": "adapter:1",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }


async def test_a_job_without_labels_takes_those_of_its_template(api: Api) -> None:
    wanted = job("j")
    wanted["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}

    made = good(await api.create("jobs", wanted))

    assert made["metadata"]["labels"]["a"] == "b"


async def test_a_status_sent_with_a_new_object_is_not_taken(api: Api) -> None:
    made = good(await api.create("jobs", job("j") | set_conditions(condition("Applied"))))

    assert made["status"] == {}


async def test_a_new_pod_is_pending(api: Api) -> None:
    made = good(await api.create("pods", pod("p")))

    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert made["spec"]["restartPolicy"] == "Always"


async def test_a_name_is_made_up_from_its_beginning(api: Api) -> None:
    first, second = [
        good(await api.create("jobs", job("") | {"metadata": {"generateName": "run-"}}))["metadata"]["name"]
        for _ in range(2)
    ]

    assert first != second
    assert first.startswith("run-")
    assert len(first) == len("run-") + 5


async def test_a_name_that_is_taken_is_refused(api: Api) -> None:
    good(await api.create("jobs", job("j")))

    answer = await api.create("jobs", job("j"))

    details = {"name": "j", "group": "batch", "kind": "jobs"}
    assert answer.json() == status(409, "AlreadyExists", 'jobs.batch "j" already exists', **details)
    assert answer.status_code == 409


async def test_what_is_not_there_is_not_found(api: Api) -> None:
    missing = await api.get("jobs", "j")
    missing_pod = await api.get("pods", "p", "status")

    details = {"name": "j", "group": "batch", "kind": "jobs"}
    assert (missing.status_code, missing.json()) == (
        404,
        status(404, "NotFound", 'jobs.batch "j" not found', **details),
    )
    assert missing_pod.json() == status(404, "NotFound", 'pods "p" not found', name="p", kind="pods")


async def test_a_namespace_that_is_not_there_takes_no_objects(api: Api) -> None:
    answer = await api.send("POST", "/apis/batch/v1/namespaces/nowhere/jobs", job("j"))

    assert answer.json() == status(404, "NotFound", 'namespaces "nowhere" not found', name="nowhere", kind="namespaces")


@pytest.mark.parametrize(
    "path",
    ["/apis/batch/v1/namespaces/default/jobz", "/apis/batch/v1/namespaces/default/jobs/j/nothing"],
    ids=["an unknown kind", "an unknown part"],
)
async def test_a_path_that_is_not_served_is_not_found(api: Api, path: str) -> None:
    answer = await api.send("GET", path)

    assert answer.status_code == 404
    assert answer.json()["message"] == "the server could not find the requested resource"
    assert answer.json()["reason"] == "NotFound"


async def test_a_group_that_is_not_served_is_a_page_not_found(api: Api) -> None:
    answer = await api.send("GET", "/apis/nobody.example.com/v1/things")

    assert (answer.status_code, answer.text) == (404, "404 page not found\n")


async def test_a_job_name_of_64_characters_is_refused_because_it_becomes_a_label(api: Api) -> None:
    good(await api.create("jobs", job("a" * 63)))

    answer = await api.create("jobs", job("a" * 64))

    assert answer.status_code == 422
    assert answer.json()["reason"] == "Invalid"
    assert answer.json()["details"]["kind"] == "Job"
    assert {cause["field"] for cause in answer.json()["details"]["causes"]} == {"spec.template.labels"}
    assert "must be no more than 63 bytes" in answer.json()["message"]


async def test_a_name_that_is_no_dns_name_is_refused(api: Api) -> None:
    answer = await api.create("configmaps", config_map("Not_A_Name"))

    assert answer.status_code == 422
    [cause] = answer.json()["details"]["causes"]
    assert (cause["field"], cause["reason"]) == ("metadata.name", "FieldValueInvalid")
    assert answer.json()["message"] == f'ConfigMap "Not_A_Name" is invalid: metadata.name: {cause["message"]}'
    assert cause["message"].startswith('Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain must consist of')


async def test_a_job_that_restarts_for_ever_is_refused(api: Api) -> None:
    endless = job("j")
    endless["spec"]["template"]["spec"].pop("restartPolicy")

    answer = await api.create("jobs", endless)

    why = 'Required value: valid values: "OnFailure", "Never"'
    field = "spec.template.spec.restartPolicy"
    assert answer.json() == status(
        422,
        "Invalid",
        f'Job.batch "j" is invalid: {field}: {why}',
        name="j",
        group="batch",
        kind="Job",
        causes=[{"reason": "FieldValueRequired", "message": why, "field": field}],
    )


async def test_a_job_without_containers_is_refused(api: Api) -> None:
    empty = job("j")
    empty["spec"]["template"]["spec"]["containers"] = []

    answer = await api.create("jobs", empty)

    assert answer.status_code == 422
    assert answer.json()["message"] == ('Job.batch "j" is invalid: spec.template.spec.containers: Required value')


async def test_all_causes_are_reported_at_once(api: Api) -> None:
    wrong = job("j", backoffLimit=-1)
    wrong["spec"]["template"]["spec"]["containers"] = []

    answer = await api.create("jobs", wrong)

    assert {cause["field"] for cause in answer.json()["details"]["causes"]} == {
        "spec.backoffLimit",
        "spec.template.spec.containers",
    }
    assert answer.json()["message"].startswith('Job.batch "j" is invalid: [spec.')


async def test_a_body_that_is_no_json_is_a_bad_request(api: Api) -> None:
    answer = await api.create("jobs", b"{")

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


async def test_a_body_of_another_kind_is_a_bad_request(api: Api) -> None:
    answer = await api.create("jobs", config_map("c"))

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


async def test_a_body_for_another_namespace_is_a_bad_request(api: Api) -> None:
    elsewhere = job("j")
    elsewhere["metadata"]["namespace"] = "default"

    answer = await api.create("jobs", elsewhere)

    assert answer.json() == status(
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    )


async def test_annotations_of_more_than_256_kib_are_refused(api: Api) -> None:
    large = job("j")
    large["metadata"]["annotations"] = {"a": "x" * (256 * 1024)}

    answer = await api.create("jobs", large)

    assert answer.status_code == 422
    assert answer.json()["details"]["causes"] == [
        {
            "reason": "FieldValueTooLong",
            "message": "Too long: may not be more than 262144 bytes",
            "field": "metadata.annotations",
        }
    ]


@pytest.mark.parametrize(
    ("where", "what"),
    [("labels", {"a": "not a value!"}), ("labels", {"not a key!": "a"}), ("annotations", {"not a key!": "a"})],
)
async def test_labels_and_annotations_have_a_form(api: Api, where: str, what: Document) -> None:
    answer = await api.create("pods", pod("p", **{where: what}))

    assert answer.status_code == 422
    assert {cause["field"] for cause in answer.json()["details"]["causes"]} == {f"metadata.{where}"}


async def test_a_value_of_the_wrong_type_is_a_bad_request(api: Api) -> None:
    answer = await api.create("jobs", job("j", backoffLimit="many"))

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert answer.json()["message"].startswith('Job in version "v1" cannot be handled as a Job: ')


async def test_an_object_larger_than_the_servers_memory_takes_is_a_server_error(api: Api) -> None:
    answer = await api.create("configmaps", config_map("c", a="x" * (1600 * 1024)))
    larger = await api.create("configmaps", config_map("c", a="x" * (3200 * 1024)))

    assert answer.status_code in (413, 422, 500)
    assert (larger.status_code, larger.json()["reason"]) == (413, "RequestEntityTooLarge")


async def test_an_update_makes_a_new_version_and_keeps_identity(api: Api) -> None:
    before = good(await api.create("configmaps", config_map("c", a="1")))

    after = good(await api.update("configmaps", before | {"data": {"b": "2"}}))

    assert after["data"] == {"b": "2"}
    assert version_of(after) > version_of(before)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


async def test_an_update_that_changes_nothing_keeps_the_version(api: Api) -> None:
    before = good(await api.create("configmaps", config_map("c", a="1")))

    after = good(await api.update("configmaps", before))

    assert after == before


async def test_an_update_of_an_older_version_conflicts(api: Api) -> None:
    before = good(await api.create("jobs", job("j")))
    good(await api.patch("jobs", "j", {"metadata": {"labels": {"a": "b"}}}))

    whole = await api.update("jobs", before)
    its_status = await api.update("jobs", before | set_conditions(condition("Applied")), "status")

    details = {"name": "j", "group": "batch", "kind": "jobs"}
    message = f'Operation cannot be fulfilled on jobs.batch "j": {STALE}'
    assert whole.json() == its_status.json() == status(409, "Conflict", message, **details)
    assert whole.status_code == its_status.status_code == 409


async def test_an_update_without_a_version_wins_unconditionally(api: Api) -> None:
    before = good(await api.create("configmaps", config_map("c", a="1")))

    after = good(await api.update("configmaps", config_map("c", a="2")))

    assert (after["metadata"]["uid"], after["data"]) == (before["metadata"]["uid"], {"a": "2"})


async def test_a_new_generation_begins_when_the_spec_changes_and_only_then(api: Api) -> None:
    made = good(await api.create("jobs", job("j")))
    labelled = good(await api.patch("jobs", "j", {"metadata": {"labels": {"a": "b"}}}))
    reported = good(await api.patch("jobs", "j", set_conditions(condition("Applied")), "status"))
    suspended = good(await api.patch("jobs", "j", {"spec": {"suspend": True}}))

    assert [each["metadata"]["generation"] for each in (made, labelled, reported, suspended)] == [1, 1, 1, 2]


async def test_the_template_of_a_job_cannot_be_changed(api: Api) -> None:
    before = good(await api.create("jobs", job("j")))
    before["spec"]["template"]["spec"]["containers"][0]["image"] = "adapter:2"

    answer = await api.update("jobs", before)

    assert answer.status_code == 422
    [cause] = answer.json()["details"]["causes"]
    assert (cause["field"], cause["reason"]) == ("spec.template", "FieldValueInvalid")
    assert cause["message"].endswith("field is immutable")


async def test_an_update_of_an_object_with_another_uid_conflicts(api: Api) -> None:
    before = good(await api.create("configmaps", config_map("c")))
    other = config_map("c")
    other["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"

    answer = await api.update("configmaps", other)

    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert "Precondition failed: UID in precondition: 11111111-" in answer.json()["message"]
    assert f"UID in object meta: {before['metadata']['uid']}" in answer.json()["message"]


async def test_an_update_under_another_name_is_a_bad_request(api: Api) -> None:
    good(await api.create("configmaps", config_map("c")))

    answer = await api.send("PUT", api.path("configmaps", "c"), config_map("d"))

    assert answer.json() == status(
        400, "BadRequest", "the name of the object (d) does not match the name on the URL (c)"
    )


async def test_an_update_of_the_spec_leaves_the_status_alone(api: Api) -> None:
    good(await api.create("jobs", job("j")))
    reported = good(await api.patch("jobs", "j", set_conditions(condition("Applied")), "status"))

    after = good(await api.update("jobs", reported | {"status": {}}))

    assert after["status"] == reported["status"]


async def test_an_update_of_the_status_leaves_the_spec_alone_and_takes_annotations(api: Api) -> None:
    wanted = good(await api.create("jobs", job("j")))
    wanted["spec"]["suspend"] = True
    wanted["metadata"]["annotations"] = {"a": "b"}

    after = good(await api.update("jobs", wanted | set_conditions(condition("Applied")), "status"))

    assert after["spec"]["suspend"] is False
    assert after["metadata"]["annotations"] == {"a": "b"}
    assert after["status"]["conditions"] == [condition("Applied", lastProbeTime=None, lastTransitionTime=None)]


async def test_a_lease_is_made_by_an_update_and_changed_only_with_its_version(api: Api) -> None:
    lease: Document = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}}

    made = await api.update("leases", lease)
    careless = await api.update("leases", lease)
    kept = good(await api.update("leases", made.json()))

    assert made.status_code == 201
    assert kept["spec"]["holderIdentity"] == "a"
    assert careless.status_code == 422
    assert careless.json()["details"]["causes"][0]["field"] == "metadata.resourceVersion"


async def test_a_secret_given_as_text_is_kept_as_base64(api: Api) -> None:
    made = good(await api.create("secrets", {"metadata": {"name": "s"}, "stringData": {"token": "t"}}))

    assert made["data"] == {"token": base64.b64encode(b"t").decode()}
    assert made["type"] == "Opaque"
    assert "stringData" not in made


async def test_a_write_that_is_only_tried_is_not_kept(api: Api) -> None:
    tried = await api.create("configmaps", config_map("c"), dryRun="All")

    assert tried.status_code == 201
    assert (await api.get("configmaps", "c")).status_code == 404


async def test_objects_outlive_a_crash_of_the_api_server(server: KubernetesServer, api: Api) -> None:
    made = good(await api.create("jobs", job("j")))

    await server.kill()
    await server.start()

    assert good(await api.get("jobs", "j")) == made
