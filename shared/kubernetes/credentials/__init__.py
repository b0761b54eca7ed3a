"""Where the API server is and who we are there, from a service account or a kubeconfig, renewed as they change."""
