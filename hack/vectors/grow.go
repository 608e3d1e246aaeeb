// What is asked: each function with many arguments, and the expressions that areas/*.txt write out.
//
// A file of areas/ has four kinds of lines:
//
//	# a remark
//	= NAME | ARGUMENT | ARGUMENT    a function and a normal call of it, from which others are made
//	@ NAME OPTION                   how: "fact EXPRESSION" asks for that, with % for the call, where answers are random;
//	                                "no huge" gives no huge numbers; "keep N" keeps N answers that are no errors;
//	                                "few" asks less, for a second name of a function
//	anything else                   an expression, or a template if it has braces
//
// A NAME with a dot is a method, called in the same ways.
package main

import (
	"embed"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

//go:embed areas/*.txt
var texts embed.FS

type question struct {
	function   string
	expression string
	typed      bool
	keep       *int
}

type area struct {
	name  string
	lines []string
}

// subject is a function with what the area says about it.
type subject struct {
	function
	normal []string
	fact   string
	huge   bool
	few    bool
	keep   *int
}

func areas() []area {
	var all []area
	entries, _ := texts.ReadDir("areas")
	for _, e := range entries {
		data, _ := texts.ReadFile("areas/" + e.Name())
		all = append(all, area{strings.TrimSuffix(e.Name(), ".txt"), strings.Split(string(data), "\n")})
	}
	return all
}

func fatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "vectors: "+format+"\n", args...)
	os.Exit(1)
}

func (a area) questions(all map[string]function) []question {
	var subjects []*subject
	byName := map[string]*subject{}
	var plain []question
	for _, line := range a.lines {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "= "):
			parts := strings.Split(line[2:], " | ")
			s := &subject{normal: parts[1:], huge: true}
			f, known := all[parts[0]]
			if !known && !strings.Contains(parts[0], ".") {
				fatal("%s.txt: Helm has no function %s", a.name, parts[0])
			}
			s.function = f
			s.name = parts[0]
			if !known {
				s.params = slices.Repeat([]string{"interface {}"}, len(s.normal))
			}
			subjects = append(subjects, s)
			byName[s.name] = s
		case strings.HasPrefix(line, "@ "):
			name, option, _ := strings.Cut(line[2:], " ")
			s := byName[name]
			if s == nil {
				fatal("%s.txt: %s comes before its =", a.name, line)
			}
			word, rest, _ := strings.Cut(option, " ")
			switch {
			case word == "fact":
				s.fact = rest
			case option == "no huge":
				s.huge = false
			case option == "few":
				s.few = true
			case word == "keep":
				n, err := strconv.Atoi(rest)
				if err != nil {
					fatal("%s.txt: %s", a.name, line)
				}
				s.keep = &n
			default:
				fatal("%s.txt: %s", a.name, line)
			}
		default:
			plain = append(plain, question{expression: line})
		}
	}
	var questions []question
	for _, s := range subjects {
		questions = append(questions, s.grow()...)
	}
	if a.name == "printf" {
		questions = append(questions, printfs()...)
	}
	return append(questions, plain...)
}

const huge = "9223372036854775807"

// Values of every type that templates meet: nil, constants, what functions and the chart give.
var anything = []string{
	`nil`, `""`, `"12"`, `"héllo wörld"`, `0`, `-3`, huge, `2.5`, `1e3`, `'x'`, `true`, `(list)`, `(list 1 "b" nil)`,
	`(dict)`, `(dict "a" 1)`, `.Values.n`, `.Values.none`, `.Values.m`, `(int64 7)`, `(splitList "," "b,a")`,
	`(split "," "b,a")`, `(toDate "2006-01-02" "2020-02-29")`, `.Files`, `.Capabilities.KubeVersion`,
}

var texts1 = []string{
	`""`, `"héllo wörld"`, `"12"`, `"a,b;c\n"`, `"\xff"`, `.Values.s`, `.Values.u`,
	`nil`, `3`, `2.5`, `true`, `(list "a")`, `(dict "a" 1)`, `.Values.n`, `.Values.none`, `(int64 7)`,
}

var numbers = []string{
	`0`, `-3`, `7`, huge, `-9223372036854775808`, `1e3`, `'x'`, `(int 4)`, `(int64 7)`, `.Values.n`, `2.5`, `"12"`, `nil`,
	`true`, `(list 1)`, `.Values.none`, `9223372036854775808`,
}

var few = []string{`nil`, `"12"`, `3`, `2.5`, `(list "a")`, `(dict "a" 1)`, `.Values.none`}

func (s *subject) pool(param string) []string {
	pool := anything
	switch param {
	case "string":
		pool = texts1
	case "int", "int64", "uint32", "float64":
		pool = numbers
	}
	if s.few {
		pool = few
	}
	leave := func(what string) {
		pool = slices.DeleteFunc(slices.Clone(pool), func(e string) bool { return strings.Contains(e, what) })
	}
	if !s.huge {
		leave("922337203")
	}
	return pool
}

// grow makes calls out of the normal one: fewer and more arguments; each argument replaced by values of all types; the
// last one piped; some where several are replaced.
func (s *subject) grow() []question {
	var out []question
	ask := func(call string) {
		if s.fact != "" {
			call = strings.ReplaceAll(s.fact, "%", "("+call+")")
		}
		typed := s.fact == "" && s.result == "interface {}"
		out = append(out, question{function: s.name, expression: call, typed: typed, keep: s.keep})
	}
	call := func(args ...string) { ask(strings.TrimSpace(s.name + " " + strings.Join(args, " "))) }
	pipe := func(args ...string) {
		last := len(args) - 1
		ask(args[last] + " | " + strings.TrimSpace(s.name+" "+strings.Join(args[:last], " ")))
	}
	n := len(s.normal)
	call(s.normal...)
	for k := range n {
		call(s.normal[:k]...)
	}
	more := append(slices.Clone(s.normal), `"x"`)
	call(more...)
	call(append(more, `2`)...)
	if n > 0 {
		pipe(s.normal...)
	}
	pipe(more...)
	param := func(i int) string {
		switch {
		case len(s.params) == 0:
			return ""
		case i < len(s.params):
			return s.params[i]
		default:
			return s.params[len(s.params)-1]
		}
	}
	replaced := func(changes map[int]string) []string {
		args := slices.Clone(s.normal)
		for i, e := range changes {
			args[i] = e
		}
		return args
	}
	for i := range n {
		for _, e := range s.pool(param(i)) {
			call(replaced(map[int]string{i: e})...)
		}
	}
	if n > 0 {
		for _, e := range few {
			pipe(replaced(map[int]string{n - 1: e})...)
		}
	}
	if n > 1 && !s.few {
		seed := uint64(len(s.name))
		for _, c := range s.name {
			seed = seed*31 + uint64(c)
		}
		for range 10 {
			changes := map[int]string{}
			for i := range n {
				pool := s.pool(param(i))
				seed += 0x9e3779b97f4a7c15
				z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
				z = (z ^ z>>27) * 0x94d049bb133111eb
				changes[i] = pool[(z^z>>31)%uint64(len(pool))]
			}
			call(replaced(changes)...)
		}
	}
	return out
}
