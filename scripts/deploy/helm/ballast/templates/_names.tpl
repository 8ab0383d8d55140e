{{- define "ballast.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects: that of the release, with that of the chart if it is not part of it. The suffix of a pod must fit. */}}
{{- define "ballast.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- default $full .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "ballast.selectorLabels" -}}
app.kubernetes.io/name: {{ include "ballast.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ballast.labels" -}}
{{ include "ballast.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "ballast.serviceAccountName" -}}
{{- default (.Values.serviceAccount.create | ternary (include "ballast.fullname" .) "default") .Values.serviceAccount.name }}
{{- end }}

{{/* Not empty: the store is in a database. */}}
{{- define "ballast.hasDatabase" -}}
{{- with .Values.database }}{{ if or .url (and .existingSecret .urlKey) }}true{{ end }}{{ end }}
{{- end }}
