"""How the API is called, as the adapter config and the environment say."""

import pytest

from dispatcher.config.models.adapter import HyperFleetApiConfig
from dispatcher.runtime.live_ports import api_settings
from shared import __version__


@pytest.mark.parametrize(
    ("variable", "sent"),
    [(None, f"hyperfleet-adapter/{__version__}"), ("", f"hyperfleet-adapter/{__version__}"), ("dns/2", "dns/2")],
)
def test_the_user_agent_names_the_program_and_its_version_unless_the_environment_names_another(
    variable: str | None, sent: str
) -> None:
    environment = {} if variable is None else {"HYPERFLEET_USER_AGENT": variable}

    assert api_settings(HyperFleetApiConfig(base_url="http://api"), environment).user_agent == sent
