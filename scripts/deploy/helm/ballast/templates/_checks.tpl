{{/* What values must not say together. */}}
{{- define "ballast.check" -}}
{{- $hasDatabase := include "ballast.hasDatabase" . }}
{{- with .Values }}
{{- if and (gt (int .replicas) 1) (not $hasDatabase) }}
{{- fail (printf "replicas is %d, but only one pod can serve a volume: set database.url for more, or replicas to 1" (int .replicas)) }}
{{- end }}
{{- if and .database.urlKey (not .database.existingSecret) }}
{{- fail "database.urlKey is set without database.existingSecret: name the Secret that has the URL" }}
{{- end }}
{{- if and .database.url .database.urlKey }}
{{- fail "database.url and database.urlKey are both set: the URL is in one place, so leave one empty" }}
{{- end }}
{{- if regexMatch "^[a-z]+://[^/?]*:[^?]*@|[?&]password=" .database.url }}
{{- fail "database.url has a password: leave it out, and name a Secret that has it (database.existingSecret, database.passwordKey)" }}
{{- end }}
{{- if and .snapshots.enabled $hasDatabase }}
{{- fail "snapshots.enabled is set with a database: snapshots are of a volume; back up the database with its own tools" }}
{{- end }}
{{- if and .ingress.enabled (not .ingress.host) }}
{{- fail "ingress.enabled is set without ingress.host: name the host that reaches Ballast" }}
{{- end }}
{{- end }}
{{- end }}
