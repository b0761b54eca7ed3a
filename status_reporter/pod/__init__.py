"""The reporter's own pod: following it, and the state of the adapter's container in it."""
