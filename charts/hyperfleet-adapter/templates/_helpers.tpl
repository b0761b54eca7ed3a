{{- define "adapter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "adapter.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "adapter.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "adapter.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "adapter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "adapter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "adapter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "adapter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: adapter
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "adapter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "adapter.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "adapter.image" -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is required: the dispatcher's image, such as hyperfleet/hyperfleet-adapter" -}}
{{- end -}}
{{- $name := .Values.image.repository -}}
{{- if .Values.image.registry }}{{- $name = printf "%s/%s" .Values.image.registry .Values.image.repository }}{{- end -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- if hasPrefix "sha256:" $tag }}{{- printf "%s@%s" $name $tag -}}{{- else }}{{- printf "%s:%s" $name $tag -}}{{- end -}}
{{- end -}}

{{/* A file's content that was given as a text or as a map. */}}
{{- define "adapter.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toYaml . }}{{ end }}
{{- end -}}

{{/* A probe; nothing where `enabled`, the Go chart's switch, is false. */}}
{{- define "adapter.probe" -}}
{{- if and . (ne (toString (get . "enabled")) "false") }}{{ toYaml (omit . "enabled") }}{{ end }}
{{- end -}}

{{- define "adapter.configMapName" -}}
{{- if .Values.adapterConfig.create }}{{ include "adapter.fullname" . }}-config{{ else }}{{ required "adapterConfig.configMapName is required where adapterConfig.create is false" .Values.adapterConfig.configMapName }}{{ end }}
{{- end -}}

{{- define "adapter.taskConfigMapName" -}}
{{- if .Values.adapterTaskConfig.create }}{{ include "adapter.fullname" . }}-task{{ else }}{{ required "adapterTaskConfig.configMapName is required where adapterTaskConfig.create is false" .Values.adapterTaskConfig.configMapName }}{{ end }}
{{- end -}}

{{- define "adapter.brokerConfigMapName" -}}
{{- if .Values.broker.create }}{{ include "adapter.fullname" . }}-broker{{ else }}{{ required "broker.configMapName is required where broker.create is false" .Values.broker.configMapName }}{{ end }}
{{- end -}}

{{/* broker.yaml, from the whole text or from the values. The RabbitMQ URL is not in it where a Secret holds it. */}}
{{- define "adapter.brokerYaml" -}}
{{- $broker := .Values.broker -}}
{{- if $broker.yaml -}}
{{ include "adapter.text" $broker.yaml }}
{{- else -}}
{{- $type := required "broker.type is required: rabbitmq, googlepubsub or embedded" $broker.type -}}
subscriber:
  parallelism: {{ int $broker.parallelism }}
broker:
  type: {{ $type }}
  {{- if eq $type "rabbitmq" }}
  rabbitmq:
    {{- if $broker.rabbitmq.urlSecret.name }}
    url: ""
    {{- else }}
    url: {{ required "broker.rabbitmq.urlSecret.name or broker.rabbitmq.url is required" $broker.rabbitmq.url | quote }}
    {{- end }}
    exchange_type: {{ $broker.rabbitmq.exchangeType }}
    {{- with $broker.rabbitmq.exchange }}
    exchange: {{ . | quote }}
    {{- end }}
    {{- with $broker.rabbitmq.queue }}
    queue: {{ . | quote }}
    {{- end }}
  {{- else if eq $type "googlepubsub" }}
  googlepubsub:
    project_id: {{ required "broker.googlepubsub.projectId is required" $broker.googlepubsub.projectId | quote }}
    create_topic_if_missing: {{ $broker.googlepubsub.createTopicIfMissing }}
    create_subscription_if_missing: {{ $broker.googlepubsub.createSubscriptionIfMissing }}
    {{- with $broker.googlepubsub.maxOutstandingMessages }}
    max_outstanding_messages: {{ int . }}
    {{- end }}
  {{- else }}
  embedded:
    address: {{ required "broker.embedded.address is required" $broker.embedded.address | quote }}
  {{- end }}
{{- end -}}
{{- end -}}
