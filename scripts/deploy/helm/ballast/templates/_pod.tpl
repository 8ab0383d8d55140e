{{/* The template of a pod, of the StatefulSet and of the Deployment. */}}
{{- define "ballast.pod" -}}
{{- $hasDatabase := include "ballast.hasDatabase" . }}
{{- /* A URL from a Secret has its password. */}}
{{- $passwordKey := .Values.database.url | empty | ternary "" .Values.database.passwordKey }}
{{- $hasFiles := and $hasDatabase .Values.database.existingSecret (or $passwordKey .Values.database.caKey) -}}
metadata:
  labels:
    {{- include "ballast.selectorLabels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "ballast.serviceAccountName" . }}
  automountServiceAccountToken: false
  # The variables of a Service named "ballast" would be taken for settings.
  enableServiceLinks: false
  # A shutdown takes at most 13 s, after the wait of a pod that is one of several.
  terminationGracePeriodSeconds: 25
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: ballast
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: metrics, containerPort: 8081 }
      env:
        - { name: BALLAST_ADMIN_PORT, value: "8081" }
        - { name: BALLAST_ADMIN_HOST, value: 0.0.0.0 }
        {{- with include "ballast.publicUrl" . }}
        - { name: BALLAST_PUBLIC_URL, value: {{ quote . }} }
        {{- end }}
        {{- with .Values.trustedProxies }}
        - { name: BALLAST_TRUSTED_PROXIES, value: {{ quote . }} }
        {{- end }}
        {{- with .Values.bootstrapToken }}
        {{- if .existingSecret }}
        - { name: BALLAST_BOOTSTRAP_TOKEN, valueFrom: { secretKeyRef: { name: {{ quote .existingSecret }}, key: {{ quote .key }} } } }
        {{- end }}
        {{- end }}
        {{- if $hasDatabase }}
        {{- with .Values.database }}
        {{- if .url }}
        - { name: BALLAST_DATABASE_URL, value: {{ quote .url }} }
        {{- else }}
        - { name: BALLAST_DATABASE_URL, valueFrom: { secretKeyRef: { name: {{ quote .existingSecret }}, key: {{ quote .urlKey }} } } }
        {{- end }}
        {{- if and .existingSecret $passwordKey }}
        - { name: BALLAST_DATABASE_PASSWORD_FILE, value: /secrets/password }
        {{- end }}
        {{- if and .existingSecret .caKey }}
        - { name: BALLAST_DATABASE_CA, value: /secrets/ca.pem }
        {{- end }}
        {{- end }}
        {{- end }}
        {{- if .Values.snapshots.enabled }}
        - { name: BALLAST_SNAPSHOT_EVERY, value: {{ quote .Values.snapshots.every }} }
        - { name: BALLAST_SNAPSHOT_DIR, value: /snapshots }
        - { name: BALLAST_SNAPSHOT_KEEP, value: {{ quote .Values.snapshots.keep }} }
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      # A store that was cut off is read as a whole before it is served or refused.
      startupProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3600 }
      readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 2 }
      livenessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }
      {{- if $hasDatabase }}
      # Until no proxy sends new connections here. The other pods take them.
      lifecycle: { preStop: { sleep: { seconds: 5 } } }
      {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      {{- if $hasFiles }}
      volumeMounts:
        - { name: secrets, mountPath: /secrets, readOnly: true }
      {{- else if not $hasDatabase }}
      volumeMounts:
        - { name: data, mountPath: /data }
        {{- if .Values.snapshots.enabled }}
        - { name: snapshots, mountPath: /snapshots }
        {{- end }}
      {{- end }}
  {{- if $hasFiles }}
  volumes:
    - name: secrets
      secret:
        secretName: {{ quote .Values.database.existingSecret }}
        items:
          {{- with $passwordKey }}
          - { key: {{ quote . }}, path: password }
          {{- end }}
          {{- with .Values.database.caKey }}
          - { key: {{ quote . }}, path: ca.pem }
          {{- end }}
  {{- else if and (not $hasDatabase) (or .Values.persistence.existingClaim .Values.snapshots.existingClaim) }}
  volumes:
    {{- with .Values.persistence.existingClaim }}
    - { name: data, persistentVolumeClaim: { claimName: {{ quote . }} } }
    {{- end }}
    {{- with .Values.snapshots }}
    {{- if and .enabled .existingClaim }}
    - { name: snapshots, persistentVolumeClaim: { claimName: {{ quote .existingClaim }} } }
    {{- end }}
    {{- end }}
  {{- end }}
  {{- if $hasDatabase }}
  topologySpreadConstraints:
    {{- range $key, $unsatisfiable := dict "kubernetes.io/hostname" "DoNotSchedule" "topology.kubernetes.io/zone" "ScheduleAnyway" }}
    - topologyKey: {{ $key }}
      maxSkew: 1
      whenUnsatisfiable: {{ $unsatisfiable }}
      matchLabelKeys: [pod-template-hash]
      labelSelector:
        matchLabels:
          {{- include "ballast.selectorLabels" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The address in links; empty: the Host header. */}}
{{- define "ballast.publicUrl" -}}
{{- $ingress := .Values.ingress }}
{{- if .Values.publicUrl }}
{{- .Values.publicUrl }}
{{- else if $ingress.enabled }}
{{- ternary "https" "http" (not (empty $ingress.tlsSecret)) }}://{{ $ingress.host }}
{{- end }}
{{- end }}
