"""The documents and CloudEvents of Maestro. `cloudevent_pb2*` is generated from `cloudevent.proto` by `make proto`."""
