"""A task config that delivers a ManifestWork, and an adapter config with a Maestro to deliver it to."""

WORK = """\
params: [{name: id, source: event.id}]
resources:
  - name: work
    transport: {client: maestro, maestro: {target_cluster: mc1}}
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: "{{ .id }}", annotations: {hyperfleet.io/generation: "1"}}
      spec:
        workload:
          manifests:
            - apiVersion: v1
              kind: Namespace
              metadata: {name: "{{ .id }}", labels: {type: ns}, annotations: {hyperfleet.io/generation: "1"}}
            - apiVersion: v1
              kind: ConfigMap
              metadata: {name: "{{ .id }}-config", annotations: {hyperfleet.io/generation: "1"}}
    discovery: {by_name: "{{ .id }}"}
    nested_discoveries:
      - {name: byName, discovery: {by_name: "{{ .id }}-config"}}
      - {name: byLabel, discovery: {by_selectors: {label_selector: {type: ns}}}}
"""
MAESTRO = """\
adapter: {name: demo}
clients:
  maestro: {grpc_server_address: "m:8090", http_server_address: "http://m:8000", source_id: s, insecure: true}
"""
