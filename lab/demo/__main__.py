"""The chapters, one after the other."""

import asyncio
import sys

from lab.demo import delivery, lifecycle
from lab.demo.story import Story


async def main() -> None:
    story = Story()
    await delivery.tell(story)
    await lifecycle.tell(story)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
