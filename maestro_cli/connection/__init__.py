"""Which Maestro a command speaks to, as whom: flags over the environment over a context of the config file."""
