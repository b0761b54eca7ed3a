"""What every connection needs: TLS, credential files, proxies, the sockets of a session, and the cause of a failure."""
