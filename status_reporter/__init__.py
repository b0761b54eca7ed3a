"""The sidecar that puts an adapter's report on its Job, whatever happens to the adapter, the API server or itself.

    __main__ ─▶ settings ─▶ reporting (the loop)
                              ├─ sighting   the report file: inotify with polling as the fall-back
                              ├─ container  what the pod says of the adapter's container (pure)
                              ├─ stopping   how long to stay after being told to end (pure)
                              ├─ verdict    what to say of all this (pure)
                              ├─ patching   the one PATCH that says it (pure)
                              └─ kube       the three requests to the API server

Standard library only: it starts with every Job, and the image holds nothing else.
"""

__version__ = "0.1.0"
