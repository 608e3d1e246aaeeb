// Command vectors writes crates/helm/testdata/vectors: what Helm 4.3.1 makes of every template function.
//
// Owns: the chart that vectors are rendered in, asking Helm's engine, which answers are left out, the format of the
// files. Does not own: what is asked (grow.go, areas/*.txt), the list of functions (names.go). Usage: vectors FOLDER [AREA...].
//
// A line of a file: expression or whole template, TAB, answer, and for functions that may give anything, TAB, the type
// of what they gave. An answer is "=" and the output, or "!" and the whole text of the error; an error at one place of
// the template is shortened to "!COLUMN <PLACE> TEXT", without PLACE where that is the expression. Backslash escapes.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	v2util "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

// The name of the template, as errors show it.
const place = "c/templates/t"

// Longer answers are no help to a reader; hashes of texts take their place where they matter.
const longest = 1500

// chart is what all vectors have in common.
var chart []*archive.BufferedFile

// answer is Helm's: the output, or the text of the error.
type answer struct {
	text string
	err  bool
}

func ask(template string) answer {
	// Our errors are text: each byte that is not UTF-8 is U+FFFD in them.
	failed := func(err error) answer { return answer{replaced(err.Error()), true} }
	c, err := loader.LoadFiles(append(slices.Clone(chart), &archive.BufferedFile{Name: "templates/t", Data: []byte(template)}))
	if err != nil {
		return failed(err)
	}
	if err := v2util.ProcessDependencies(c, nil); err != nil {
		return failed(err)
	}
	capabilities := common.DefaultCapabilities.Copy()
	version, err := common.ParseKubeVersion("1.35.0")
	if err != nil {
		return failed(err)
	}
	capabilities.KubeVersion = *version
	release := common.ReleaseOptions{Name: "r", Namespace: "demo", Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(c, nil, release, capabilities)
	if err != nil {
		return failed(err)
	}
	out, err := engine.Engine{}.Render(c, values)
	if err != nil {
		return failed(err)
	}
	return answer{out[place], false}
}

func replaced(text string) string {
	var out strings.Builder
	for _, r := range text {
		out.WriteRune(r)
	}
	return out.String()
}

var pointer = regexp.MustCompile(`0xc[0-9a-f]{9}`)

// steady asks several times, once in another year. What differs depends on chance, on the order of a map or on the
// clock; what shows an address differs from machine to machine. Neither can be a vector.
func steady(template string) (answer, bool) {
	first := ask(template)
	var other answer
	inBubble(func() { other = ask(template) })
	if first != other || pointer.MatchString(first.text) {
		return first, false
	}
	for range 6 {
		if ask(template) != first {
			return first, false
		}
	}
	return first, true
}

func escape(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		r, size := rune(text[0]), 1
		for _, c := range text {
			r = c
			break
		}
		if r >= 0x80 && r != 0xFFFD {
			size = len(string(r))
		}
		switch {
		case r == '\\':
			out.WriteString(`\\`)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case size == 1 && (text[0] < 0x20 || text[0] >= 0x7f), r >= 0x80 && r < 0xA0, r == 0x2028, r == 0x2029:
			for i := range size {
				fmt.Fprintf(&out, `\x%02x`, text[i])
			}
		default:
			out.WriteString(text[:size])
		}
		text = text[size:]
	}
	return out.String()
}

var located = regexp.MustCompile(`(?s)^` + place + `:1:(\d+)\n  executing "` + place + `" at <(.*?)>:\n    (.*)$`)

func (a answer) shown(expression string) string {
	if !a.err {
		return "=" + escape(a.text)
	}
	if m := located.FindStringSubmatch(a.text); m != nil {
		at := m[2]
		if at == expression {
			at = ""
		}
		return "!" + m[1] + " <" + escape(at) + "> " + escape(m[3])
	}
	return "!" + escape(a.text)
}

func whole(expression string) string {
	if strings.HasPrefix(expression, "{{") {
		return expression
	}
	return "{{ " + expression + " }}"
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	// Before anybody asks for the local zone: what the test has.
	os.Setenv("TZ", "UTC")
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: vectors FOLDER [AREA...]")
		os.Exit(2)
	}
	out := os.Args[1]
	var err error
	if chart, err = readChart(filepath.Join(out, "chart")); err != nil {
		fatal("%v", err)
	}
	all := functions()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
			fatal("%v", err)
		}
	}
	write("signatures.tsv", signatures(all))
	seen := map[string]bool{}
	total := 0
	for _, area := range areas() {
		var lines []string
		left := map[string]int{}
		questions := area.questions(all)
		if wanted := os.Args[2:]; len(wanted) > 0 && !slices.Contains(wanted, area.name) {
			for _, q := range questions {
				seen[q.function] = true
			}
			continue
		}
		for _, q := range questions {
			seen[q.function] = true
			late := time.AfterFunc(60*time.Second, func() { panic("no answer to " + q.expression) })
			a, same := steady(whole(q.expression))
			late.Stop()
			if !same || len(a.text) > longest || !a.err && q.keep != nil && *q.keep == 0 {
				left[q.function]++
				continue
			}
			if !a.err && q.keep != nil {
				*q.keep--
			}
			line := escape(q.expression) + "\t" + a.shown(q.expression)
			if q.typed && !a.err {
				if t, same := steady("{{ printf \"%T\" (" + q.expression + ") }}"); same && !t.err {
					line += "\t" + t.text
				}
			}
			lines = append(lines, line+"\n")
		}
		lines = dedup(lines)
		total += len(lines)
		write(area.name+".tsv", strings.Join(lines, ""))
		fmt.Printf("%-9s %5d vectors; left out: %v\n", area.name, len(lines), left)
	}
	for name := range all {
		if !seen[name] {
			fmt.Fprintf(os.Stderr, "vectors: no area names the function %s\n", name)
			defer os.Exit(1)
		}
	}
	fmt.Printf("%-9s %5d vectors, %d functions\n", "all", total, len(all))
}

func dedup(lines []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(lines, func(line string) bool {
		was := seen[line]
		seen[line] = true
		return was
	})
}
