package main

import (
	"fmt"
	"strings"
)

// Templates whose output or error text is worth comparing.
func templates() []string {
	list := strings.Split(strings.TrimSpace(plain), "\n")
	for i := range list {
		list[i] = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(list[i])
	}
	// Every builtin and test function against operands of every kind.
	operands := []string{
		".s", ".e", ".n", ".nope", ".t", ".i", ".i64", ".u", ".u8", ".fl", ".m", ".em", ".l", ".el", ".nl", ".ss", ".is", ".sm", ".bytes", ".dur", ".named",
		"nil", "true", `"lit"`, "7", "-1", "2.5", "1e3", "'a'", "1i", "(index .l 2)", "(any .n)", "nothing", "(nothing)", ".", "$", "300",
	}
	for _, f := range []string{
		"str", "num", "num64", "u8", "flt", "cplx", "boolean", "any", "mapf", "listf", "strsf", "durf", "vari", "varany", "fail", "not", "len", "html", "print", "printf", "println",
		"js", "urlquery", "and", "or", "call", "index", "slice", "eq",
	} {
		for _, o := range operands {
			list = append(list, fmt.Sprintf("{{ %s %s }}", f, o))
			list = append(list, fmt.Sprintf("{{ %s | %s }}", o, f))
		}
	}
	for _, f := range []string{"eq", "ne", "lt", "le", "gt", "ge", "index", "slice", "and", "or"} {
		for i, a := range operands {
			for j, b := range operands {
				if (i*7+j)%11 == 0 {
					list = append(list, fmt.Sprintf("{{ %s %s %s }}", f, a, b))
				}
			}
		}
	}
	for _, o := range operands {
		list = append(list,
			fmt.Sprintf("{{ %s }}", o),
			fmt.Sprintf("{{ if %s }}yes{{ else }}no{{ end }}", o),
			fmt.Sprintf("{{ with %s }}[{{ . }}]{{ else }}none{{ end }}", o),
			fmt.Sprintf("{{ range %s }}<{{ . }}>{{ else }}none{{ end }}", o),
			fmt.Sprintf("{{ range $k, $v := %s }}<{{ $k }}={{ $v }}>{{ end }}", o),
			fmt.Sprintf("{{ range $i, $v := %s }}{{ $v.x }}{{ end }}", o),
			fmt.Sprintf("{{ $x := %s }}{{ $x }}{{ $x.y }}", o),
			fmt.Sprintf("{{ with %s }}{{ .y }}{{ end }}", o),
			fmt.Sprintf("{{ (%s).y }}", o),
			fmt.Sprintf("{{ %s.y }}", o),
			fmt.Sprintf("{{ %s.y.z }}", o),
			fmt.Sprintf("{{ %s 1 }}", o),
			fmt.Sprintf("{{ 1 | %s }}", o),
			fmt.Sprintf("{{ template \"hi\" %s }}", o),
			fmt.Sprintf("{{ printf \"%%v %%T %%s %%d %%q\" %s %s %s %s %s }}", o, o, o, o, o),
		)
	}
	list = append(list, strings.Repeat("{{ if .t }}", 30)+"x"+strings.Repeat("{{ end }}", 30))
	list = append(list, "{{ "+strings.Repeat("(", 40)+".s"+strings.Repeat(")", 40)+" }}")
	return list
}

const plain = `
plain text
{{/* comment */}}a
a {{- /* comment */ -}} b
{{/* unclosed
{{/* x */ }}
{{ .s -}}   next
x  {{- .s }}
x \n\n {{- "a" -}} \n\t y
{{-3}}
{{- 3}}
{{3 -}}
{{3-}}
{{.s}}{{.i}}{{.fl}}{{.big}}{{.neg}}{{.t}}
{{ .m }} {{ .l }} {{ .ss }} {{ .sm }} {{ .bytes }} {{ .dur }}
{{ .n }}
{{ .nope }}
{{ .nope.x }}
{{ .n.x }}
{{ .m.n.x }}
{{ .m.m.x }}
{{ .m.m.nope }}
{{ .m.m.nope.y }}
{{ .m.b.c }}
{{ .s.x }}
{{ .l.x }}
{{ .sm.p }}{{ .sm.nope }}
{{ .sm.nope.x }}
{{ .named.y }}{{ .named.no }}
{{ .em.x }}{{ .em.x.y }}
{{ $.s }}{{ $ }}
{{ . }}
{{ $x := 1 }}{{ $x }}{{ $x = 2 }}{{ $x }}
{{ $x := .m }}{{ $x.a }}{{ $x.m.x }}
{{ $x := 1 }}{{ if .t }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}
{{ $x := 1 }}{{ if .t }}{{ $x = 2 }}{{ end }}{{ $x }}
{{ $x }}
{{ if .t }}{{ $y := 1 }}{{ end }}{{ $y }}
{{ $x = 1 }}
{{ $x := }}
{{ $x, $y := .l }}
{{ $x := 1 | num }}{{ $x }}
{{ ($x := 1) }}{{ $x }}
{{ with $x := .m.m }}{{ $x.x }}{{ .x }}{{ end }}
{{ with .e }}a{{ else with .s }}{{ . }}{{ else }}c{{ end }}
{{ with .e }}a{{ else with .n }}{{ . }}{{ else }}c{{ end }}
{{ with .e }}a{{ else if .t }}b{{ end }}
{{ if .f }}a{{ else if .t }}b{{ else }}c{{ end }}
{{ if .f }}a{{ else if .e }}b{{ else }}c{{ end }}
{{ if .f }}a{{ else if .e }}b{{ else if 0 }}d{{ else if "x" }}e{{ end }}
{{ if .f }}a{{ else with .t }}b{{ end }}
{{ if }}{{ end }}
{{ if .t }}
{{ if .t }}{{ else }}
{{ if .t }}{{ else }}{{ else }}{{ end }}
{{ end }}
{{ else }}
a\nb {{ end }}
{{ if .t }}\n{{ range .l }}\n{{ end }}
{{ range .l }}{{ . }},{{ end }}
{{ range $i, $e := .l }}{{ $i }}:{{ $e }},{{ end }}
{{ range $e := .ss }}{{ $e }}{{ end }}
{{ range $k, $v := .m }}{{ $k }}={{ $v }};{{ end }}
{{ range .m }}{{ . }};{{ end }}
{{ range .el }}x{{ else }}empty{{ end }}
{{ range 3 }}{{ . }}{{ end }}
{{ range $i := 3 }}{{ $i }}{{ end }}
{{ range $i, $j := 3 }}{{ $i }}{{ end }}
{{ range 0 }}x{{ else }}zero{{ end }}
{{ range -1 }}x{{ else }}neg{{ end }}
{{ range .u8 }}.{{ end }}
{{ range .u }}{{ printf "%T" . }}{{ end }}
{{ range "str" }}{{ . }}{{ end }}
{{ range 1.5 }}{{ end }}
{{ range .t }}{{ end }}
{{ range .l }}{{ break }}{{ end }}
{{ range $i, $e := .is }}{{ if eq $e 1 }}{{ continue }}{{ end }}{{ $e }}{{ end }}
{{ range $i, $e := .is }}{{ if eq $e 1 }}{{ break }}{{ end }}{{ $e }}{{ end }}
{{ range .is }}{{ range .x }}{{ end }}{{ end }}
{{ range .is }}{{ range $.el }}{{ else }}{{ break }}{{ end }}{{ . }}{{ end }}
{{ range .is }}{{ range $.el }}{{ else }}{{ continue }}{{ end }}{{ . }}{{ end }}
{{ range .is }}{{ with . }}{{ break }}{{ end }}{{ . }}{{ end }}
{{ break }}
{{ continue }}
{{ range .l }}{{ break 1 }}{{ end }}
{{ range .l }}{{ else }}{{ break }}{{ end }}
{{ range $i, := .l }}{{ end }}
{{ range $i, $j, $k := .l }}{{ end }}
{{ range $i, 1 := .l }}{{ end }}
{{ $i := 0 }}{{ range $i = .is }}{{ $i }}{{ end }}{{ $i }}
{{ $i := 0 }}{{ $e := 0 }}{{ range $i, $e = .is }}{{ end }}{{ $i }}{{ $e }}
{{ range $i, $e := .is }}{{ $i = 7 }}{{ $i }}{{ end }}
{{ range $x := .l }}{{ $x.k }}{{ end }}
{{ range .l }}{{ .k }}{{ end }}
{{ range $k, $v := .em }}x{{ else }}{{ .s }}{{ end }}
{{ range .l }}{{ $.s }}{{ end }}
{{ range . }}{{ end }}
{{ range nil }}{{ end }}
{{ template "hi" . }}
{{ template "hi" }}
{{ template "nope" . }}
{{ template "hi" . 1 }}
{{ template }}
{{ template x }}
{{ template 1 }}
{{ template "hi" .m | any }}
{{ template "hi" | any . }}
{{ block "blk" .m }}{{ .a }}{{ end }}
{{ block "hi" . }}overridden{{ end }}
{{ block "blk" }}{{ end }}
{{ block "blk" . }}{{ else }}{{ end }}
{{ block "blk" . }}
{{ define "d" }}D{{ .i }}{{ end }}{{ template "d" . }}
{{ define "d" }}D{{ end }}{{ define "d" }}E{{ end }}
{{ define "d" }}D{{ end }}{{ define "d" }} {{ end }}{{ template "d" }}
{{ define "d" }} {{ end }}{{ define "d" }}E{{ end }}{{ template "d" }}
{{ define "hi" }}new{{ end }}{{ template "hi" }}
{{ define "hi" }} {{ end }}{{ template "hi" . }}
{{ define "t.yaml" }}self{{ end }}
{{ define "t.yaml" }}self{{ end }}x
{{ define }}{{ end }}
{{ define "a" "b" }}{{ end }}
{{ define "a" }}{{ define "b" }}{{ end }}{{ end }}
{{ define "a" }}{{ else }}{{ end }}
{{ define "a" }}
{{ define "a" }}{{ end }}{{ end }}
{{ if .t }}{{ define "z" }}{{ end }}{{ end }}
{{ define a }}{{ end }}
{{ include "hi" . }}
{{ include "bad" . }}
{{ include "nest" . }}
{{ include "nest2" . }}
{{ template "nest2" . }}
{{ template "bad" . }}
a\n  {{ include "nope" . }}
{{ include "fails" . }}
{{ include "loop" . }}
{{ include "hi" . | str | printf "%q" }}
{{ include .i . }}
{{ include "hi" }}
{{ .s | str }}
{{ str .s | str | len }}
{{ .s | printf "%s-%s" "a" }}
{{ printf "%d" .i }}
{{ printf "%d" .fl }}
{{ printf "%s" .i }}
{{ printf .i }}
{{ printf }}
{{ print }}
{{ print 1 2 "a" "b" 3 nil }}
{{ println 1 "a" nil }}
{{ printf "%v %v" 1 }}
{{ printf "%v" 1 2 }}
{{ printf "%v" nil }}
{{ printf "%5.2f|%-5s|%05d|%x|%q|%t|%c|%U" 3.14159 "ab" 42 255 "q" true 'x' 9786 }}
{{ printf "%v %v %v" .nope .n nil }}
{{ printf "%s" .bad }}{{ .bad }}
{{ html .html }}
{{ js .html }}
{{ urlquery .html " +&=~-_." }}
{{ html "a" 1 "<" nil }}
{{ js .uni }}{{ js "\u2028\u200b" }}
{{ html .m }}
{{ len .s }}{{ len .l }}{{ len .m }}{{ len .e }}{{ len .uni }}
{{ len 3 }}
{{ len nil }}
{{ len .n }}
{{ len .nope }}
{{ len }}
{{ len .s .s }}
{{ index .l 0 }}{{ index .m "a" }}{{ index .m "m" "x" }}
{{ index .l 5 }}
{{ index .l 6 }}
{{ index .l -1 }}
{{ index .l 10 }}
{{ index .l "a" }}
{{ index .l nil }}
{{ index .l 1.0 }}
{{ index .l .u8 }}
{{ index .l 4 "k" }}
{{ index .m "nope" }}
{{ index .m "nope" "x" }}
{{ index .m "b" "x" }}
{{ index .m 1 }}
{{ index .m nil }}
{{ index .m .n }}
{{ index .sm "p" }}{{ index .sm "x" }}
{{ index .s 0 }}
{{ index .s 5 }}
{{ index .s 9 }}
{{ index .i 0 }}
{{ index nil 0 }}
{{ index .n }}
{{ index .n 1 }}
{{ index }}
{{ index .l }}
{{ index .ss 1 }}{{ index .is 2 }}{{ index .bytes 0 }}
{{ index .l 2 }}
{{ index .l 2 "x" }}
{{ (index .l 4).k }}
{{ (index .m "m").x }}
{{ (index .l 2).k }}
{{ (index .m "nope").k }}
{{ slice .s 1 }}{{ slice .s 1 3 }}{{ slice .s }}
{{ slice .s 3 1 }}
{{ slice .s 1 2 3 }}
{{ slice .s 0 9 }}
{{ slice .ss 1 2 }}{{ slice .is 0 2 3 }}
{{ slice .ss 1 2 3 4 }}
{{ slice .m 1 }}
{{ slice nil }}
{{ slice .n }}
{{ slice .s "a" }}
{{ slice .is 0 3 2 }}
{{ slice .bytes 1 }}
{{ and .s .i }}{{ and .e .i }}{{ and .s .e .i }}{{ and 1 }}
{{ or .s .i }}{{ or .e .i }}{{ or .e .n .f }}{{ or 0 }}
{{ and }}
{{ or }}
{{ and .f (fail "not evaluated") }}
{{ or .t (fail "not evaluated") }}
{{ or .f (fail "evaluated") }}
{{ 1 | and 0 }}{{ 1 | or 0 }}{{ 0 | and 1 }}
{{ .nope | or .e }}{{ .n | and .s }}
{{ and .nope.x 1 }}
{{ or .n "d" }}{{ or .nope "d" }}
{{ not .t }}{{ not .e }}{{ not .n }}{{ not nil }}
{{ not }}
{{ not 1 2 }}
{{ eq 1 1 }}{{ eq 1 2 }}{{ eq 1 2 1 }}{{ eq "a" "a" }}
{{ eq 1 1.0 }}
{{ eq 1 "1" }}
{{ eq 1 }}
{{ eq }}
{{ eq .n nil }}{{ eq nil nil }}{{ eq .nope nil }}{{ eq .s nil }}{{ eq .m nil }}{{ eq .nl nil }}
{{ eq .m .m }}
{{ eq .l .l }}
{{ eq .m .l }}
{{ eq .l .m }}
{{ eq .l 1 }}
{{ eq .nl .el }}
{{ eq .i64 -7 }}{{ eq .u 9 }}{{ eq .u8 200 }}{{ lt .u8 .i }}{{ lt .neg .u }}{{ eq .neg .u }}
{{ eq 1i 1i }}{{ eq true true }}{{ lt "a" "b" }}
{{ lt true false }}
{{ lt 1i 2i }}
{{ lt .m 1 }}
{{ lt nil 1 }}
{{ lt 1 "a" }}
{{ lt 1 }}
{{ le 1 1 }}{{ ge 2 1 }}{{ gt 1 2 }}{{ ne 1 2 }}{{ le 1.5 1.5 }}
{{ ne 1 "a" }}
{{ gt 1 nil }}
{{ .dur }}{{ eq .dur .dur }}{{ durf .dur }}{{ durf 5 }}
{{ call .s }}
{{ call nil }}
{{ call .n }}
{{ call }}
{{ .s | call }}
{{ .i | call }}
{{ .n | call }}
{{ call .i 1 }}
{{ nofunc }}
{{ .s | nofunc }}
{{ nofunc .s }}
{{ str }}
{{ str 1 }}
{{ str .i }}
{{ str nil }}
{{ str .n }}
{{ str .nope }}
{{ str .s .s }}
{{ .s | str .s }}
{{ .n | str }}
{{ .nope | str }}
{{ .i | str }}
{{ num "a" }}
{{ num .s }}
{{ num 1.5 }}
{{ num 1e3 }}
{{ num .i64 }}
{{ num .fl }}
{{ num64 .i }}
{{ num64 5 }}
{{ num 'a' }}
{{ num 9223372036854775807 }}
{{ num 9223372036854775808 }}
{{ u8 300 }}
{{ u8 -1 }}
{{ flt 3 }}{{ flt 1e3 }}{{ flt 0x10 }}{{ flt .fl }}
{{ flt "a" }}
{{ flt .i }}
{{ cplx 1i }}{{ cplx 1+2i }}
{{ cplx 1 }}
{{ boolean true }}{{ boolean .f }}
{{ boolean 1 }}
{{ boolean .s }}
{{ mapf .m }}{{ mapf .named }}{{ mapf nil }}
{{ mapf .n }}
{{ mapf .nope }}
{{ .nope | mapf }}
{{ mapf .sm }}
{{ mapf "x" }}
{{ mapf .l }}
{{ listf .l }}{{ listf nil }}{{ listf .nl }}
{{ listf .ss }}
{{ strsf .ss }}
{{ strsf .l }}
{{ vari "a" }}{{ vari "a" 1 2 }}{{ 3 | vari "a" 1 }}{{ "x" | vari }}
{{ vari }}
{{ vari "a" "b" }}
{{ vari "a" .s }}
{{ vari "a" .fl }}
{{ "b" | vari "a" }}
{{ varany }}{{ varany 1 nil "a" }}{{ nil | varany }}
{{ two "a" 1 }}{{ 1 | two "a" }}
{{ two 1 | "a" }}
{{ two "a" }}
{{ two "a" 1 2 }}
{{ two (str "x") (num 1) }}
{{ fail "boom" }}
{{ fail .s | str }}
a\nb\n  {{ if .t }}{{ fail "at" }}{{ end }}
{{ mk.a.b }}{{ (mk).a.b }}
{{ mk.a.x.y }}
{{ mk.z.y }}
{{ nothing.x }}
{{ (nothing).x }}
{{ str nothing }}
{{ str (nothing) }}
{{ any nothing }}{{ nothing }}
{{ range mkl }}{{ . }}{{ end }}
{{ any.x }}
{{ (any .m).a }}{{ (any .m).b.c }}
{{ (.m).m.x }}{{ (.m.m).x }}
{{ .m.m.x.y }}
{{ (.s) 1 }}
{{ (.s | str) }}
{{ (1 2) }}
{{ .s .i }}
{{ .m.a 1 }}
{{ 1 | .m.a }}
{{ 1 .s }}
{{ "a" "b" }}
{{ true 1 }}
{{ nil }}
{{ nil | any }}
{{ nil 1 }}
{{ nil.x }}
{{ (nil).x }}
{{ . 1 }}
{{ .. }}
{{ . .s }}
{{ .s.}}
{{ .s .}}
{{ .1 }}{{ 1. }}{{ .5e1 }}
{{ 0x1F }}{{ 0b101 }}{{ 0o17 }}{{ 017 }}{{ 1_000 }}{{ 0x_1F }}
{{ 089 }}
{{ 1__0 }}
{{ 1_ }}
{{ 0x }}
{{ 0x1p4 }}{{ 0x1.8p1 }}
{{ 1e400 }}
{{ 1e5 }}{{ 1E-2 }}{{ 1.0 }}{{ 100000000.0 }}{{ 123456789.0 }}{{ 1e20 }}{{ 1e21 }}{{ 1e22 }}
{{ 18446744073709551615 }}
{{ 18446744073709551616 }}
{{ -9223372036854775808 }}
{{ +5 }}{{ -0 }}{{ -0.0 }}
{{ 1i }}{{ 1+2i }}{{ -1-2.5i }}{{ 0i }}
{{ 1+2 }}
{{ 1+2ii }}
{{ 1a }}
{{ 0xg }}
{{ 3x }}
{{ 'a' }}{{ '\n' }}{{ '\'' }}{{ '\x41' }}{{ '\u00e9' }}{{ 'é' }}
{{ 'ab' }}
{{ '' }}
{{ 'a }}
{{ '\q' }}
{{ "a\tb\"c" }}{{ "\u00e9\x41\101" }}
{{ "\q" }}
{{ "unterminated }}
{{ "new\nline" }}
{{ ` + "`raw \\n {{ }} string`" + ` }}
{{ ` + "`raw" + ` }}
{{ "a" | }}
{{ | "a" }}
{{ .s | | str }}
{{ .s | "a" }}
{{ .s | 1 }}
{{ .s | . }}
{{ .s | nil }}
{{ .s | true }}
{{ .s | .i }}
{{ .s | $ }}
{{ .s | (str) }}
{{ }}
{{}}
{{ () }}
{{ (.s }}
{{ .s) }}
{{ ((.s) }}
{{ (.s)) }}
{{ .s
{{
{{ if
{{ .s\n\n
{{ if .t }}\n\n{{ .s
{{ .s.t! }}
{{ !x }}
{{ x! }}
{{ $x! }}
{{ a+b }}
{{ .s+1 }}
{{ .s, .i }}
{{ , }}
{{ @ }}
{{ # }}
{{ \ }}
{{ é }}
{{ .é }}
{{ ☺ }}
{{ .☺ }}
{{ .s☺ }}
{{ a : b }}
{{ := 1 }}
{{ = }}
{{ $ := 1 }}
{{ $x:=1 }}{{$x}}
{{ $x :=1}}{{ $x}}
{{ $.m.a }}{{ $.nope.x }}
{{ .s-1 }}
{{ "a""b" }}
{{ "a".b }}
{{ 1.b }}
{{ true.b }}
{{ .s(1) }}
{{ str(.s) }}
{{ str (.s)(.s) }}
{{ (.m).a.b.c }}
{{ if .t }}{{ .s.x.y }}{{ end }}
{{ if eq .i 42 }}x{{ end }}{{ if and .t (eq .s "hello") }}y{{ end }}
{{ if .nope.x }}{{ end }}
{{ with .nope.x }}{{ end }}
{{ range .nope.x }}{{ end }}
{{ with .m }}{{ .a }}{{ $.s }}{{ with .m }}{{ .x }}{{ end }}{{ end }}
{{ if true false }}{{ end }}
{{ if 1 | 2 }}{{ end }}
{{ with 1 2 }}{{ end }}
{{ end }}{{ if }}
{{ if .t }}{{ end }}}}
}} {{ .s }} {
{{ .s }}{{{ .s }}}
{ { .s } }
{{ "}}" }}
{{ "{{" }}
{{"a"}}{{"b"}}
{{ template "hi" . -}} \n x
{{ with $y := 1 }}{{ $y }}{{ else }}{{ $y }}{{ end }}
{{ $a := .s }}{{ $b := $a }}{{ printf "%s%s" $a $b }}
{{ $x := nil }}
{{ $x := .nope }}{{ $x }}{{ $x.y }}
{{ $x := .n }}{{ $x.y }}
{{ $v := index .m "n" }}{{ $v.x }}
{{ range $k, $v := .m }}{{ $v.x }}{{ end }}
{{ range $i := .l }}{{ $i.x }}{{ end }}
{{ range .ss }}{{ .x }}{{ end }}
{{ range .is }}{{ .x }}{{ end }}
{{ range $s := .sm }}{{ $s.x }}{{ end }}
{{ .ss.x }}
{{ .t.x }}{{ .i.x }}
{{ .fl.x }}
{{ .i.x }}
{{ .dur.x }}
{{ .bytes.x }}
{{ and (or .e .s) (not .f) | printf "%v" }}
{{ printf "%s" (include "hi" .) | len }}
{{ printf "%T %T %T %T %T" .s .i .m .l .n }}
{{ printf "%T %T" 1 1.0 }}{{ printf "%T" 'a' }}{{ printf "%T" 1i }}
{{ printf "%v" (index .l 2) }}{{ printf "%T" (any .i) }}
{{ printf "%#v %+v" .m .l }}
{{ printf "%q" .ss }}{{ printf "%d" .is }}{{ printf "%s" .l }}
{{ printf "%*d" 5 42 }}{{ printf "%[2]v %[1]v" 1 2 }}
{{ define "x" }}{{ range . }}{{ break }}{{ end }}{{ end }}{{ range .is }}{{ template "x" $.l }}{{ . }}{{ end }}
{{ if .t -}} a {{- else -}} b {{- end }}
{{- range .is -}} {{ . }} {{- end -}}
{{ .s }}\n{{ .nope.a.b.c }}
\n\n   {{ str .m.a }}
{{ .m.nope.x | str }}
{{ str (.m.nope) }}
{{ str (index .m "nope") }}
{{ index .m "nope" | str }}
{{ (str .s).x }}
{{ break }}{{ range .l }}{{ end }}
{{ range .l }}{{ template "hi" $ }}{{ break }}{{ end }}
{{ if .t }}{{ break }}{{ end }}
{{ range .l }}{{ define "q" }}{{ break }}{{ end }}{{ end }}
{{ range .l }}{{ block "q" . }}{{ break }}{{ end }}{{ end }}
{{ else if .t }}{{ end }}
{{ if .t }}{{ else if }}{{ end }}
{{ if .t }}{{ else if .f }}
{{ if .t }}{{ else range .l }}{{ end }}
{{ else with .t }}{{ end }}
{{ end 1 }}
{{ if .t }}{{ end 1 }}
{{ if .t }}{{ else 1 }}{{ end }}
{{ range }}{{ end }}
{{ with }}{{ end }}
{{ define "a b" }}{{ .q.r }}{{ end }}{{ template "a b" . }}
{{ define "per%cent" }}{{ fail "100%d" }}{{ end }}{{ template "per%cent" . }}
{{ fail "%s %d" }}
{{ printf "%" | fail }}
{{ template "hi" .nope.x }}
{{ include "hi" .nope.x }}
{{ include "hi" .nope }}
{{ include (printf "%s" "hi") . }}
{{ str "a long string that is more than twenty characters" | num }}
{{ printf "%s %s %s" .m.nope.very.long.chain.here "and another argument" (str .s) }}
{{ $long := .m.nope.very.long.chain.here }}
{{ if and (eq .i 1) (eq .nope.y 1) }}{{ end }}
{{ if or (eq .i 1) (eq .nope.y 1) }}{{ end }}
{{ $x := str 1 }}
{{ $x := 1 }}{{ $x = str 1 }}
{{ range $i, $e := str 1 }}{{ end }}
{{ with str 1 }}{{ end }}
{{ template "hi" str 1 }}
{{ block "bb" str 1 }}{{ end }}
{{ (str 1).x.y }}
{{ (.m.nope.x).y }}
{{ ((.s)).x }}
{{ len (str 1) }}
{{ len (len .s) }}
{{ true }}{{ false }}
{{ .t.f.g }}
`
