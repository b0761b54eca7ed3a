"""What is known to be wrong before anything runs, though each part by itself could be right.

    check_task        names, order of definition, unused captures, manifests and their discovery, clear-text secrets
    check_settings    the adapter config and the broker config: what is ignored, and what cannot work
    check_transports  both together: whether each resource has somewhere to go

Each check is a module; a new one is a line in `passes`.
"""

from dispatcher.config.checking.passes import check_task
from dispatcher.config.checking.settings import check_settings
from dispatcher.config.checking.transports import check_transports

__all__ = ["check_settings", "check_task", "check_transports"]
