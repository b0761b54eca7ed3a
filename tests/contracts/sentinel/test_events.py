"""The events of a Sentinel, byte by byte."""

import json
import re

from tests.support.sentinels import Watched

UUID7 = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TRACE_CONTEXT = r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]"


def structured(kind: str, data: dict[str, object]) -> str:
    """A pattern of the whole body."""
    return (
        rf'\{{"specversion":"1.0","id":"{UUID7}","source":"hyperfleet-sentinel",'
        rf'"type":"com.redhat.hyperfleet.{kind}.reconcile","datacontenttype":"application/json",'
        rf'"data":{re.escape(json.dumps(data, separators=(",", ":")))},"traceparent":"{TRACE_CONTEXT}"\}}'
    )


async def test_a_cluster(watched: Watched) -> None:
    cluster = await watched.create_cluster()

    [announced] = await watched.clusters.next_of(cluster)

    data = {"generation": 1, "href": cluster["href"], "id": cluster["id"], "kind": "Cluster"}
    assert re.fullmatch(structured("cluster", data), announced.body.decode())


async def test_a_node_pool_names_its_cluster(watched: Watched) -> None:
    cluster = await watched.create_cluster()
    nodepool = await watched.create_nodepool(cluster)

    [announced] = await watched.nodepools.next_of(nodepool)

    owner = {"href": cluster["href"], "id": cluster["id"], "kind": "Cluster"}
    data = {
        "generation": 1,
        "href": nodepool["href"],
        "id": nodepool["id"],
        "kind": "NodePool",
        "owner_references": owner,
    }
    assert re.fullmatch(structured("nodepool", data), announced.body.decode())
