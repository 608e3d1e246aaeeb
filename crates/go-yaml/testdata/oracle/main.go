// Makes ../read.tsv and ../write.tsv: go run . (Go libraries in the versions of go.mod, as Helm uses them.)
// Every field is a JSON string; see tests/main.rs for the columns.
package main

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

var documents = []string{
	"", "\n", "# only a comment", "---", "--- \na: 1", "a: 1\n...\nb", "a: |\n  x", "a: |\n  x\n", "a: |+\n  x\n\n", "a: >-\n  x\n  y\n\n  z", "a: |2\n   x",
	"a: |\n  x\n  ", "- |\n x\n-\n |\n x", "a: \"x\\\n  y\"", "a: \"\\x41\\u00e9\\U0001F600\"", "a: 'it''s'", "a: \"\\/\"", "%YAML 1.2\n---\na: 1", "%YAML 1.1\n---\na: 1",
	"a: &x 1\nb: *x", "a: *nope", "a: &x {b: 1}\n<<: *x", "<<: [1]", "<<: 1", "a: {<<: {b: 1}, b: 2}", "a: {b: 2, <<: {b: 1}}", "? a\n: b", "? [a]\n: b", "? {a: 1}\n: b",
	"null: 1", "~: {a: [1, 2.5, x, true, null]}", "18446744073709551615: 1", "1.5: a", "1e3: a", ".inf: a", "true: a", "a: .inf", "a: [.nan]", "a: -.INF",
	"a: !!int \"7\"", "a: !!int x", "a: !!float 7", "a: !!str 7", "a: !!bool yes", "a: !!null x", "a: !!binary aGVs\n", "a: !!binary a", "a: !!binary /w==", "a: !!timestamp 2001-01-01", "a: !!timestamp x", "a: !foo 1", "a: ! 1", "a: !!set {x}",
	"a: 0o17", "a: 0x_1F", "a: 0b11", "a: -0b11", "a: 0b", "a: +1", "a: +.5", "a: ._5", "a: 1__0", "a: 12e03", "a: 1e400", "a: 9223372036854775808", "a: 2001-01-01T00:00:00Z", "a: 1:30:00",
	"a: [1, 2", "a: {b: 1", "a: 'x", "a: \"x", "a: b: c", "a:\n\tb: 1", "a: @x", "a: `x", "- a\nb: 1", "a: 1\n b: 2", "a: x\n- b", "[a, b]: c", "a\nb: c", "a: [x]]", "a: %x", "a: ,", "[,]", "{,}", "{a, b: }", "[a: 1, b]",
	"a: \u00e9", "\ufeffa: 1", "a: \ufeffx", "a: x\u0085y", "\uff01: 1", "a: \x01", "a: \x7f", "a: x # c", "a: x# c", "a: 'x' # c", "a: &x", "a: *", "a: !<tag:yaml.org,2002:int> 3", "a: !e!x 1", "%TAG !e! tag:e,1:\n---\na: !e!x 1",
	"k: " + strings.Repeat("x", 2000), strings.Repeat("k", 1100) + ": 1", "? " + strings.Repeat("k", 1100) + "\n: 1", "a: [" + strings.Repeat("x, ", 300) + "]",
	"a: 1\r\nb: 2\r\n", "a: |\r\n  x\r\n  y\r\n", "a:   x   ", "a: x\n  y\n\n  z", "a: 'x\n\n  y'", "'a': 1", "\"a\\tb\": 1", "- - a\n  - b\n- c", "-\n  a: 1\n-\n  b: 2", "a:\n- x\n- y\nb: z",
	"a: y\nb: n\nY: N", "on: off", "a: =", "a: <<", "a: ~x", "a: -", "a: - x", "a: ?x", "a: :x", "a: x:y", "a: [x:y, ?x, -x]", "a: {x: -, y: ~}", "1", "x", "[]", "{}", "null", "a: 1\na: 2", "--- a\n--- b", "--- |\n x\n--- y",
}

var parts = []string{
	"a", "b", "1", "0x1", "yes", "~", "'q'", "\"d\"", ": ", ":", "- ", "-", "? ", "\n", "\n  ", "\n    ", "\n", " ", "  ", "[", "]", "{", "}", ", ", ",", "#", " # c", "|", ">", "|-", ">+", "&x ", "*x", "!!str ", "!t ", "<<: ", "---", "...", "\t", "%", "@", "\\", "é", "😀", "\u2028", "\"", "'", "key: ", "key: v\n", "- v\n", "2001-01-01", "1.5", ".5", "1e3",
}

var values = []string{
	`{}`, `{"a":[]}`, `{"a":{}}`, `{"a":[[],{},[1,[2]]]}`, `{"a":[{"b":[{"c":1,"d":2}]}]}`, `{"a":1.0,"b":1e6,"c":1e21,"d":1e-7,"e":123456789.5,"f":-0,"g":18446744073709551616,"h":1e20}`,
	`{"a":"\u007f"}`, `{"a":"\u0080"}`, `{"a":"\u0085"}`, `{"a":"x \u0085 \u0085 y"}`, `{"a":"\ufeff"}`, `{"a":"\ufeffx"}`, `{"a":"x\ufeff"}`, `{"a":"\ufffe"}`, `{"a":"\ud83d\ude00 x"}`, `{"a":"\u2028"}`, `{"a":"x\u2029y"}`, `{"a":"\u00a0"}`, `{"a":"\u0000\u001b"}`,
	`{"9":1,"10":2,"1":3}`, `{"a2":1,"a10":2,"a":3,"A":4,"_":5,"-":6,"é":7}`, `{"":1}`, `{" ":1}`, `{"a b":1,"a: b":2,"#a":3,"a #":4,"true":5,"1":6,"~":7}`, `{"a\nb":1}`, `{"` + strings.Repeat("k", 128) + `":1}`, `{"` + strings.Repeat("k", 129) + `":{"x":[1]}}`, `{"` + strings.Repeat("k", 1022) + `":1}`, `{"` + strings.Repeat("k", 1023) + `":1}`,
	`{"a":"` + strings.Repeat("word ", 40) + `"}`, `{"a":"` + strings.Repeat("it's ", 40) + `"}`, `{"a":"` + strings.Repeat("\\t word", 40) + `"}`, `{"a":"` + strings.Repeat("wo  rd ", 40) + `x"}`, `{"a":["` + strings.Repeat("word ", 40) + `x"]}`, `{"a":"` + strings.Repeat("word ", 40) + `\nx"}`, `{"` + strings.Repeat("word ", 20) + `":"` + strings.Repeat("word ", 20) + `x"}`,
	`{"a":"x\n"}`, `{"a":"\n"}`, `{"a":"x\n\n"}`, `{"a":" x\ny"}`, `{"a":"x \ny"}`, `{"a":"x\ty\nz"}`, `{"a":["x\ny",{"b":"x\ny\n"}]}`, `{"a":"x\r\ny"}`, `{"a":"\r"}`, `{"a":"-\n-"}`, `{"a":"---"}`, `{"a":"--- x"}`, `{"a":"..."}`, `{"a":"2001-01-01"}`, `{"a":"1:30"}`, `{"a":"0o7"}`, `{"a":"0b+1"}`, `{"a":"0o+1"}`, `{"a":"08"}`, `{"a":"1_0"}`, `{"a":"_1"}`, `{"a":"=","b":"<<"}`,
}

var texts = []string{"a", "b", "1", "yes", "no", " ", "  ", ":", ": ", "#", " #", "-", "- ", "?", "'", "\\\"", "\\\\", "\\n", "\\n", "\\t", "\\r", "é", "😀", "{", "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "\\u00a0", "word ", "longer words ", "0x", ".", "e", "~", "null", "\\u2028", "\\u0001", "/", "="}

func field(s string) string { b, _ := json.Marshal(s); return string(b) }

func toJSON(v any) string { b, _ := json.Marshal(v); return string(b) }

func toYAML(v any) string {
	b, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

func toYAMLPretty(v any) string {
	var b bytes.Buffer
	e := yaml3.NewEncoder(&b)
	e.SetIndent(2)
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func fromYAML(s string) map[string]any {
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(s), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

func fromYAMLArray(s string) []any {
	a := []any{}
	if err := yaml.Unmarshal([]byte(s), &a); err != nil {
		a = []any{err.Error()}
	}
	return a
}

func fromJSON(s string) map[string]any {
	m := map[string]any{}
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

func table(name string, inputs []string, columns func(string) []string) {
	var out strings.Builder
	seen := map[string]bool{}
	for _, in := range inputs {
		first := columns(in)
		stable := true
		for range 4 {
			stable = stable && strings.Join(first, "\x00") == strings.Join(columns(in), "\x00")
		}
		if !stable || seen[in] {
			continue
		}
		seen[in] = true
		out.WriteString(field(in))
		for _, c := range first {
			out.WriteString("\t" + field(c))
		}
		out.WriteString("\n")
	}
	if err := os.WriteFile("../"+name, []byte(out.String()), 0o644); err != nil {
		panic(err)
	}
}

func main() {
	r := rand.New(rand.NewSource(20261201))
	for len(documents) < 900 {
		var s strings.Builder
		for range 2 + r.Intn(9) {
			s.WriteString(parts[r.Intn(len(parts))])
		}
		documents = append(documents, s.String())
	}
	for len(values) < 900 {
		var s strings.Builder
		for range 1 + r.Intn(8) {
			s.WriteString(texts[r.Intn(len(texts))])
		}
		t := s.String()
		switch r.Intn(4) {
		case 0:
			values = append(values, `{"k":"`+t+`"}`)
		case 1:
			values = append(values, `{"`+t+`":["`+t+`"]}`)
		case 2:
			values = append(values, `{"k":{"l":["`+t+`",{"m":"`+t+`"}]}}`)
		case 3:
			values = append(values, `{"k":"`+strings.Repeat(t+" ", 1+60/len(t))+`x"}`)
		}
	}
	table("read.tsv", documents, func(d string) []string {
		v := fromYAML(d)
		return []string{toJSON(v), toYAML(v), toYAMLPretty(v), toJSON(fromYAMLArray(d))}
	})
	table("write.tsv", values, func(d string) []string {
		v := fromJSON(d)
		return []string{toJSON(v), toYAML(v), toYAMLPretty(v), toJSON(fromYAML(toYAML(v)))}
	})
}
