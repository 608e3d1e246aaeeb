{{ define "sub" }}{{ .Chart.Name }}{{ end -}}
