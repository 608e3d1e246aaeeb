//! A case: the parts of a chart and the user's values, as trees.
//!
//! Owns: which parts there are, and how a seed becomes one of four themes: templates, templates with noise, YAML as data,
//! YAML as manifests. Does not own: grammars.

use super::ours::Files;
use super::templates::Grower;
use super::tree::{Dice, Tree, part, text};
use super::yaml;

const CHART: &str = "apiVersion: v2\nname: c\nversion: 0.1.0\nappVersion: \"1.16.0\"\ndescription: a chart\ntype: application\n\
keywords: [k1, k2]\nmaintainers: [{name: m, email: m@x}]\nannotations: {note: yes please}\n";

#[derive(Clone)]
pub struct Case {
    /// Name of the file, and what is in it. `-` is the user's values.
    pub parts: Vec<(&'static str, Tree)>,
}

impl Case {
    pub fn grow(seed: u64) -> Self {
        let mut d = Dice(splitmix::Random(seed));
        let theme = d.below(100);
        let mut parts = Vec::new();
        if theme < 62 {
            parts.push(("values.yaml", values(&mut d)));
            if d.chance(25) {
                parts.push(("-", part(vec![text("user: 1\n"), yaml::stream(&mut d, true)])));
            }
            if d.chance(30) {
                parts.push(("f.yaml", yaml::stream(&mut d, false)));
            }
            let mut g = Grower::new(&mut d);
            let partials = g.partials();
            let template = g.template();
            let body = if d.chance(20) {
                part(vec![text("a: b\n"), template])
            } else {
                let (open, close) = if d.chance(30) {
                    ("{{ define \"x\" }}", "{{ end }}")
                } else {
                    ("{{- define \"x\" -}}\n", "{{- end }}\n")
                };
                parts.push(("templates/_x.tpl", part(vec![text(open), template, text(close)])));
                text("r: {{ include \"x\" . | quote }}\n")
            };
            parts.push(("templates/_h.tpl", partials));
            parts.push(("templates/a.yaml", body));
        } else if theme < 85 {
            let show = "r: {{ toYaml .Values | quote }}\nj: {{ toJson .Values | quote }}\np: {{ toYamlPretty .Values | quote }}\n";
            let file = "y: {{ .Files.Get \"f.yaml\" | fromYaml | toJson | quote }}\na: {{ .Files.Get \"f.yaml\" | fromYamlArray | toYaml | quote }}\n";
            parts.push((["-", "values.yaml"][d.below(2)], yaml::stream(&mut d, true)));
            parts.push(("f.yaml", yaml::stream(&mut d, false)));
            parts.push(("templates/a.yaml", part(vec![part(vec![text(show)]), part(vec![text(file)])])));
        } else {
            let hook = d.pick(&[
                "",
                "",
                "metadata:\n  annotations:\n    helm.sh/hook: pre-install, test\n",
                "kind: ConfigMap\n",
                "apiVersion: v1\nkind: Secret\n",
                "metadata:\n  annotations:\n    \"helm.sh/hook\": post-install\n    \"helm.sh/hook-weight\": \"5\"\n",
            ]);
            parts.push(("templates/a.yaml", part(vec![part(vec![text(hook)]), yaml::stream(&mut d, false)])));
            if d.chance(40) {
                parts.push(("templates/b.yaml", part(vec![text("kind: Service\n"), yaml::stream(&mut d, true)])));
            }
        }
        let mut case = Self { parts };
        if d.chance(if theme < 62 { 12 } else { 15 }) {
            let i = d.below(case.parts.len());
            if case.parts[i].0 != "values.yaml" {
                let t = noise(&mut d, &case.parts[i].1.shown());
                case.parts[i].1 = part(lines(&t));
            }
        }
        case
    }

    pub fn files(&self) -> (Files, Vec<u8>) {
        let mut files = Files::from([("Chart.yaml".to_owned(), CHART.as_bytes().to_vec())]);
        let mut user = Vec::new();
        for (name, tree) in &self.parts {
            let data = tree.shown().into_bytes();
            if *name == "-" {
                user = data;
            } else if !data.is_empty() {
                files.insert((*name).to_owned(), data);
            }
        }
        (files, user)
    }

    pub fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for i in 0..self.parts.len() {
            if self.parts[i].0 != "templates/a.yaml" {
                let mut parts = self.parts.clone();
                parts.remove(i);
                found.push(Self { parts });
            }
        }
        for (i, (_, tree)) in self.parts.iter().enumerate() {
            for t in tree.smaller() {
                let mut parts = self.parts.clone();
                parts[i].1 = t;
                found.push(Self { parts });
            }
        }
        found
    }
}

/// Values that templates find something in.
fn values(d: &mut Dice) -> Tree {
    let scalar = |d: &mut Dice| {
        d.pick(&[
            "1",
            "abc",
            "\"a b\"",
            "1.5",
            "null",
            "true",
            "1000000",
            "12345678",
            "\"\"",
            "\"1\"",
            "-7",
            "1e21",
            "0.1",
            "[]",
            "{}",
            "[1, x]",
            "{x: 1}",
            "\"é\\n\"",
            "2001-01-01",
            "0x1F",
            "100000000000000000000",
            "\"<a>\"",
            "yes",
        ])
        .to_owned()
    };
    let mut all = Vec::new();
    for (key, usual) in [
        ("s", &["abc", "\"Hello World\"", "\"é😀\"", "\"{{ .Values.i }}\"", "\"a,b\""][..]),
        ("i", &["1", "42", "-3", "1234567", "2345678"]),
        ("f", &["1.5", "0.1", "1e30", "-2.0"]),
        ("t", &["true", "false"]),
        ("z", &["null", "~"]),
        ("e", &["\"\"", "{}", "[]", "0"]),
        ("l", &["[1, 2, 3]", "[b, a, c]", "[1, x, null, 2.5, true]", "[{x: 1}, {x: 2}]", "[[1], [2, 3]]"]),
        ("ll", &["[]", "[a]", "[\"\", a, a]"]),
        (
            "m",
            &["{x: 1, y: {z: 2}, l: [1]}", "{x: s, m: {a: b}}", "{b: 1, a: 2, \"1\": x}", "{x: null, y: {z: {w: 1}}}"],
        ),
        ("mm", &["{}", "{a: {b: [1, {c: null}]}}"]),
        ("big", &["9007199254740993", "9223372036854775807", "1e18", "100000000000000000000"]),
        (
            "odd",
            &[
                "\"a: b\"",
                "\"- x\"",
                "\"#\"",
                "\"\\t\"",
                "\"null\"",
                "\"012\"",
                "\" x \"",
                "\"a\\nb\\n\"",
                "\"\\\"q'\"",
            ],
        ),
        ("text", &["\"a: 1\\nb: [1, 2]\\n\"", "\"{}\"", "\"- 1\"", "'{\"a\": [1]}'"]),
        ("a-b", &["1", "x"]),
    ] {
        let v = if d.chance(85) { d.pick(usual).to_owned() } else { scalar(d) };
        all.push(part(vec![text(format!("{key}: {v}\n"))]));
    }
    part(all)
}

/// A few characters taken out, put in or doubled.
fn noise(d: &mut Dice, t: &str) -> String {
    let mut chars: Vec<char> = t.chars().collect();
    for _ in 0..=d.below(3) {
        let at = d.below(chars.len() + 1);
        match d.below(4) {
            0 if at < chars.len() => {
                chars.remove(at);
            }
            1 if at < chars.len() => {
                let end = (at + 1 + d.below(6)).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, piece);
            }
            _ => {
                let new = d.pick(&[
                    " ", "\n", "\t", "{", "}", "{{", "}}", "-", ":", "#", "\"", "'", "|", "(", ")", ".", "$", "*", "&",
                    "!", "[", "]", ",", "\\", "\r", "é", "\u{feff}", "\u{0}", "`", "%", "@", "=", "1", "a", "/*", "*/",
                    "- ", ": ", "\u{85}", "\u{2028}",
                ]);
                chars.splice(at..at, new.chars());
            }
        }
    }
    chars.into_iter().collect()
}

fn lines(t: &str) -> Vec<Tree> {
    t.split_inclusive('\n').map(|l| part(vec![text(l)])).collect()
}
