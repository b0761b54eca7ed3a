"""The real servers, which the contract tests use with `--servers=real`."""

from tests.support.servers import (
    pki,
    real_hyperfleet_api,
    real_kubernetes,
    real_maestro,
    real_postgres,
    real_pubsub,
    real_rabbitmq,
)

__all__ = [
    "pki",
    "real_hyperfleet_api",
    "real_kubernetes",
    "real_maestro",
    "real_postgres",
    "real_pubsub",
    "real_rabbitmq",
]
