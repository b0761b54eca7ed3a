"""The sidecar that puts an adapter's report on its Job, whatever happens to the adapter, the API server or itself.

    __main__ ─▶ settings ─▶ reporting (the loop)
                              ├─ report_file  reads the report; inotify with polling as the fall-back
                              ├─ podwatch     follows the pod
                              ├─ container    the state of the adapter's container (pure)
                              ├─ known_report the last valid report of this attempt (pure)
                              ├─ pacing       when to write, to wake and to stop (pure)
                              ├─ shutdown     how long to wait for a last report after SIGTERM (pure)
                              ├─ verdict      the conditions that follow from all this (pure)
                              ├─ patching     the body of the PATCH (pure)
                              ├─ job_status   the Job that is patched, and its present conditions
                              └─ kube         the requests to the API server

Standard library only: it starts with every Job, and the image holds nothing else.
"""
