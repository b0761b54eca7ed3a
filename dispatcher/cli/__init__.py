"""The command line of the adapter. `main` puts it together from the sub-commands in `commands`."""
