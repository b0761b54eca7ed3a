{{- define "bridge.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Cluster-wide objects of two releases must not collide. */}}
{{- define "bridge.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "bridge.name" .) -}}
{{- end -}}

{{- define "bridge.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bridge.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "bridge.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "bridge.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "bridge.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is required where serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "bridge.image" -}}
{{- $name := required "image.repository is required: the operator's image, such as hyperfleet/dpu-hcp-bridge" .Values.image.repository -}}
{{- if .Values.image.registry }}{{- $name = printf "%s/%s" .Values.image.registry $name }}{{- end -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- if hasPrefix "sha256:" $tag }}{{- printf "%s@%s" $name $tag -}}{{- else }}{{- printf "%s:%s" $name $tag -}}{{- end -}}
{{- end -}}

{{/* What the operator reads and writes for a bridge, apart from Secrets and ConfigMaps. */}}
{{- define "bridge.objectRules" -}}
- apiGroups: [provisioning.dpu.hcp.io]
  resources: [dpuhcpbridges]
  verbs: [get, list, watch, patch]
- apiGroups: [provisioning.dpu.hcp.io]
  resources: [dpuhcpbridges/status]
  verbs: [patch]
- apiGroups: [hypershift.openshift.io]
  resources: [hostedclusters, nodepools]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [provisioning.dpu.nvidia.com]
  resources: [dpuclusters]
  verbs: [get, list, watch, patch]
- apiGroups: [provisioning.dpu.nvidia.com]
  resources: [dpus]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end -}}

{{- define "bridge.secretRules" -}}
- apiGroups: [""]
  resources: [secrets, configmaps]
  verbs: [get, list, watch, create, patch, delete]
{{- end -}}

{{- define "bridge.metallbRules" -}}
- apiGroups: [metallb.io]
  resources: [ipaddresspools, l2advertisements]
  verbs: [get, list, watch, create, patch, delete]
{{- end -}}

{{/* kopf watches all kinds in all of its namespaces. Of ConfigMaps it asks for the one of images only. */}}
{{- define "bridge.readRules" -}}
- apiGroups: [provisioning.dpu.hcp.io]
  resources: [dpuhcpbridges]
  verbs: [list, watch]
- apiGroups: [hypershift.openshift.io]
  resources: [hostedclusters, nodepools]
  verbs: [list, watch]
- apiGroups: [provisioning.dpu.nvidia.com]
  resources: [dpuclusters, dpus]
  verbs: [list, watch]
- apiGroups: [metallb.io]
  resources: [ipaddresspools, l2advertisements]
  verbs: [list, watch]
{{ include "bridge.imagesRules" . }}
{{- end -}}

{{- define "bridge.imagesRules" -}}
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [ocp-bluefield-images]
  verbs: [get, list, watch]
{{- end -}}

{{/* The certificate of the webhook. A Secret that is to be created has no name yet that a rule could name. */}}
{{- define "bridge.webhookRules" -}}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ include "bridge.name" . }}-webhook]
  verbs: [get, list, watch, update]
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end -}}

{{- define "bridge.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels: {{- include "bridge.labels" .root | nindent 4 }}
rules: {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels: {{- include "bridge.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "bridge.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}
