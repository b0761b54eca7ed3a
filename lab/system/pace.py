"""How fast time passes in the lab: production's intervals, or a demonstration's."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`job_ttl` is how long a finished Job stays; HyperShift is `hypershift_speed` times as fast as the real one.

    A milestone of a scenario is given up after `timeout`. That is generous, because a busy machine takes several times
    as long as a free one; at production's pace one may also have to wait for HyperShift or for a stale pulse.
    """

    poll: timedelta = timedelta(seconds=0.5)
    debounce: timedelta = timedelta(seconds=1)
    stale: timedelta = timedelta(seconds=10)
    job_ttl: int = 5
    hypershift_speed: float = 100.0
    timeout: timedelta = timedelta(minutes=5)

    @classmethod
    def production(cls) -> "Pace":
        return cls(
            poll=timedelta(seconds=5),
            debounce=timedelta(seconds=10),
            stale=timedelta(minutes=30),
            job_ttl=60,
            hypershift_speed=1.0,
            timeout=timedelta(hours=1),
        )
