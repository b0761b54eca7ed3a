"""The real servers on loopback, built with Go and installed from Debian: the stand-ins must behave as they do."""
