"""The adapter config: how one deployment of an adapter reaches the systems around it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from dispatcher.config.models.blocks import Block
from dispatcher.config.models.fields import Filled, Flag, Number, Seconds, Text, Whole, mistake


def _positive_or(default: float) -> AfterValidator:
    """Nothing, and less than nothing, mean the default, as in Go."""
    return AfterValidator(lambda value: value if value > 0 else default)


Backoff = Literal["exponential", "linear", "constant"]


class AdapterInfo(Block):
    name: Filled = Field(description="the adapter's name, as the HyperFleet API knows it")
    version: Text = Field(default="", description="the adapter's own version, for templates, metrics and logs")


class LogConfig(Block):
    level: Text = Field(default="info", description="debug, info, warn or error; anything else is info")
    format: Literal["json", "text"] = Field(default="json", description="form of the log lines")
    output: Literal["stdout", "stderr"] = Field(default="stdout", description="where they go")


class ApiAuth(Block):
    token_path: Filled = Field(description="file of the bearer token; an absolute path")
    token_cache_ttl: Seconds = Field(default=0.0, description="how long the token is kept; 0 reads the file each time")

    @classmethod
    def rules(cls, members: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
        path = members.get("token_path")
        if isinstance(path, str) and path and not path.startswith("/"):
            yield mistake(f"{str(path)!r} must be an absolute path", key="token_path")
        if str(members.get("token_cache_ttl", "")).strip().startswith("-"):
            yield mistake("must not be negative", key="token_cache_ttl")


class HyperFleetApiConfig(Block):
    base_url: Text = Field(default="", description="URL of the HyperFleet API; needed to serve, not for a dry run")
    version: Text = Field(default="v1", description="completes relative URLs: /api/hyperfleet/VERSION/…")
    timeout: Annotated[Seconds, _positive_or(10.0)] = Field(
        default=10.0, description="of one attempt; a call's own timeout wins"
    )
    retry_attempts: Annotated[Whole, _positive_or(3)] = Field(
        default=3, description="attempts in all; less than 1 means 3"
    )
    retry_backoff: Backoff = Field(default="exponential", description="how the waits between attempts grow")
    base_delay: Annotated[Seconds, _positive_or(1.0)] = Field(default=1.0, description="the first wait")
    max_delay: Annotated[Seconds, _positive_or(30.0)] = Field(default=30.0, description="the longest wait")
    default_headers: dict[Text, Text] = Field(default_factory=dict, description="headers of every call")
    auth: ApiAuth | None = Field(default=None, description="the token that is sent to base_url, and nowhere else")


class BrokerClientConfig(Block):
    subscription_id: Text = Field(default="", description="this adapter's subscription; needed to serve")
    topic: Text = Field(default="", description="the topic that Sentinel publishes to; needed to serve")
    kinds: list[Text] = Field(
        default_factory=list, description="ours: kinds of events this adapter handles (Cluster, NodePool); all if empty"
    )


class KubernetesConfig(Block):
    api_version: Text = Field(default="", description="accepted and not used")
    kube_config_path: Text = Field(default="", description="kubeconfig; empty means the pod's own account")
    qps: Number = Field(default=0.0, description="calls per second; 0 means no limit of our own")
    burst: Whole = Field(default=0, description="calls at once above qps; 0 means no limit of our own")


class TlsConfig(Block):
    ca_file: Text = Field(default="", description="authority of the gRPC server, and of REST")
    cert_file: Text = Field(default="", description="certificate of this client (mTLS)")
    key_file: Text = Field(default="", description="its key")
    http_ca_file: Text = Field(default="", description="authority of REST, if it is another")


class MaestroAuth(Block):
    type: Text = Field(default="", description="accepted and not used: the files say which kind it is")
    tls_config: TlsConfig = Field(default_factory=TlsConfig, description="files for TLS")
    token_file: Text = Field(default="", description="ours: bearer token for gRPC")
    http_token_file: Text = Field(default="", description="ours: bearer token for REST")


class Keepalive(Block):
    time: Seconds | None = Field(default=None, description="how often the gRPC connection is tested; 30s")
    timeout: Seconds | None = Field(default=None, description="how long an answer may take; 10s")


class MaestroConfig(Block):
    grpc_server_address: Text = Field(default="", description="HOST:PORT of gRPC; needed for resources on Maestro")
    http_server_address: Text = Field(default="", description="URL of REST; needed for resources on Maestro")
    source_id: Text = Field(default="", description="part of every work's id: never change it; needed as well")
    client_id: Text = Field(default="", description="accepted and not used")
    timeout: Seconds = Field(default=10.0, description="of every call")
    server_healthiness_timeout: Seconds = Field(default=20.0, description="silence after which the stream is reopened")
    retry_attempts: Whole | None = Field(default=None, description="calls in all when an error is transient; 3")
    keepalive: Keepalive = Field(default_factory=Keepalive, description="tests of the gRPC connection")
    insecure: Flag = Field(default=False, description="gRPC without TLS, REST without verification")
    auth: MaestroAuth = Field(
        default_factory=MaestroAuth, description="how this client and the server prove themselves"
    )
    retry_budget: Seconds | None = Field(default=None, description="ours: time for all attempts together; 60s")
    relist_interval: Seconds | None = Field(default=None, description="ours: how often a watch lists anyway; 5m")
    owner_labels: dict[Text, Text] = Field(
        default_factory=dict, description="ours: labels put on all that is written, and asked of all that is changed"
    )


class ClientsConfig(Block):
    hyperfleet_api: HyperFleetApiConfig = Field(default_factory=HyperFleetApiConfig, description="the HyperFleet API")
    broker: BrokerClientConfig = Field(default_factory=BrokerClientConfig, description="what is subscribed to")
    kubernetes: KubernetesConfig = Field(default_factory=KubernetesConfig, description="the cluster of the resources")
    maestro: MaestroConfig | None = Field(default=None, description="Maestro, for resources that go there")


class AdapterConfig(Block):
    """The adapter config. Environment variables and flags win over it, as `config-dump` shows."""

    adapter: AdapterInfo = Field(description="who this adapter is")
    debug_config: Flag = Field(default=False, description="log the merged configuration and serve it at GET /config")
    log: LogConfig = Field(default_factory=LogConfig, description="log lines")
    clients: ClientsConfig = Field(default_factory=ClientsConfig, description="the systems around the adapter")
