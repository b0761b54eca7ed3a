"""Generated from `cloudevent.proto` by `make proto`; nothing here is written by hand but the .proto file."""
