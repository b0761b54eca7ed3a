"""What the reports of all required adapters together say about a resource."""

import pytest

from shared import times
from tests.support.hyperfleet_api import MICROSECOND, Api, condition, condition_of, conditions


async def test_a_cluster_is_reconciled_when_every_required_adapter_is_available(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster, "controlplane")
    assert condition_of(await api.reread(cluster), "Reconciled")["status"] == "False"

    await api.accept(cluster, "dns")

    reconciled = condition_of(await api.reread(cluster), "Reconciled")
    assert (reconciled["status"], reconciled["reason"]) == ("True", "ReconciledAll")


async def test_reconciled_is_lost_when_one_adapter_becomes_unavailable(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)

    await api.accept(cluster, "dns", conditions=conditions("False"))

    assert condition_of(await api.reread(cluster), "Reconciled")["status"] == "False"


async def test_applied_and_health_never_count(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster, "dns")
    listed = [condition("Applied", "False"), condition("Available", "True"), condition("Health", "False")]

    await api.accept(cluster, conditions=listed)

    assert condition_of(await api.reread(cluster), "Reconciled")["status"] == "True"


async def test_reconciled_is_as_old_as_the_oldest_report_of_this_generation(api: Api) -> None:
    cluster = await api.create_cluster()
    slow = await api.accept(cluster, "dns", conditions=conditions("False"))
    await api.accept(cluster, "controlplane")
    await api.accept(cluster, "controlplane")

    reconciled = condition_of(await api.reread(cluster), "Reconciled")

    assert times.parse(reconciled["last_updated_time"]) == times.parse(slow["last_report_time"])


async def test_reports_of_an_older_generation_do_not_make_reconciled_younger(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)
    patched = await api.patch(cluster, spec={"a": 1})

    reconciled = condition_of(patched, "Reconciled")

    assert times.parse(reconciled["last_updated_time"]) == pytest.approx(
        times.parse(patched["updated_time"]), abs=MICROSECOND
    )


async def test_the_transition_moves_only_with_the_status(api: Api) -> None:
    cluster = await api.create_cluster()
    first = condition_of(await api.reconcile(cluster), "Reconciled")

    second = condition_of(await api.reconcile(cluster), "Reconciled")

    assert second["last_transition_time"] == first["last_transition_time"]
    assert times.parse(second["last_updated_time"]) > times.parse(first["last_updated_time"])
    assert second["created_time"] == first["created_time"]


async def test_each_required_adapter_that_reported_has_a_condition_of_its_own(api: Api) -> None:
    cluster = await api.create_cluster()
    listed = [condition("Available", "False", reason="Why", message="because"), *conditions()[::2]]

    stored = await api.accept(cluster, conditions=listed)

    found = condition_of(await api.reread(cluster), "ControlplaneSuccessful")
    assert (found["status"], found["reason"], found["message"]) == ("False", "Why", "because")
    assert found["observed_generation"] == 1
    assert times.parse(found["last_updated_time"]) == times.parse(stored["last_report_time"])
    kinds = {each["type"] for each in (await api.reread(cluster))["status"]["conditions"]}
    assert kinds == {"Reconciled", "LastKnownReconciled", "ControlplaneSuccessful"}


async def test_the_last_known_state_survives_a_new_generation_that_fails(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)
    await api.patch(cluster, spec={"a": 1})

    await api.accept(cluster, "dns", 2, conditions=conditions("False"))

    last_known = condition_of(await api.reread(cluster), "LastKnownReconciled")
    assert (last_known["status"], last_known["observed_generation"]) == ("True", 1)


async def test_the_last_known_state_moves_on_when_all_have_reached_the_new_generation(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)
    await api.patch(cluster, spec={"a": 1})
    await api.accept(cluster, "dns", 2)
    assert condition_of(await api.reread(cluster), "LastKnownReconciled")["observed_generation"] == 1

    await api.accept(cluster, "controlplane", 2)

    last_known = condition_of(await api.reread(cluster), "LastKnownReconciled")
    assert (last_known["status"], last_known["observed_generation"]) == ("True", 2)


async def test_a_failure_at_the_known_generation_ends_the_last_known_state(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.reconcile(cluster)

    await api.accept(cluster, "dns", conditions=conditions("False"))

    last_known = condition_of(await api.reread(cluster), "LastKnownReconciled")
    assert (last_known["status"], last_known["reason"]) == ("False", "AdapterReportedNotAvailable")


async def test_adapters_that_never_met_at_a_generation_have_no_last_known_state(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster, "dns", 1)
    await api.patch(cluster, spec={"a": 1})

    await api.accept(cluster, "controlplane", 2)

    last_known = condition_of(await api.reread(cluster), "LastKnownReconciled")
    assert (last_known["status"], last_known["reason"]) == ("False", "AdaptersNotAtSameGeneration")
