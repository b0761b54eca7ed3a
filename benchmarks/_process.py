"""What another process has used so far."""

import time
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """From the kernel's CPU clock of the process, in nanoseconds: /proc counts in steps of 10 ms."""
    return time.clock_gettime(~pid << 3 | 2)  # clock_getcpuclockid(3), which Python lacks


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024
