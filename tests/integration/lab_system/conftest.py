"""The lab's own fixtures, as an author uses them."""

from lab.fixtures import (
    lab_api,
    lab_broker,
    lab_hypershift,
    lab_jobs,
    lab_kubernetes,
    lab_maestro,
    lab_sentinel,
)

__all__ = ["lab_api", "lab_broker", "lab_hypershift", "lab_jobs", "lab_kubernetes", "lab_maestro", "lab_sentinel"]
