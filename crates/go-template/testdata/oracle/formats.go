package main

import (
	"fmt"
	"math"
	"time"
)

// The operands, by the names that the Rust test knows them by.
var operandNames = []string{
	"nil", "true", "int 42", "int -7", "int 0", "int64 9007199254740993", "uint8 200", "uint64 max", "float 1.5", "float 1e6", "float 1e21", "float -0",
	"float nan", "float +inf", "float 3", "float 1e-7", "float32 0.1", "string hello", "string empty", "string uni", "string bad", "string quote",
	"bytes hi", "list mixed", "list empty", "list nil", "strings", "ints", "map", "map empty", "map strings", "duration", "duration 0", "complex", "rune",
}

func operand(name string) any {
	switch name {
	case "nil":
		return nil
	case "true":
		return true
	case "int 42":
		return 42
	case "int -7":
		return -7
	case "int 0":
		return 0
	case "int64 9007199254740993":
		return int64(9007199254740993)
	case "uint8 200":
		return uint8(200)
	case "uint64 max":
		return uint64(math.MaxUint64)
	case "float 1.5":
		return 1.5
	case "float 1e6":
		return 1e6
	case "float 1e21":
		return 1e21
	case "float -0":
		return math.Copysign(0, -1)
	case "float nan":
		return math.NaN()
	case "float +inf":
		return math.Inf(1)
	case "float 3":
		return 3.0
	case "float 1e-7":
		return 1e-7
	case "float32 0.1":
		return float32(0.1)
	case "string hello":
		return "hello"
	case "string empty":
		return ""
	case "string uni":
		return "héllo ☺"
	case "string bad":
		return "a\xffb"
	case "string quote":
		return "say \"hi\"\n`x`"
	case "bytes hi":
		return []byte("hi")
	case "list mixed":
		return []any{1, "a", nil, 2.5, []any{true}, map[string]any{"k": nil}}
	case "list empty":
		return []any{}
	case "list nil":
		return []any(nil)
	case "strings":
		return []string{"a", "b c"}
	case "ints":
		return []int{1, -2}
	case "map":
		return map[string]any{"b": 1, "a": "x", "n": nil, "m": map[string]any{"z": []any{1.5}}}
	case "map empty":
		return map[string]any{}
	case "map strings":
		return map[string]string{"k": "v"}
	case "duration":
		return 90*time.Minute + 1500*time.Millisecond
	case "duration 0":
		return time.Duration(0)
	case "complex":
		return 1 - 2.5i
	case "rune":
		return 0x263A
	}
	panic(name)
}

func formats() {
	flags := []string{"", "+", "-", "#", " ", "0", "+#", "# ", "-0", "8", "-8", "08", "+08", ".3", "8.2", "-8.2", "#8", "#.3", ".0", "08.3", "+.2", "#08"}
	verbs := []string{"v", "s", "q", "d", "x", "X", "o", "O", "b", "c", "U", "e", "E", "f", "F", "g", "G", "t", "T", "w", "z", "p", "%"}
	for i, name := range operandNames {
		for j, verb := range verbs {
			if verb == "p" && (name[0] == 'l' || name[0] == 'm' || name == "bytes hi" || name == "strings" || name == "ints") {
				continue
			}
			for k, flag := range flags {
				if k > 0 && (i+2*j+k)%3 != 0 {
					continue
				}
				if (verb == "z" || verb == "w" || verb == "T" || verb == "p" || verb == "%") && len(flag) > 1 {
					continue
				}
				f := "%" + flag + verb
				line(f, []string{name}, latin1(fmt.Sprintf(f, operand(name))))
			}
		}
		line("Sprint", []string{name, name}, latin1(fmt.Sprint(operand(name), operand(name))))
		line("Sprintln", []string{name, "int 42"}, latin1(fmt.Sprintln(operand(name), operand("int 42"))))
	}
	for _, f := range []string{
		"", "plain", "%", "%d %", "%!", "%s %s", "%s %s %s", "%[1]s %[1]s", "%[2]s %[1]s", "%[3]s", "%[0]s", "%[x]s", "%[1s", "%[]s", "%*d", "%-*d", "%.*f", "%[2]*[1]d",
		"%[1]*d", "%6.[2]f", "%[2]6d", "%[2].3d", "%.d", "%5.s|", "%100000001d", "%.100000001d", "%é", "%s\xff", "%\xff", "%+[1]d", "%[1]+d", "%-+5d|", "%.[1]*f", "%.*[1]d",
		"%%%d%%", "100%", "% d", "%5%|", "%-05d|", "%x %X", "%[1]v %v", "%[1]", "%.", "%.3", "%*", "%v", "%3[1]d",
	} {
		for _, names := range [][]string{{}, {"int 42"}, {"string hello"}, {"int 42", "string hello"}, {"int 42", "int -7", "float 1.5"}, {"nil", "nil"}, {"string hello", "float 1.5", "duration"}} {
			var args []any
			for _, n := range names {
				args = append(args, operand(n))
			}
			if names == nil {
				names = []string{}
			}
			line(latin1(f), names, latin1(fmt.Sprintf(f, args...)))
		}
	}
	for _, names := range [][]string{
		{}, {"string hello", "int 42", "int 42"}, {"int 42", "string hello", "nil"}, {"nil", "nil"}, {"true", "float 1.5", "strings", "string empty", "int 0"},
	} {
		var args []any
		for _, n := range names {
			args = append(args, operand(n))
		}
		line("Sprint", names, latin1(fmt.Sprint(args...)))
		line("Sprintln", names, latin1(fmt.Sprintln(args...)))
	}
	for _, d := range []time.Duration{1, 999, 1000, 1500, 999999, 1e6, 1234567, 1e9, 61e9, 3600e9, 3661500000000, -1, -90e9, math.MinInt64, math.MaxInt64, 100 * 3600e9} {
		line("Duration", []string{}, d.String(), fmt.Sprint(int64(d)))
	}
}
