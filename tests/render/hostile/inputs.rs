//! Values, YAML and JSON wherever they are read, flags and schemas.

use super::{Case, check};

const DEPTH: &str = "exceeded max depth of 1000; it is fixed";
const NODES: &str = "exceeded maximum number of nodes (2000000); it is fixed";
const ALIASES: &str = "document contains excessive aliasing";
const EMPTY: &[u8] = b"kind: X\nmetadata: {name: x}\n";

/// Ten names, each of ten of the one before.
fn laughs() -> String {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in "bcdefghij".chars().zip("abcdefghi".chars()) {
        let all = vec![format!("*{before}"); 10].join(", ");
        text += &format!("{name}: &{name} [{all}]\n");
    }
    text
}

#[test]
fn yaml_wherever_it_is_read() {
    let texts: [(&'static str, String, &'static str); 11] = [
        ("laughs", laughs(), ALIASES),
        ("flow", format!("a: {}", "[".repeat(1_000_000)), DEPTH),
        ("maps in flow", format!("a: {}", "{a: ".repeat(300_000)), DEPTH),
        ("entries in a line", format!("a:\n  {}", "- ".repeat(1_000_000)), DEPTH),
        ("keys in a line", "? ".repeat(1_000_000), DEPTH),
        ("blocks", (0..2000).map(|n| format!("{}a:\n", " ".repeat(n))).collect(), DEPTH),
        ("items", format!("a: [{}]", "1,".repeat(5_000_000)), NODES),
        ("lines", format!("a:\n{}", "- 1\n".repeat(5_000_000)), NODES),
        ("unclosed", format!("a: \"{}", "x\n ".repeat(3_000_000)), ""),
        ("tags", format!("a: {}x", "!!str ".repeat(1_000_000)), ""),
        ("colons", ": ".repeat(1_000_000), ""),
    ];
    let mut cases = Vec::new();
    for (name, text, error) in &texts {
        let error: &[&'static str] = &["Error: ", error];
        let text = text.as_bytes();
        let of =
            |file: &str, template: &[u8]| Case::chart(name, &[("templates/t.yaml", template), (file, text)], error);
        cases.push(of("values.yaml", EMPTY));
        cases.push(of("templates/u.yaml", EMPTY));
        cases.push(Case::chart(name, &[("Chart.yaml", [super::CHART.as_bytes(), text].concat().as_slice())], error));
        cases.push(Case::chart(
            name,
            &[("templates/t.yaml", b"{{ (.Files.Get \"x\" | fromYaml).Error | fail }}{{ .Files.Get \"x\" | fromYamlArray | first | fail }}"), ("x", text)],
            &["c/templates/t.yaml"],
        ));
        let mut file = Case::chart(name, &[("templates/t.yaml", EMPTY)], error).with(&["-f", "v.yaml"]);
        file.files.push(("v.yaml".into(), text.to_vec()));
        cases.push(file);
    }
    // What is only printed is not read, unless it is: of a CRD the name of its file is all that counts.
    cases.push(Case::chart("crds", &[("crds/x.yaml", texts[0].1.as_bytes())], &[]).with(&["--include-crds"]));
    check(&cases);
}

#[test]
fn large_but_good() {
    let many = (0..150_000).map(|n| format!("k{n}: {{a: [1, b, true], c: text}}\n")).collect::<String>();
    let text = format!("a: |\n{}", "  some text of a dashboard: [\"x\", {}], and so on\n".repeat(200_000));
    check(&[
        Case::chart("many", &[("values.yaml", many.as_bytes()), ("templates/t.yaml", EMPTY)], &[]),
        Case::chart("text", &[("values.yaml", text.as_bytes()), ("templates/t.yaml", EMPTY)], &[]),
    ]);
}

#[test]
fn flags() {
    let chart = |name, args: &[&str], error: &[&'static str]| {
        Case::chart(name, &[("templates/t.yaml", b"a: {{ .Values | toJson | quote }}\n")], error).with(args)
    };
    let deep = format!("a={}", "[".repeat(100_000));
    let dots = format!("{}=1", ["a"; 60].join("."));
    let brackets = format!("a{}=1", "[0]".repeat(20_000));
    let braces = format!("a={}", "{".repeat(100_000));
    let wide: String = (0..3000).map(|n| format!("k{n}[65536]=1,")).collect();
    let nested = format!("a{}=1", "[65536]".repeat(100));
    let comma = ",".repeat(100_000);
    check(&[
        chart(
            "index",
            &["--set", "a[999999999]=1"],
            &["failed parsing --set data", "index of 999999999 is greater than maximum supported index of 65536"],
        ),
        chart("index below", &["--set", "a[-1]=1"], &["failed parsing --set data", "negative -1 index not allowed"]),
        chart("index beyond", &["--set", "a[99999999999999999999]=1"], &["failed parsing --set data"]),
        chart(
            "dots",
            &["--set", &dots],
            &[
                "failed parsing --set data",
                "value name nested level is greater than maximum supported nested level of 30",
            ],
        ),
        chart("brackets", &["--set", &brackets], &["failed parsing --set data"]),
        chart("braces", &["--set", &braces], &["failed parsing --set data"]),
        chart("commas", &["--set", &comma], &["failed parsing --set data", "cannot end with ,"]),
        chart("wide", &["--set", &wide], &["failed parsing --set data", "exceeded maximum"]),
        chart("nested", &["--set", &nested], &["failed parsing --set data"]),
        chart("json", &["--set-json", &deep], &["failed parsing --set-json data"]),
        chart("json as a whole", &["--set-json", &"{\"a\":".repeat(20_000)], &["failed parsing --set-json"]),
        chart("literal", &["--set-literal", &dots], &["failed parsing --set-literal data"]),
        chart("file", &["--set-file", "a=/dev/zero"], &["--set-file"]),
        chart("values of zeros", &["-f", "/dev/zero"], &["/dev/zero"]),
        chart("values of a folder", &["-f", "c"], &["c"]),
    ]);
}

#[test]
fn schemas() {
    let chart = |name, schema: &str, values: &str, error: &[&'static str]| {
        let files: [(&str, &[u8]); 3] = [
            ("values.schema.json", schema.as_bytes()),
            ("values.yaml", values.as_bytes()),
            ("templates/t.yaml", EMPTY),
        ];
        Case::chart(name, &files, error)
    };
    let nested = |n: usize| format!("{}{}", r#"{"properties":{"a":"#.repeat(n), "true".to_owned() + &"}}".repeat(n));
    let all_of = |n: usize| {
        let items = [r##"{"$ref":"#/$defs/NEXT"}"##; 10].join(",");
        let defs: String = (0..n)
            .map(|i| format!(r#""d{i}":{{"allOf":[{}]}},"#, items.replace("NEXT", &format!("d{}", i + 1))))
            .collect();
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{defs}"d{n}":{{"type":"object"}}}}}}"##)
    };
    let long = format!("a: {}!\n", "a".repeat(100_000));
    check(&[
        chart("a reference to itself", r##"{"$ref":"#"}"##, "a: 1\n", &["values"]),
        chart(
            "two that refer to each other",
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
            "a: 1\n",
            &["values"],
        ),
        chart("itself below", r##"{"properties":{"a":{"$ref":"#"}}}"##, "a: {a: {a: 1}}\n", &[]),
        chart("deep", &nested(300), "a: 1\n", &["Error: values"]),
        chart("too deep", &nested(100_000), "a: 1\n", &["Error: "]),
        chart("wide and deep", &all_of(30), "a: 1\n", &["Error: "]),
        chart(
            "a pattern that goes back",
            r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#,
            &long,
            &["values don't meet the specifications of the schema"],
        ),
        chart("a pattern of Perl's", r#"{"properties":{"a":{"pattern":"^(?=(a+)+$)(a+)+$"}}}"#, &long, &["Error: "]),
        chart("a pattern that refers back", r#"{"properties":{"a":{"pattern":"^(a*)*\\1$"}}}"#, &long, &["Error: "]),
        chart("a large pattern", r#"{"properties":{"a":{"pattern":"((a{1000}){1000}){1000}"}}}"#, &long, &["Error: "]),
        chart(
            "equal items",
            r#"{"properties":{"a":{"uniqueItems":true}}}"#,
            &format!("a: [{}0]\n", (0..100_000).map(|n| format!("{n}, ")).collect::<String>()),
            &["Error: "],
        ),
        chart("not JSON", &"[".repeat(1_000_000), "a: 1\n", &["Error: "]),
        chart("a schema of the net", r#"{"$ref":"file:///dev/zero"}"#, "a: 1\n", &["Error: "]),
    ]);
}
