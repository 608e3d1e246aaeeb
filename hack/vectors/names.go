// What is not public: Helm's function map, text/template's builtin functions, Go's clock for tests.
//
// Taken by their names in the linker (hence -checklinkname=0 in run.sh), so that the lists are the real ones and not
// copies.

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	_ "unsafe" // for go:linkname

	_ "helm.sh/helm/v4/pkg/engine"
)

//go:linkname helmFunctions helm.sh/helm/v4/pkg/engine.funcMap
func helmFunctions() template.FuncMap

//go:linkname builtins text/template.builtins
func builtins() template.FuncMap

// inBubble calls f where the clock stands at the first second of the year 2000.
//
//go:linkname inBubble internal/synctest.Run
func inBubble(f func())

// function is one that templates can call, and how.
type function struct {
	name     string
	params   []string
	variadic bool
	result   string
	builtin  bool
}

// functions gives all functions by name. Those that Helm binds late have other results in its map.
func functions() map[string]function {
	all := map[string]function{}
	add := func(m template.FuncMap, builtin bool) {
		for name, f := range m {
			t := reflect.TypeOf(f)
			one := function{name: name, variadic: t.IsVariadic(), result: t.Out(0).String(), builtin: builtin}
			for i := range t.NumIn() {
				in := t.In(i)
				if t.IsVariadic() && i == t.NumIn()-1 {
					in = in.Elem()
				}
				one.params = append(one.params, in.String())
			}
			all[name] = one
		}
	}
	add(builtins(), true)
	add(helmFunctions(), false)
	tpl := all["tpl"]
	tpl.result = "string"
	all["tpl"] = tpl
	return all
}

// signatures is the text of signatures.tsv: one function a line, with its parameters and its first result.
func signatures(all map[string]function) string {
	var lines []string
	for _, f := range all {
		params := slices.Clone(f.params)
		if f.variadic {
			params[len(params)-1] = "..." + params[len(params)-1]
		}
		kind := "helm"
		if f.builtin {
			kind = "builtin"
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\n", f.name, kind, strings.Join(params, ", "), f.result))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
