"""What differs between two ManifestWorks, and how one is brought to another without losing what others put there."""
