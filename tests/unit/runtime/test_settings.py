"""How the runtime is operated."""

import pytest

from dispatcher.runtime.settings import RuntimeSettings, read_settings
from shared.errors import Misconfigured


def test_without_variables_everything_has_its_default() -> None:
    assert read_settings({}) == RuntimeSettings(
        host="0.0.0.0",
        health_port=8080,
        metrics_port=9090,
        show_objects=False,
        run_deadline=300,
        shutdown_grace=25,
        broker_give_up_after=3600,
        status_silence=180,
        leader_election=True,
        lease_namespace="",
        identity="",
    )


def test_every_variable_is_read() -> None:
    settings = read_settings(
        {
            "HYPERFLEET_LISTEN_HOST": "127.0.0.1",
            "HYPERFLEET_HEALTH_PORT": "0",
            "HYPERFLEET_METRICS_PORT": "9191",
            "HYPERFLEET_OBJECTS_ENABLED": "true",
            "HYPERFLEET_RUN_DEADLINE": "90s",
            "HYPERFLEET_SHUTDOWN_GRACE": "1m",
            "HYPERFLEET_BROKER_GIVE_UP_AFTER": "10m",
            "HYPERFLEET_STATUS_SILENCE": "0",
            "HYPERFLEET_LEADER_ELECTION": "false",
            "HYPERFLEET_LEASE_NAMESPACE": "adapters",
            "POD_NAME": "dns-0",
        }
    )
    assert settings == RuntimeSettings(
        host="127.0.0.1",
        health_port=0,
        metrics_port=9191,
        show_objects=True,
        run_deadline=90,
        shutdown_grace=60,
        broker_give_up_after=600,
        status_silence=0,
        leader_election=False,
        lease_namespace="adapters",
        identity="dns-0",
    )


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(Misconfigured) as refused:
        read_settings(
            {
                "HYPERFLEET_HEALTH_PORT": "http",
                "HYPERFLEET_METRICS_PORT": "70000",
                "HYPERFLEET_OBJECTS_ENABLED": "perhaps",
                "HYPERFLEET_RUN_DEADLINE": "0",
                "HYPERFLEET_SHUTDOWN_GRACE": "soon",
            }
        )
    assert [problem.path for problem in refused.value.problems] == [
        "HYPERFLEET_HEALTH_PORT",
        "HYPERFLEET_METRICS_PORT",
        "HYPERFLEET_OBJECTS_ENABLED",
        "HYPERFLEET_RUN_DEADLINE",
        "HYPERFLEET_SHUTDOWN_GRACE",
    ]
