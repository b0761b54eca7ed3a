"""The stored objects, the verbs that read and change them, watches, and garbage collection."""
