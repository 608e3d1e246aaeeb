//! What templates do: recursion, growth, loops, functions that are given too much.

use super::{Case, RAISED, check};

const HERE: &str = "c/templates/t.yaml:1:";
const TEXT: &str = "exceeded maximum text size (33554432 bytes); it is fixed";
const ITEMS: &str = "exceeded maximum number of items (1000000); it is fixed";
const STEPS: &str = "exceeded maximum number of steps (20000000)";
const MEMORY: &str = "exceeded maximum memory (201326592 bytes)";
const DEEP: &str = "exceeded maximum depth (1000) or number (1000000) of nested values; both are fixed";

fn cases(table: &[(&'static str, &str, &[&'static str])]) {
    let cases: Vec<Case> = table.iter().map(|(name, text, error)| Case::template(name, text, error)).collect();
    check(&cases);
}

#[test]
fn recursion() {
    cases(&[
        (
            "include",
            r#"{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}"#,
            &["c/templates/t.yaml", "rendering template has a nested reference name: a: unable to execute template"],
        ),
        (
            "include of two",
            r#"{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}"#,
            &["nested reference name: a: unable to execute template"],
        ),
        (
            "template",
            r#"{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}"#,
            &["c/templates/t.yaml", "exceeded maximum"],
        ),
        (
            "tpl",
            r#"{{ define "a" }}{{ tpl "{{ template \"a\" . }}" . }}{{ end }}{{ template "a" . }}"#,
            &["exceeded maximum depth of include and tpl (4000); it is fixed: nest them less deep"],
        ),
        (
            "tpl and include",
            r#"{{ define "a" }}{{ tpl "{{ include \"a\" . }}" . }}{{ end }}{{ include "a" . }}"#,
            &["nested reference name: a: unable to execute template"],
        ),
        (
            "tpl of a text that grows",
            r#"{{ define "g" }}{{ tpl (print . . "{{ include \"g\" (print . .) }}") . }}{{ end }}{{ include "g" "x" }}"#,
            &["exceeded maximum"],
        ),
        (
            "wide and deep",
            r#"{{ define "a" }}{{ if lt . 60 }}{{ include "a" (add . 1 | int) }}{{ include "a" (add . 1 | int) }}{{ end }}{{ end }}{{ include "a" 1 }}"#,
            &["exceeded maximum", RAISED],
        ),
    ]);
    let chart = Case::chart(
        "a value that is its own template",
        &[("templates/t.yaml", b"{{ tpl .Values.t . }}"), ("values.yaml", b"t: '{{ tpl .Values.t . }}'\n")],
        &["exceeded maximum depth of include and tpl (4000); it is fixed"],
    );
    check(&[chart]);
}

#[test]
fn growth() {
    cases(&[
        ("repeat", r#"{{ repeat 1000000000 "x" }}"#, &[HERE, TEXT]),
        ("repeat of repeat", r#"{{ repeat 30000 "x" | repeat 30000 }}"#, &[HERE, TEXT]),
        ("indent", r#"{{ indent 1000000 (repeat 1000 "x\n") }}"#, &[HERE, TEXT]),
        ("nindent", "{{ nindent 9999999999 .Release.Name }}", &[HERE, TEXT]),
        ("until", "{{ until 1000000000 }}", &[HERE, ITEMS]),
        ("untilStep", "{{ untilStep 0 9000000000000000000 1 }}", &[HERE, ITEMS]),
        ("seq", "{{ seq 1 1000000000 }}", &[HERE, ITEMS]),
        ("seq back", "{{ seq 9000000000000000000 -1 -9000000000000000000 }}", &[HERE, ITEMS]),
        ("printf width", r#"{{ range 1000000 }}{{ $_ := printf "%1000000d" 1 }}{{ end }}"#, &[HERE, STEPS, RAISED]),
        ("printf precision", r#"{{ range 1000000 }}{{ $_ := printf "%.1000000f" 1.5 }}{{ end }}"#, &[HERE, STEPS]),
        ("printf star", r#"{{ printf "%*d%2000000000d" 2000000000 1 1 }}"#, &[]),
        ("text that doubles", r#"{{ $s := "xx" }}{{ range 60 }}{{ $s = print $s $s }}{{ end }}"#, &[HERE, TEXT]),
        ("b64enc in a loop", r#"{{ $s := "xx" }}{{ range 100 }}{{ $s = b64enc $s }}{{ end }}"#, &[HERE, TEXT]),
        ("quote in a loop", r#"{{ $s := "\"" }}{{ range 100 }}{{ $s = quote $s }}{{ end }}"#, &[HERE, TEXT]),
        ("toJson in a loop", r#"{{ $s := "\"" }}{{ range 100 }}{{ $s = toJson $s }}{{ end }}"#, &[HERE, TEXT]),
        (
            "texts that are kept",
            r#"{{ $l := list }}{{ range 1000 }}{{ $l = append $l (repeat 10000000 "x") }}{{ end }}"#,
            &[HERE, MEMORY, RAISED],
        ),
        ("append", "{{ $l := list }}{{ range 10000000 }}{{ $l = append $l . }}{{ end }}", &[HERE, STEPS, RAISED]),
        ("append as a chart may", "{{ $l := list }}{{ range 8000 }}{{ $l = append $l . }}{{ end }}{{ len $l }}", &[]),
        (
            "merge",
            "{{ $d := dict }}{{ range 5000 }}{{ $_ := set $d (print .) . }}{{ end }}{{ $l := list }}\
             {{ range 100000 }}{{ $l = append $l (merge (dict) $d) }}{{ end }}",
            &[HERE, MEMORY, RAISED],
        ),
        (
            "merge into what is in a map",
            "{{ $d := dict }}{{ range 5000 }}{{ $_ := set $d (print .) . }}{{ end }}{{ $l := list }}\
             {{ range 100000 }}{{ $in := dict \"x\" (dict) }}{{ $_ := merge $in (dict \"x\" $d) }}\
             {{ $l = append $l $in }}{{ end }}",
            &[HERE, MEMORY, RAISED],
        ),
        ("concat", "{{ $l := list 1 2 }}{{ range 60 }}{{ $l = concat $l $l }}{{ end }}", &[HERE, ITEMS]),
        (
            "set",
            "{{ $d := dict }}{{ range 100000000 }}{{ $_ := set $d (print .) . }}{{ end }}",
            &[HERE, MEMORY, RAISED],
        ),
        (
            "lists in lists",
            "{{ $l := list }}{{ range 10000000 }}{{ $l = list $l }}{{ end }}{{ toJson $l }}",
            &[HERE, "exceeded maximum"],
        ),
        ("splitList", r#"{{ splitList "" (repeat 30000000 "x") }}"#, &[HERE, ITEMS]),
        ("split", r#"{{ split "x" (repeat 30000000 "x") }}"#, &[HERE, ITEMS]),
        ("regexSplit", r#"{{ regexSplit "x" (repeat 3000000 "x") -1 }}"#, &[HERE, "exceeded maximum"]),
        ("regexFindAll", r#"{{ regexFindAll "." (repeat 3000000 "x") -1 }}"#, &[HERE, "exceeded maximum"]),
        ("regexReplaceAll", r#"{{ regexReplaceAll "" (repeat 100000 "a") (repeat 10000 "b") }}"#, &[HERE, TEXT]),
        ("replace", r#"{{ replace "" (repeat 10000 "b") (repeat 100000 "a") }}"#, &[HERE, TEXT]),
        ("join", r#"{{ join (repeat 1000000 "a") (until 1000000) }}"#, &[HERE, TEXT]),
        (
            "100 MB of output",
            r#"{{ $s := repeat 1000000 "x" }}{{ range 100 }}{{ $s }}{{ end }}"#,
            &[HERE, "exceeded maximum output size (67108864 bytes)", RAISED],
        ),
        (
            "fromYaml",
            r#"{{ (fromYaml (print "a: [" (repeat 10000000 "a,") "]")).Error | fail }}"#,
            &["exceeded maximum number of nodes (2000000); it is fixed"],
        ),
        ("fromJson", r#"{{ (fromJson (print "{\"a\":[" (repeat 10000000 "1,") "1]}")).Error | fail }}"#, &[ITEMS]),
        ("wrap", r#"{{ wrapWith 1 (repeat 100000 "y") (repeat 1000000 "x ") }}"#, &[HERE, "exceeded maximum"]),
        (
            "title",
            r#"{{ $s := repeat 33000000 "a " | trunc 33000000 }}{{ range 100 }}{{ $_ := title $s | upper | snakecase }}{{ end }}"#,
            &[HERE, "exceeded maximum"],
        ),
    ]);
}

#[test]
fn values_that_contain_themselves() {
    const SELF: &str = r#"{{ $d := dict "a" 1 }}{{ $_ := set $d "d" $d }}"#;
    const WIDE: &str = "{{ $l := list 1 }}{{ range 60 }}{{ $l = list $l $l }}{{ end }}";
    let table: [(&'static str, &str, &str, &[&'static str]); 18] = [
        ("self: mustToJson", SELF, "{{ mustToJson $d }}", &[HERE, "json: unsupported value: encountered a cycle"]),
        ("self: mustToYaml", SELF, "{{ mustToYaml $d }}", &[HERE, "encountered a cycle"]),
        ("self: toYaml", SELF, "{{ toYaml $d }}", &[]),
        ("self: toYamlPretty", SELF, "{{ toYamlPretty $d }}", &[HERE, "exceeded"]),
        ("self: toToml", SELF, "{{ mustToToml $d }}", &[HERE, "exceeded"]),
        ("self: print", SELF, "{{ print $d }}", &[]),
        ("self: deepCopy", SELF, "{{ deepCopy $d }}", &[HERE, DEEP]),
        ("self: deepEqual", SELF, "{{ deepEqual $d (dict \"a\" 1 \"d\" $d) }}", &[HERE, DEEP]),
        ("self: merge", SELF, r#"{{ merge (dict "d" $d) $d }}"#, &[HERE, DEEP]),
        (
            "self: range",
            SELF,
            r#"{{ define "a" }}{{ range . }}{{ if kindIs "map" . }}{{ template "a" . }}{{ end }}{{ end }}{{ end }}{{ template "a" $d }}"#,
            &["exceeded maximum"],
        ),
        ("wide: toJson", WIDE, "{{ toJson $l }}", &[HERE, TEXT]),
        ("wide: toYaml", WIDE, "{{ toYaml $l }}", &[HERE, TEXT]),
        ("wide: toYamlPretty", WIDE, "{{ toYamlPretty $l }}", &[HERE, TEXT]),
        ("wide: toToml", WIDE, r#"{{ toToml (dict "l" $l) }}"#, &[]),
        ("wide: print", WIDE, "{{ $l }}", &[HERE, "exceeded maximum"]),
        ("wide: join", WIDE, r#"{{ join "," $l }}"#, &[HERE, "exceeded maximum"]),
        ("wide: deepCopy", WIDE, "{{ deepCopy $l }}", &[HERE, DEEP]),
        ("wide: deepEqual", WIDE, "{{ deepEqual $l (list $l $l) }}", &[HERE, DEEP]),
    ];
    let cases: Vec<Case> = table
        .iter()
        .map(|(name, before, text, error)| Case::template(name, &format!("{before}{text}"), error))
        .collect();
    check(&cases);
}

#[test]
fn work() {
    cases(&[
        ("range", "{{ range 9000000000000000000 }}{{ end }}", &[HERE, STEPS, RAISED]),
        ("range in range", "{{ range 1000000 }}{{ range 1000000 }}{{ end }}{{ end }}", &[HERE, STEPS, RAISED]),
        (
            "range of a large map",
            "{{ $d := dict }}{{ range 300000 }}{{ $_ := set $d (print .) 1 }}{{ end }}{{ range 1000000 }}{{ range $d }}{{ break }}{{ end }}{{ end }}",
            &[HERE, STEPS, RAISED],
        ),
        ("uniq", "{{ until 1000000 | uniq }}", &[HERE, STEPS, RAISED]),
        ("has", "{{ $l := until 1000000 }}{{ range 1000000 }}{{ $_ := has -1 $l }}{{ end }}", &[HERE, STEPS, RAISED]),
        ("without", "{{ without (until 1000000) (until 100000) 1 2 3 }}", &[HERE, "exceeded maximum"]),
        (
            "deepEqual",
            "{{ $l := until 900000 }}{{ range 1000000 }}{{ $_ := deepEqual $l $l }}{{ end }}",
            &[HERE, STEPS, RAISED],
        ),
        (
            "contains",
            r#"{{ $s := repeat 10000000 "x" }}{{ range 1000000 }}{{ $_ := contains "y" $s }}{{ end }}"#,
            &[HERE, STEPS, RAISED],
        ),
        ("contains almost", r#"{{ contains (print (repeat 10000000 "x") "y") (repeat 20000000 "x") }}"#, &[]),
        ("trimAll", r#"{{ trimAll (repeat 10000000 "x") (repeat 10000000 "y") }}"#, &[HERE, STEPS, RAISED]),
        ("genPrivateKey", r#"{{ range 1000 }}{{ $_ := genPrivateKey "rsa" }}{{ end }}"#, &[HERE, STEPS, RAISED]),
        (
            "derivePassword",
            r#"{{ range 1000000 }}{{ $_ := derivePassword 1 "long" "p" "u" "h" }}{{ end }}"#,
            &[HERE, STEPS, RAISED],
        ),
        ("bcrypt", r#"{{ range 1000000 }}{{ $_ := bcrypt "p" }}{{ end }}"#, &[HERE, STEPS, RAISED]),
        ("regex that goes back", r#"{{ regexMatch "(a*)*b" (repeat 100000 "a") }}"#, &[]),
        ("regex of regexes", r#"{{ regexMatch "(a{1000}){1000}" "a" | fail }}"#, &["wrong type"]),
        (
            "mustRegexMatch",
            r#"{{ mustRegexMatch "(a{1000}){1000}" "a" }}"#,
            &[HERE, "error parsing regexp: invalid repeat count"],
        ),
        (
            "regex, large",
            r#"{{ regexMatch "(.{0,30}.{0,30}.{0,30}){0,30}z" (repeat 30000000 "a") }}"#,
            &[HERE, STEPS, RAISED],
        ),
        (
            "regexes",
            r#"{{ range 1000000 }}{{ $_ := regexMatch (printf "\\pL{900}%d" .) "a" }}{{ end }}"#,
            &[HERE, STEPS, RAISED],
        ),
        (
            "toYaml",
            "{{ $l := until 500000 }}{{ range 1000000 }}{{ $_ := toYaml $l }}{{ end }}",
            &[HERE, "exceeded maximum", RAISED],
        ),
        ("semver", r#"{{ semverCompare (repeat 1000000 ">=1 || ") "1.2.3" }}"#, &["c/templates/t.yaml"]),
        ("semver digits", r#"{{ semver (repeat 1000000 "1") }}"#, &[HERE]),
        (
            "numbers",
            r#"{{ int64 (repeat 10000000 "9") }}{{ float64 (repeat 10000000 "9") }}{{ add (repeat 10000000 "9") 1 }}{{ toDecimal (repeat 1000000 "7") }}{{ addf 1e308 1e-308 1e308 }}{{ round 1e308 400 }}"#,
            &[],
        ),
    ]);
}

#[test]
fn odd_arguments() {
    cases(&[
        ("slice of a text", r#"{{ slice "abc" 2 1 }}"#, &[HERE]),
        ("slice below", "{{ slice (list 1 2) -5 9000000000000000000 }}", &[HERE]),
        ("index", "{{ index (list 1) 9000000000000000000 }}", &[HERE]),
        ("substr", r#"{{ substr 5 2 "abc" }}"#, &[HERE]),
        ("substr above", r#"{{ substr 0 9000000000000000000 "abc" }}{{ trunc -9000000000000000000 "abc" }}"#, &[]),
        ("substr below", r#"{{ substr -9 -9 "abc" }}"#, &[HERE, "slice bounds out of range [:-9]"]),
        ("abbrev", r#"{{ abbrev -5 "abc" }}{{ abbrevboth 9000000000000000000 5 "abcdefghij" }}"#, &[]),
        ("nindent", "{{ nindent -1 \"a\" }}", &[HERE, "strings: negative Repeat count"]),
        ("div", "{{ div 1 0 }}", &[HERE, "integer divide by zero"]),
        (
            "smallest",
            "{{ $m := sub -9223372036854775807 1 }}{{ div $m -1 }}{{ mod $m -1 }}{{ mul $m -1 }}{{ sub $m 1 }}{{ until 0 }}{{ biggest $m 1 }}",
            &[],
        ),
        ("chunk", "{{ chunk 0 (list 1) }}", &[HERE]),
        ("chunk below", "{{ chunk -1 (list 1) }}", &[HERE]),
        ("randAlpha", "{{ randAlpha 9000000000000000000 }}", &[HERE, TEXT]),
        ("randBytes", "{{ randBytes 1000000000 }}", &[HERE, TEXT]),
        ("randInt", "{{ randInt 5 5 }}", &[HERE]),
        (
            "dates",
            r#"{{ duration 9000000000000000000 }}{{ durationRound "1h" }}{{ dateModify "9999999h" now }}{{ ago 0 }}{{ unixEpoch now }}"#,
            &[],
        ),
        ("date", r#"{{ date (repeat 1000 "2006-01-02 ") 9000000000000000000 }}"#, &[]),
        ("wrap", r#"{{ wrap -1 "a b c" }}{{ wrap 0 "a b c" }}"#, &[]),
        ("toString", r#"{{ printf "%[99999999999]d %!%[1]*.[2]*d %v" 1 }}{{ printf (repeat 100000 "%") }}"#, &[]),
        (
            "splitn",
            r#"{{ splitn "," -9000000000000000000 "a,b" }}{{ regexSplit "," "a,b" -5 }}{{ regexFindAll "a" "aaa" 9000000000000000000 }}"#,
            &[],
        ),
        ("urls", r#"{{ urlParse (repeat 100000 "%") }}"#, &[HERE]),
        ("crypto", r#"{{ encryptAES "" "" }}{{ decryptAES "x" "AAAA" }}"#, &[HERE]),
        ("certificate", r#"{{ buildCustomCert "x" "y" }}"#, &[HERE]),
        ("days", r#"{{ genCA "x" 9000000000000000000 }}"#, &[]),
    ]);
}

#[test]
fn nesting() {
    const DEPTH: &str = "max expression depth exceeded";
    let nested =
        |open: &str, inside: &str, close: &str, n: usize| format!("{}{inside}{}", open.repeat(n), close.repeat(n));
    let chain = |n: usize| format!("{{{{ if .a }}}}{}{{{{ end }}}}", "{{ else if .a }}x".repeat(n));
    cases(&[
        ("parentheses", &format!("{{{{ {} }}}}", nested("(", "1", ")", 200_000)), &["c/templates/t.yaml:1", DEPTH]),
        ("calls", &format!("{{{{ {} }}}}", nested("(list ", "1", ")", 9000)), &["c/templates/t.yaml:1"]),
        ("ifs", &nested("{{ if true }}", "x", "{{ end }}", 100_000), &["c/templates/t.yaml:1", DEPTH]),
        ("ifs that fit", &nested("{{ if true }}", "x", "{{ end }}", 100), &[]),
        ("defines", &nested("{{ define \"a\" }}", "x", "{{ end }}", 10_000), &["c/templates/t.yaml:1"]),
        ("blocks", &nested("{{ block \"a\" . }}", "x", "{{ end }}", 10_000), &["c/templates/t.yaml:1"]),
        ("else if", &chain(100_000), &["c/templates/t.yaml:1", DEPTH]),
        ("pipeline", &format!("{{{{ 1 {} }}}}", "| quote".repeat(100_000)), &["c/templates/t.yaml:1"]),
        ("fields", &format!("{{{{ .Values{} }}}}", ".a".repeat(1_000_000)), &["c/templates/t.yaml:1"]),
        ("variables", &"{{ $a := 1 }}".repeat(200_000), &[]),
        ("unclosed", &"{{".repeat(1_000_000), &["c/templates/t.yaml:1"]),
        ("comment", &format!("{{{{/* {}", "*".repeat(10_000_000)), &["c/templates/t.yaml:1", "unclosed comment"]),
        ("number", &format!("{{{{ 1{} }}}}", "0".repeat(1_000_000)), &["c/templates/t.yaml:1"]),
    ]);
}
