"""From files to ManifestWorks: what is read, how plain manifests are wrapped, which feedback is asked."""
