{{- define "shapes.name" -}}
{{ .Release.Name }}-{{ .Chart.Name }}
{{- end }}
