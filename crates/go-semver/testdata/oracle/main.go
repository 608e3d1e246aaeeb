// Makes ../versions.tsv and ../constraints.tsv: go run .
package main

import (
	"math/rand"
	"os"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

var versions = strings.Split("1.2.3|v1.2.3|1|1.2|v1|01.2.3|1.02.3|1.2.3-alpha|1.2.3-alpha.1|1.2.3-01|1.2.3-a.b.c+x.y|1.2.3+x|1.2.3-|1.2.3+|1.2.3.4||v|x|1.x|1.2.3-a..b|1.2.3 |" +
	"1.2.3-0|1.2.3-beta|1.2.3-beta.2|1.2.3-beta.11|1.2.3-rc.1|2.0.0|0.0.0|0.0.1|0.0.3|0.1.0|0.2.3|0.3.0|1.0.0|1.3.0|1.2.4|11.1.0|11.2.1|12.0.0|99999999999999999999.0.0|1.99999999999999999999|1.2.3-99999999999999999999|1.2-3|1-2|v1.2.3-x+y|V1.2.3|-1.2.3|1..2|1.2.|1.2.3-é|1.2.3_a|1.30.0-gke.100|v1.30.2+k3s1|1.2.3--|1.2.3-a-b|0.0.0-0|3.0.0-a|1.2.3-"+strings.Repeat("a", 251), "|")

var bases = strings.Split("1.2.3|1.2|1|x|*|1.x|1.2.x|1.*|1.X.X|0|0.0|0.0.0|0.0.3|0.2|0.2.3|1.2.3-beta|1.2.3-0|v1.2|1.2.3+x|11|11.1|2.0.0|1|2|x.1|1.x.2|1.2-0|1-0|*-0|99999999999999999999|01.2|1|2.3", "|")

var operators = []string{"", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^", "> ", "== ", "!", "^ ", "<>"}

func q(s string) string { return strconv.QuoteToASCII(s) }

func write(name string, out *strings.Builder) {
	if err := os.WriteFile("../"+name, []byte(out.String()), 0o644); err != nil {
		panic(err)
	}
}

func show(v *semver.Version, err error) string {
	if err != nil {
		return "! " + err.Error()
	}
	p, m, n := v.IncPatch(), v.IncMinor(), v.IncMajor()
	return strings.Join([]string{v.String(), v.Original(), v.Prerelease(), v.Metadata(), p.Original(), m.Original(), n.Original()}, " ")
}

func main() {
	r := rand.New(rand.NewSource(7))
	var out strings.Builder
	for _, a := range versions {
		line := q(a) + "\t" + q(show(semver.NewVersion(a))) + "\t" + q(show(semver.StrictNewVersion(a))) + "\t"
		for _, b := range versions {
			va, e1 := semver.NewVersion(a)
			vb, e2 := semver.NewVersion(b)
			if e1 != nil || e2 != nil {
				line += "."
			} else {
				line += "<=>"[va.Compare(vb)+1 : va.Compare(vb)+2]
			}
		}
		out.WriteString(line + "\n")
	}
	write("versions.tsv", &out)

	constraints := []string{"", " ", ",", "||", "1 || 2", "1||2", "1 - 2", "1.2 - 1.4.5", "1.2.3 - 2.3", "1-2", "1 -2", ">1,<2", ">1, <2", ">1 <2", ">1<2", ">=1.2, <3 || ^0.1", "1.2.3 - 2 || 3 - 4", ">=1.0.0-0", ">=1.0.0-0, <2", "~1.2.3-beta", "^1.2.3-beta.2", "a", "1.2.3.4", ">", "^", "1,", ",1", "1 ,2", "1 , 2", ">=1.16.0-0", "*", "x.x.x", ">= 1.19-0", "=1.2", "! 1", "1 2 3", "\t1\n", "1\u00a02", "é", "1 || é", "1 | 2", "|1", "\"\\\u0085", strings.Repeat("1", 513), strings.Repeat("1||", 40) + "1"}
	for _, op := range operators {
		for _, b := range bases {
			constraints = append(constraints, op+b)
		}
	}
	for range 300 {
		s := ""
		for i := range 1 + r.Intn(3) {
			if i > 0 {
				s += []string{" ", ", ", " || ", ",", " - ", "||", "  "}[r.Intn(7)]
			}
			s += operators[r.Intn(13)] + bases[r.Intn(len(bases))]
		}
		constraints = append(constraints, s)
	}
	out.Reset()
	for _, c := range constraints {
		cs, err := semver.NewConstraint(c)
		if err != nil {
			out.WriteString(q(c) + "\t" + q("! "+err.Error()) + "\n")
			continue
		}
		line := q(c) + "\t" + q(cs.String()) + "\t"
		var reasons []string
		for i, s := range versions {
			v, err := semver.NewVersion(s)
			if err != nil {
				line += "."
				continue
			}
			if cs.Check(v) {
				line += "y"
			} else {
				line += "n"
			}
			ok, errs := cs.Validate(v)
			if (len(c)+i)%5 == 0 {
				var t []string
				for _, e := range errs {
					t = append(t, e.Error())
				}
				reasons = append(reasons, s+"="+strconv.FormatBool(ok)+":"+strings.Join(t, ";"))
			}
		}
		out.WriteString(line + "\t" + q(strings.Join(reasons, "\n")) + "\n")
	}
	write("constraints.tsv", &out)
}
