"""What is built or fetched once per machine: binaries of Go modules, CRDs, container images, Helm."""
