//! Random templates: text, actions, control flow, variables, functions with plausible and with odd arguments.
//!
//! Owns: the grammar. Functions and the types of their arguments are in functions.txt. Does not own: what is random by
//! itself (`now`, `uuidv4`, keys), which is left out, as is what Go prints in the order of its maps.

use super::tree::{Dice, Tree, operand, part, text};
#[allow(clippy::wildcard_imports, reason = "lists of words")]
use super::words::*;
use super::yaml;

struct Function {
    name: &'static str,
    gives: u8,
    takes: Vec<(bool, u8)>,
}

/// Grows templates; knows which variables and defined names are there.
pub struct Grower<'d> {
    pub dice: &'d mut Dice,
    functions: Vec<Function>,
    variables: Vec<String>,
    /// Names that `include` may use; those behind would call themselves.
    names: &'static [&'static str],
    loops: usize,
}

impl<'d> Grower<'d> {
    pub fn new(dice: &'d mut Dice) -> Self {
        let functions = include_str!("functions.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                let mut words = line.split(' ');
                let (name, gives) = words.next()?.split_once(':')?;
                let takes = words.map(|w| (w.len() > 1, w.as_bytes()[w.len() - 1])).collect();
                Some(Function { name, gives: gives.as_bytes()[0], takes })
            })
            .collect();
        Self { dice, functions, variables: Vec::new(), names: NAMES, loops: 0 }
    }

    /// The template of a case: what it defines, and its statements.
    pub fn template(&mut self) -> Tree {
        let mut all = Vec::new();
        let many = 1 + self.dice.below(4);
        for _ in 0..many {
            all.push(self.statement(2));
        }
        part(all)
    }

    /// The partials `h0`, `h1` and `h2`; each may use those before it.
    pub fn partials(&mut self) -> Tree {
        let mut all = Vec::new();
        for (i, name) in NAMES.iter().enumerate() {
            self.names = &NAMES[..i];
            let (left, right) = self.trim();
            let body = self.block(1);
            all.push(part(vec![text(format!("{{{{{left}define \"{name}\"{right}}}}}")), body, text("{{ end }}\n")]));
            self.variables.clear();
        }
        self.names = NAMES;
        part(all)
    }

    fn trim(&mut self) -> (&'static str, &'static str) {
        (
            self.dice.pick(&[" ", " ", "", "- ", "- ", "-\n", "\n", "\t", "  "]),
            self.dice.pick(&[" ", " ", "", " -", " -", "\n-", "\n", "\t", "  "]),
        )
    }

    fn literal(&mut self) -> Tree {
        let t = match self.dice.below(10) {
            0..=3 => {
                self.dice.pick(&["\n", " ", "  \n", "a", "\n\n  ", "x: ", "- ", "a: b\n", "# c\n", "\"", "k:\n  "])
            }
            4 => self.dice.pick(&[
                "}}",
                "{",
                "}",
                "{ {",
                "%}",
                "\r\n",
                "\t",
                "é😀",
                "{{\"{{\"}}",
                "'",
                "\\",
                "\u{a0}",
                "$",
                "---\n",
                "\n---\n",
                "/*",
                "*/",
                "-",
                " - ",
            ]),
            _ => return text(""),
        };
        part(vec![text(t)])
    }

    fn block(&mut self, depth: usize) -> Tree {
        let kept = self.variables.len();
        let mut all = vec![self.literal()];
        for _ in 0..=self.dice.below(2) {
            all.push(self.statement(depth));
        }
        all.push(self.literal());
        self.variables.truncate(kept);
        part(all)
    }

    fn statement(&mut self, depth: usize) -> Tree {
        let (l, r) = self.trim();
        let open = text(format!("{{{{{l}"));
        let close = text(format!("{r}}}}}"));
        let before = self.literal();
        let pick = if depth == 0 { self.dice.below(60) } else { self.dice.below(100) };
        // What is wrong ends a template; only now and then.
        let pick = if (57..60).contains(&pick) && self.dice.chance(80) { 0 } else { pick };
        match pick {
            0..=44 => {
                let pipe = self.pipeline(b'a', 3);
                part(vec![before, open, pipe, close])
            }
            45..=51 => {
                let pipe = self.pipeline(b'a', 3);
                let name = self.dice.pick(&["$x", "$y", "$v1", "$é", "$_"]);
                let how = if self.variables.iter().any(|v| v == name) && self.dice.chance(70) {
                    " = "
                } else {
                    self.dice.pick(&[" := ", " := ", ":=", " = "])
                };
                self.variables.push(name.to_owned());
                part(vec![before, open, text(format!("{name}{how}")), pipe, close])
            }
            52..=54 => part(vec![
                before,
                text(self.dice.pick(&[
                    "{{/* c */}}",
                    "{{- /* c */ -}}",
                    "{{ /* c */ }}",
                    "{{/* a\n}} */}}",
                    "{{-/* c */}}",
                    "{{/* c */ -}}",
                    "{{/* c }}",
                    "{{- /* c */}}",
                    "{{/* c */x}}",
                    "{{/**/}}",
                    "{{/*/}}",
                ])),
            ]),
            55..=56 => {
                let name = self.dice.pick(NAMES);
                let arg = self.expression(b'a', 1);
                let word = if self.names.is_empty() { "print" } else { "template" };
                let name = if self.names.is_empty() { name } else { self.dice.pick(self.names) };
                part(vec![before, open, text(format!("{word} \"{name}\" ")), arg, close])
            }
            57..=58 => part(vec![
                before,
                open,
                text(self.dice.pick(&[
                    "break",
                    "continue",
                    "else",
                    "end",
                    "break",
                    "continue",
                    "nope",
                    "if",
                    "range",
                    "1 2",
                    "$q",
                    ".",
                    "\"a\"",
                    "| 1",
                    "nil",
                    "$x = ",
                    "template",
                    "define \"q\"",
                    "()",
                    "-",
                    "1 |",
                    ".a.",
                    "..",
                    ". a",
                    "else if",
                    "else with .",
                    "block",
                    "if .x else",
                    "$",
                    "$.",
                    "'ab'",
                    "\"a\nb\"",
                    "`",
                    "0x",
                    "1a",
                    "1.2.3",
                    "(",
                    ")",
                    "a.b",
                    ",",
                    ":",
                    "=",
                    "@",
                    "\\",
                    "\u{0}",
                    "é",
                    ".é",
                    "1é",
                    "/* x",
                    "08",
                    "1i",
                    "{{",
                    "}",
                    "\"\\q\"",
                    "''",
                    "$x, $y := .",
                    ".Values.a-b",
                    "1.Foo",
                    "\"a\".b",
                    "nil.a",
                    "true.b",
                    "len.a",
                    "(1).a",
                    "not",
                    "print | 1",
                ])),
                close,
            ]),
            59 => part(vec![
                before,
                text(self.dice.pick(&[
                    "{{",
                    "{{-",
                    "{{- }}",
                    "{{}}",
                    "{{ }}",
                    "{{-}}",
                    "{{ -}}",
                    "{{--}}",
                    "{{- -}}",
                    "{{-1}}",
                    "{{- 1-}}",
                    "{{1 -}}",
                    "{{ - 1 }}",
                    "{{3-}}",
                    "{{\n}}",
                ])),
            ]),
            60..=74 => {
                let cond = self.pipeline(b'b', 2);
                let mut all = vec![before, open, text("if "), cond, close, self.block(depth - 1)];
                for _ in 0..self.dice.below(3).saturating_sub(1) {
                    let (l, r) = self.trim();
                    let cond = self.pipeline(b'b', 2);
                    all.push(part(vec![
                        text(format!("{{{{{l}else if ")),
                        cond,
                        text(format!("{r}}}}}")),
                        self.block(depth - 1),
                    ]));
                }
                all.push(self.otherwise(depth));
                all.push(self.end());
                part(all)
            }
            75..=84 => {
                let head = self.dice.pick(&["", "", "$x := ", "$x, $y := ", "$y, $x = ", "$i, $e := ", "$x = "]);
                let kept = self.variables.len();
                for v in head.split([',', ' ']).filter(|v| v.starts_with('$')) {
                    self.variables.push(v.to_owned());
                }
                let kind = *[b'l', b'm', b'i', b'a', b'l', b'm'].get(self.dice.below(6)).unwrap_or(&b'l');
                let over = if kind == b'i' {
                    operand(vec![text(self.dice.pick(&[
                        "3",
                        "0",
                        "-1",
                        "2",
                        "(int 2)",
                        ".Values.i",
                        "1.5",
                        "'a'",
                        "\"abc\"",
                    ]))])
                } else {
                    self.pipeline(kind, 2)
                };
                self.loops += 1;
                let body = self.block(depth - 1);
                self.loops -= 1;
                self.variables.truncate(kept);
                part(vec![
                    before,
                    open,
                    text("range "),
                    text(head),
                    over,
                    close,
                    body,
                    self.otherwise(depth),
                    self.end(),
                ])
            }
            85..=93 => {
                let head = self.dice.pick(&["", "", "$x := ", "$y := "]);
                let kept = self.variables.len();
                if !head.is_empty() {
                    self.variables.push(head[..2].to_owned());
                }
                let over = self.pipeline(b'a', 2);
                let body = self.block(depth - 1);
                self.variables.truncate(kept);
                part(vec![
                    before,
                    open,
                    text("with "),
                    text(head),
                    over,
                    close,
                    body,
                    self.otherwise(depth),
                    self.end(),
                ])
            }
            94..=96 => {
                let over = self.expression(b'a', 1);
                let name = self.dice.pick(&["q", "h0", "q2"]);
                let kept = std::mem::take(&mut self.variables);
                let names = std::mem::take(&mut self.names);
                let body = self.block(depth - 1);
                self.variables = kept;
                self.names = names;
                part(vec![before, open, text(format!("block \"{name}\" ")), over, close, body, self.end()])
            }
            _ => {
                let kept = std::mem::take(&mut self.variables);
                let names = std::mem::take(&mut self.names);
                let name = self.dice.pick(&["q", "h1", "h0"]);
                let body = self.block(0);
                self.variables = kept;
                self.names = names;
                part(vec![before, open, text(format!("define \"{name}\"")), close, body, self.end()])
            }
        }
    }

    fn otherwise(&mut self, depth: usize) -> Tree {
        if self.dice.chance(65) {
            return text("");
        }
        let (l, r) = self.trim();
        part(vec![text(format!("{{{{{l}else{r}}}}}")), self.block(depth - 1)])
    }

    fn end(&mut self) -> Tree {
        let (l, r) = self.trim();
        text(if self.dice.chance(100) { format!("{{{{{l}end{r}}}}}") } else { String::new() })
    }

    fn pipeline(&mut self, kind: u8, depth: usize) -> Tree {
        let steps = [0, 0, 0, 1, 1, 2][self.dice.below(6)];
        let mut all = Vec::new();
        let mut now = if steps == 0 { kind } else { [b's', b'i', b'l', b'm', b'a', b'f'][self.dice.below(6)] };
        all.push(self.bare(now, depth));
        for i in 0..steps {
            let last = i + 1 == steps;
            let fits: Vec<usize> = (0..self.functions.len())
                .filter(|&f| {
                    let f = &self.functions[f];
                    f.takes
                        .last()
                        .is_some_and(|t| t.1 == now || t.1 == b'a' || (now == b's' && b"rFvcyjdupwkn".contains(&t.1)))
                        && (!last || kind == b'a' || f.gives == kind)
                })
                .collect();
            let f = if fits.is_empty() || self.dice.chance(5) {
                self.dice.below(self.functions.len())
            } else {
                fits[self.dice.below(fits.len())]
            };
            let call = self.call(f, depth.saturating_sub(1), true);
            all.push(part(vec![text(self.dice.pick(&[" | ", " | ", " | ", "|", " |\n "])), call]));
            now = self.functions[f].gives;
        }
        operand(all)
    }

    /// An expression without parentheses around it.
    fn bare(&mut self, kind: u8, depth: usize) -> Tree {
        if depth == 0 || self.dice.chance(30) {
            return self.leaf(kind);
        }
        let fits: Vec<usize> = (0..self.functions.len())
            .filter(|&f| kind == b'a' || self.functions[f].gives == kind || self.functions[f].gives == b'a')
            .collect();
        if fits.is_empty() {
            return self.leaf(kind);
        }
        let f = fits[self.dice.below(fits.len())];
        self.call(f, depth - 1, false)
    }

    fn call(&mut self, f: usize, depth: usize, piped: bool) -> Tree {
        let Function { name, ref takes, .. } = self.functions[f];
        let takes = takes.clone();
        if name == "include" && self.names.is_empty() {
            return text("print");
        }
        let mut all = vec![text(name)];
        let mut kinds = Vec::new();
        for (many, kind) in takes {
            let n = if many { self.dice.below(4) } else { 1 };
            kinds.extend(std::iter::repeat_n(kind, n));
        }
        if piped {
            kinds.pop();
        }
        for kind in kinds {
            let kind = if self.dice.chance(2) { b"silmafb"[self.dice.below(7)] } else { kind };
            let arg = self.expression(kind, depth);
            all.push(part(vec![text(" "), arg]));
        }
        if self.dice.chance(1) && self.dice.chance(50) {
            all.push(part(vec![text(" 1")]));
        }
        operand(all)
    }

    fn expression(&mut self, kind: u8, depth: usize) -> Tree {
        if depth == 0 || self.dice.chance(50) {
            return self.leaf(kind);
        }
        let inner = if self.dice.chance(30) { self.pipeline(kind, depth - 1) } else { self.bare(kind, depth - 1) };
        let after =
            if self.dice.chance(2) { self.dice.pick(&[".x", ".Major", ".a.b", ".String", ".host"]) } else { "" };
        operand(vec![text("("), inner, text(")"), text(after)])
    }

    fn leaf(&mut self, kind: u8) -> Tree {
        if !self.variables.is_empty() && b"asilm".contains(&kind) && self.dice.chance(25) {
            let v = self.dice.below(self.variables.len());
            let v = self.variables[v].clone();
            let after = if self.dice.chance(15) { self.dice.pick(&[".x", ".m.x", ".Values.s", ".Name"]) } else { "" };
            return operand(vec![text(format!("{v}{after}"))]);
        }
        let d = &mut *self.dice;
        let t = match kind {
            b's' if d.chance(30) => d.pick(&[
                ".Values.s",
                ".Values.odd",
                ".Release.Name",
                ".Values.m.x",
                "$.Chart.Name",
                ".Template.Name",
                ".Values.text",
            ]),
            b's' => d.pick(STRINGS),
            b'i' if d.chance(20) => {
                d.pick(&[".Values.i", ".Values.big", ".Release.Revision", "(len .Values.l)", "(int .Values.i)"])
            }
            b'i' => d.pick(INTS),
            b'f' => d.pick(FLOATS),
            b'b' => d.pick(&[
                "true",
                "false",
                ".Values.t",
                ".Values.z",
                ".Values.nope",
                "(eq 1 1)",
                ".Release.IsInstall",
                ".Values.s",
                ".Values.m",
                ".Values.l",
                "0",
                "\"\"",
            ]),
            b'm' => d.pick(MAPS),
            b'l' => d.pick(LISTS),
            b'r' => d.pick(PATTERNS),
            b'v' => d.pick(VERSIONS),
            b'c' => d.pick(CONSTRAINTS),
            b'y' | b'j' if d.chance(75) => d.pick(DOCUMENTS),
            b'y' => return operand(vec![text(go_quoted(&yaml::stream(d, false).shown()))]),
            b'j' => d.pick(&[
                "(toJson .Values)",
                "(toYaml .Values.m)",
                "(toJson .Values.l)",
                ".Values.text",
                "(.Files.Get \"f.yaml\")",
            ]),
            b'd' => d.pick(LAYOUTS),
            b'u' => d.pick(DURATIONS),
            b't' => d.pick(TIMES),
            b'p' => d.pick(PATHS),
            b'w' => d.pick(ADDRESSES),
            b'k' => d.pick(TYPES),
            b'n' if self.names.is_empty() => "\"\"",
            b'n' => &format!("\"{}\"", d.pick(self.names)),
            b'F' => {
                let mut f = String::from("\"");
                for _ in 0..=d.below(3) {
                    f.push_str(d.pick(VERBS));
                    f.push_str(d.pick(&["", " ", "a"]));
                }
                f.push('"');
                return operand(vec![text(f)]);
            }
            _ => match d.below(8) {
                0 => d.pick(STRINGS),
                1 => d.pick(INTS),
                2 => d.pick(FLOATS),
                3 => d.pick(MAPS),
                4 => d.pick(LISTS),
                5 if d.chance(8) => d.pick(WRONG),
                _ => d.pick(ANYTHING),
            },
        };
        operand(vec![text(t)])
    }
}

/// A text as a Go string.
pub fn go_quoted(t: &str) -> String {
    let mut out = String::from("\"");
    for c in t.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 32 || c as u32 == 127 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
