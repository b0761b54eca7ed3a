"""The node: containerd, the kubelet, and the images that its pods run."""
