"""A real RabbitMQ."""

from tests.support.servers import real_rabbitmq

__all__ = ["real_rabbitmq"]
