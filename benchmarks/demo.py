"""`make demo` after installation, as a newcomer runs it: how long the whole of it takes, and each of its steps.

The aim is a minute on a machine with nothing else to do. The CPU of all its processes is printed beside the time:
where others use the machine, the time stretches and the CPU hardly does.
"""

import os
import re
import resource
import subprocess
import sys
import time

AIM_SECONDS = 60
_STEP = re.compile(r"^  (?P<step>\S.*?) +(?P<seconds>[\d.]+) s$", re.MULTILINE)


def main() -> None:
    print("\nThe demonstration\n")
    before = _cpu_of_children()
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "lab.demo"], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"the demonstration failed:\n{done.stdout}{done.stderr}")
    print("| step | seconds |\n|---|---|")
    for step in _STEP.finditer(done.stdout.partition("what happened:")[2]):
        print(f"| {step['step']} | {step['seconds']} |")
    load = os.getloadavg()[0]
    print(f"\n{seconds:.0f} s, {_cpu_of_children() - before:.0f} s of CPU, load {load:.1f} on {os.cpu_count()} CPUs")
    print(f"{'within' if seconds <= AIM_SECONDS else 'OVER'} the aim of {AIM_SECONDS} s")


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
