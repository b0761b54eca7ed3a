"""Lines out of chunks. A watch sends one event per line, and an event is as long as its object."""


class Lines:
    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes; empty ones are left out."""
        *ended, rest = chunk.split(b"\n")
        if ended:
            ended[0] = b"".join([*self._begun, ended[0]])
            self._begun.clear()
        if rest:
            self._begun.append(rest)
        return [line for line in ended if line.strip()]
