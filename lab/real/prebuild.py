"""Builds every real server and our images before a test asks for one, so that a gate can run other tests meanwhile.

What is built already costs nothing; a test that needs a server that is being built waits for it. It and all that it
imports use Python's own library alone, so that builds start before the other packages are installed.
"""

import sys

from lab.real.artifacts import helm, images, kubernetes
from lab.real.artifacts.go_binaries import CannotBuild, built
from lab.real.cluster.node import images as node_images
from lab.real.servers import hyperfleet_api, maestro

# Module and package of the smaller ones.
_OTHERS = (
    ("maestro", maestro.PACKAGE),
    ("pstest", "hyperfleet.io/lab/pstest"),
    ("broker-wire", "hyperfleet.io/lab/broker-wire"),
    ("helm", helm.PACKAGE),
)


def main() -> int:
    """In the order in which the tests need them; a machine that cannot build says so and is not stopped by it."""
    try:
        for module, package in _OTHERS:
            built(module, package)
        hyperfleet_api.hyperfleet_api_binary()
        kubernetes.build()
        for dockerfile, name, target in node_images.SOURCES:
            images.built(dockerfile, name, target=target)
    except (CannotBuild, images.CannotContain) as error:
        print(f"not built: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
