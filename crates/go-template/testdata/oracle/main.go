// Prints what Go's text/template, fmt and strconv make of many inputs, one JSON array per line:
//
//	go run . template > ../template.jsonl
//	go run . fmt      > ../fmt.jsonl
//	go run . quote    > ../quote.jsonl
//
// Strings that may not be UTF-8 are written as one character per byte (Latin-1).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/template"
	"time"
)

var out = bufio.NewWriter(os.Stdout)

func latin1(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func line(fields ...any) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		panic(err)
	}
}

type named map[string]any

// The data that every template sees. The Rust test builds the same.
func data() map[string]any {
	return map[string]any{
		"s": "hello", "e": "", "n": nil, "t": true, "f": false,
		"i": 42, "i64": int64(-7), "u": uint(9), "u8": uint8(200), "fl": 1.5, "big": 1e6, "neg": -3,
		"m":     map[string]any{"a": 1, "b": "two", "n": nil, "m": map[string]any{"x": "deep"}},
		"em":    map[string]any{},
		"l":     []any{"x", 2, nil, 3.5, map[string]any{"k": "v"}},
		"el":    []any{},
		"nl":    []any(nil),
		"ss":    []string{"b", "a", "c"},
		"is":    []int{3, 1, 2},
		"sm":    map[string]string{"p": "q"},
		"bytes": []byte("hi"),
		"dur":   3 * time.Nanosecond,
		"named": named{"y": "z"},
		"html":  "<a href=\"x\">&'\x00=\u2028é\x01",
		"uni":   "héllo wörld ☺",
		"bad":   "a\xffb",
	}
}

func funcs() template.FuncMap {
	return template.FuncMap{
		"str":     func(s string) string { return "[" + s + "]" },
		"num":     func(i int) int { return i + 1 },
		"num64":   func(i int64) int64 { return i + 1 },
		"u8":      func(i uint8) uint8 { return i },
		"flt":     func(f float64) float64 { return f / 2 },
		"cplx":    func(c complex128) complex128 { return c },
		"boolean": func(b bool) bool { return !b },
		"any":     func(v any) any { return v },
		"nothing": func() any { return nil },
		"mapf":    func(m map[string]any) int { return len(m) },
		"listf":   func(l []any) int { return len(l) },
		"strsf":   func(l []string) string { return strings.Join(l, "+") },
		"durf":    func(d time.Duration) string { return d.String() },
		"vari":    func(a string, b ...int) string { return fmt.Sprint(a, b) },
		"varany":  func(a ...any) string { return fmt.Sprintf("%v", a) },
		"two":     func(a string, b int) string { return fmt.Sprint(a, "-", b) },
		"fail":    func(s string) (string, error) { return "", fmt.Errorf("failed: %s", s) },
		"mk":      func() map[string]any { return map[string]any{"a": map[string]any{"b": "c"}} },
		"mkl":     func() []any { return []any{1, "b"} },
	}
}

func render(src, missing string) (string, string) {
	t := template.New("root").Funcs(funcs()).Option("missingkey=" + missing)
	includes := 0
	t.Funcs(template.FuncMap{"include": func(name string, d any) (string, error) {
		includes++
		if includes > 50 {
			return "", fmt.Errorf("too deep")
		}
		var b strings.Builder
		err := t.ExecuteTemplate(&b, name, d)
		return b.String(), err
	}})
	if _, err := t.New("lib.tpl").Parse(lib); err != nil {
		panic(err)
	}
	if _, err := t.New("t.yaml").Parse(src); err != nil {
		return "", err.Error()
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, "t.yaml", data()); err != nil {
		return "", err.Error()
	}
	return b.String(), ""
}

const lib = `{{ define "hi" }}hi {{ .s }}{{ end }}
{{ define "bad" }}
  x {{ .n.x }}{{ end }}{{ define "nest" }}{{ include "bad" . }}{{ end }}{{ define "nest2" }}{{ template "nest" . }}{{ end }}
{{- define "fails" }}{{ fail "inside" }}{{ end }}{{ define "loop" }}{{ include "loop" . }}{{ end }}`

func main() {
	defer out.Flush()
	switch os.Args[1] {
	case "template":
		for _, src := range templates() {
			for _, missing := range []string{"zero", "default", "error"} {
				ok, err := render(src, missing)
				if missing != "zero" {
					zeroOK, zeroErr := render(src, "zero")
					if ok == zeroOK && err == zeroErr {
						continue
					}
				}
				line(src, missing, latin1(ok), latin1(err))
			}
		}
	case "fmt":
		formats()
	case "quote":
		quotes()
	}
}

func quotes() {
	inputs := []string{
		"", "a", "a\"b", "a'b", "a\\b", "\x00\x01\x1f\x7f", "\a\b\f\n\r\t\v", "é☺😀", "\u00a0\u2028\ufeff\u200b", "\xff\xfe", "a\xe2\x82",
		"\U000e0001", "\U0010ffff", "\u0378", "\u061c", "\ud7ff\ue000", "`", "tab\there", "\u3000", "\u00ad", "\ufffd", "a\xedb",
	}
	for r := rune(0x80); r < 0x3000; r += 7 {
		inputs = append(inputs, string(r))
	}
	for r := rune(0x3000); r < 0x20000; r += 211 {
		inputs = append(inputs, string(r))
	}
	for _, s := range inputs {
		line("quote", latin1(s), latin1(strconv.Quote(s)), strconv.QuoteToASCII(s), strconv.CanBackquote(s))
	}
	for _, s := range []string{
		``, `"`, `""`, `"a"`, `'a'`, `'ab'`, `''`, "`a\rb`", "`a", "`a`b`", `"\n\t\\\"\a\b\f\v\r"`, `"\'"`, `'\''`, `'"'`, `'\"'`, `"\x41\x4"`,
		`"\x41"`, `"\xff"`, `"\377"`, `"\400"`, `"\12"`, `"\101"`, `"\u00e9"`, `"\ud800"`, `"\U0001F600"`, `"\U00110000"`, `"\u12"`, `"\q"`, "\"a\nb\"",
		`"a"b"`, `a`, `"é"`, `'é'`, `'\u00e9'`, `'\xff'`, "'\xff'", "\"\xff\"", `"\"`, `"abc\"`, `"\x4g"`, `'\n'`, `'\0'`, `'\000'`,
	} {
		u, err := strconv.Unquote(s)
		line("unquote", latin1(s), latin1(u), err == nil)
	}
}
