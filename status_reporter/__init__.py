"""The sidecar that puts an adapter's report on its Job, whatever happens to the adapter."""
