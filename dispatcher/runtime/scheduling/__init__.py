"""Which object is reconciled when: wakes, pacing, and the queue that runs them."""
