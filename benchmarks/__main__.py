"""`make bench`: every measurement there is, one table after the other. Name some to run only those."""

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name[0] != "_")
    chosen = sys.argv[1:] or known
    unknown = [name for name in chosen if name not in known]
    if unknown:
        sys.exit(f"no measurement called {', '.join(unknown)}; there are {', '.join(known)}")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
