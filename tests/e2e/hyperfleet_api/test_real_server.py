"""The real server as our tests use it: what it kept is there after a crash."""

from lab.real.servers.hyperfleet_api import RealHyperFleetApi
from tests.support.hyperfleet_api import Api


async def test_a_crash_keeps_the_port_and_the_resources(real_hyperfleet_api: RealHyperFleetApi, api: Api) -> None:
    cluster = await api.reconcile(await api.create_cluster())

    real_hyperfleet_api.kill()
    real_hyperfleet_api.start()

    assert (await api.reread(cluster))["status"] == cluster["status"]
    assert (await api.statuses(cluster)).keys() == {"controlplane", "dns"}
