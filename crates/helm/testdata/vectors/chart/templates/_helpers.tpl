{{ define "helper" }}H-{{ .Release.Name }}{{ end -}}
{{ define "show" }}<{{ . }}>{{ end -}}
{{ define "broken" }}{{ fail "no" }}{{ end -}}
{{ define "wrong" }}{{ add1 }}{{ end -}}
