"""The running dispatcher: wakes, the queue of objects, watches, leadership, and the service that joins them."""
