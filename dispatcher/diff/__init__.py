"""A task config against live systems: the engine over ports that read everything and write nothing.

`ports` puts them together: calls of the HyperFleet API that would change something are recorded (`unsent_calls`),
Kubernetes does dry runs (`dry_run_client`), and for Maestro the work is compared here (`unsent_works`). `preview` keeps
what a run would have written, so that the rest of the run sees it. `object_diff` is the run of one object, `fleet` of
all.
"""
