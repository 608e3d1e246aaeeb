// printf: every verb with values of every kind, and flags with some of them.

package main

import (
	"fmt"
	"strings"
)

func printfs() []question {
	const verbs = "v d s q x X o O b c U e E g G f F t T"
	values := []string{
		`nil`, `""`, `"héllo"`, `0`, `-3`, `2.5`, `1e21`, `true`, `'x'`, `(list 1 "b" nil)`, `(dict "a" 1)`, `(int64 7)`,
		`.Values.n`, `(splitList "," "b,a")`, `(toDate "2006" "2020")`, `(mustToDuration "90m")`,
		`(semver "1.2.3-a").Major`, `(semver "1.2.3-a")`, `(b64dec "/w==")`, `.Values.em`, `(until 2)`, `(split "," "b")`,
		`(toDate "2006" "2020").Month`, `.Capabilities.KubeVersion`,
	}
	flags := []string{"+", "#", "-8", "08", ".2", "8.3", "+08", " ", "# ", "+.3", "-08.1", "#+"}
	some := []string{`"hé"`, `-3`, `2.5`, `true`, `nil`, `(list 1 "b")`, `.Values.m`}
	var all []question
	ask := func(format, value string) {
		all = append(all, question{function: "printf", expression: fmt.Sprintf("printf %q %s", format, value)})
	}
	for _, verb := range strings.Fields(verbs) {
		for _, value := range values {
			// Under other verbs a time shows the address of its zone.
			if strings.HasPrefix(value, "(toDate") && !strings.Contains(value, ".") && !strings.Contains("vsqxXT", verb) {
				continue
			}
			ask("%"+verb, value)
		}
		for _, flag := range flags {
			for _, value := range some {
				ask("%"+flag+verb+"|", value)
			}
		}
	}
	return all
}
