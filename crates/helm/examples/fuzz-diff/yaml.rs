//! Random YAML: plain and odd scalars, block and flow style, comments, anchors, tags, streams of documents.
//!
//! Owns: the grammar. Does not own: noise that breaks it (`main`). Aims at what a reader that takes shortcuts may get
//! wrong: indentation, what ends a plain scalar, block scalars, and where the errors are said to be.

use super::tree::{Dice, Tree, part, text};

const PLAIN: &[&str] = &[
    "a",
    "b",
    "key",
    "true",
    "True",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "~",
    "null",
    "Null",
    "NULL",
    "",
    "0",
    "1",
    "-1",
    "+1",
    "007",
    "08",
    "0o17",
    "0x1F",
    "0X1f",
    "0b11",
    "-0b1",
    "1_000",
    "_1",
    "1__0",
    "0_7",
    "1e3",
    "1E-3",
    "1e400",
    "-0",
    "-0.0",
    ".5",
    "5.",
    "1.",
    "1.0",
    "1.50",
    "100000000000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "0.1",
    "1e21",
    "123456789012345678",
    "1e-7",
    ".inf",
    "-.inf",
    "+.Inf",
    ".nan",
    ".NaN",
    ".",
    "..",
    "1.2.3",
    "2001-01-01",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43",
    "2001-1-1",
    "12:30",
    "1:2:3",
    "=",
    "<<",
    "a b",
    "a  b",
    "a#b",
    "a #b",
    "a:b",
    "a: b",
    "a :b",
    "-a",
    "- a",
    "-",
    "--",
    "?a",
    "? a",
    ":a",
    ":",
    "a:",
    "*x",
    "*",
    "&x",
    "& a",
    "!a",
    "!!str",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "{}",
    "[]",
    "{",
    "}",
    "[",
    "]",
    ",",
    "a,b",
    "a, b",
    "\"",
    "'",
    "'a",
    "a'b",
    "a\"b",
    "\\n",
    "é",
    "日本",
    "\u{85}",
    "\u{a0}a",
    "\u{2028}",
    "\u{feff}",
    "😀",
    "{{ a }}",
    "a\tb",
    "\ta",
    "#a",
    "# a",
    "http://a.b/c?d=e#f",
    "a]",
    "a}",
    "---",
    "--- a",
    "...",
    "a---",
    "0x",
    "0x_1",
    "1e",
    "+",
    "+.5",
    "-.5",
    "0.",
    "Infinity",
    "nan",
    "1,000",
    "0b2",
    "0o8",
    "0777",
    "-0777",
    "1e+2",
    "1.e2",
    "0x1p-2",
    "1_0.5_0",
    "190:20:30",
    "!!binary",
    "a\u{7f}b",
    "\u{1}",
];
const QUOTED: &[&str] = &[
    "\"\"",
    "''",
    "\"a\"",
    "'a'",
    "\"a\\nb\"",
    "'it''s'",
    "\"\\x41\\u00e9\\U0001F600\"",
    "\"\\q\"",
    "\"a\\\n  b\"",
    "\"a\n  b\"",
    "'a\n\n  b'",
    "\"a\nb\"",
    "\"\\t\\0\\a\\e\\N\\_\\L\\P\\/\"",
    "\"1\"",
    "'true'",
    "\"~\"",
    "\"a: b\"",
    "\" a \"",
    "\"\\ud83d\\ude00\"",
    "\"a\" b",
    "'a' # c",
    "\"a\":b",
    "\"unclosed",
    "'unclosed",
    "\"a\\ \n b\"",
    "\"\t\"",
    "\"#\"",
    "'#' #c",
    "\"a\"#b",
    "\"\\u12\"",
    "'\\n'",
    "\"{{\"",
    "\"a\nb: c\"",
];
const KEYS: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "m",
    "l",
    "s",
    "n",
    "a b",
    "1",
    "1.5",
    "true",
    "null",
    "~",
    "yes",
    "\"q\"",
    "'s'",
    "a.b",
    "a-b",
    "a/b",
    "x:y",
    "-k",
    "<<",
    "é",
    "\"\"",
    "0x10",
    "[a]",
    "{a: b}",
    "*x",
    "&k k",
    "!!str 1",
    "? q",
    "2001-01-01",
    "",
    "a#",
    "\"a\\nb\"",
    "y",
    "1e3",
    ".5",
];

fn scalar(d: &mut Dice, indent: usize) -> Tree {
    match d.below(20) {
        0..=5 => text(d.pick(PLAIN)),
        6..=11 => text(d.pick(&["a", "b c", "1", "2", "true", "x-y", "v1.2"])),
        12..=14 => text(d.pick(QUOTED)),
        15..=17 => block_scalar(d, indent),
        _ => {
            let pad = " ".repeat(indent + d.below(3));
            let a = d.pick(&["a", "b c", "1", "x"]);
            let b = d.pick(&["d", "e f", "- g", "# h", "i: j", "2", "k #l"]);
            let gap = d.pick(&["\n", "\n\n", " \n", "\n \n", "\n\t\n"]);
            part(vec![text(format!("{a}{gap}{pad}{b}"))])
        }
    }
}

fn block_scalar(d: &mut Dice, indent: usize) -> Tree {
    let head = if d.chance(60) {
        d.pick(&["|", "|-", ">", "|+", ">-"])
    } else {
        d.pick(&[
            "|", "|-", "|+", ">", ">-", ">+", "|2", "|1", ">2-", "|-2", "|+1", "| # c", "|#c", "|0", "|9", "> ", "|x",
            ">-\t", "!!str |", "&x |",
        ])
    };
    let pad = if d.chance(93) { indent + 1 } else { d.below(4) };
    let mut all = vec![text(head), text("\n")];
    for _ in 0..d.below(5) {
        let extra = " ".repeat(d.below(8).saturating_sub(5));
        let line =
            d.pick(&["a", "b c", "# d", "- e", "f: g", "", " ", "\t", "\th", "---", "i ", "\"j", "{{", "  k", "..."]);
        let pad = if line.is_empty() { String::new() } else { " ".repeat(pad) };
        all.push(part(vec![text(format!("{pad}{extra}{line}\n"))]));
    }
    part(all)
}

fn decoration(d: &mut Dice) -> &'static str {
    if d.chance(93) {
        return "";
    }
    d.pick(&[
        "&x ",
        "&y ",
        "!!str ",
        "!!int ",
        "!!float ",
        "!!bool ",
        "!!null ",
        "!!map ",
        "!!seq ",
        "!!binary ",
        "!!set ",
        "!!omap ",
        "!!timestamp ",
        "!foo ",
        "!<tag:yaml.org,2002:str> ",
        "!!merge ",
        "! ",
        "&x !!str ",
        "!!str &x ",
        "!e!a ",
        "&x &y ",
        "!!foo ",
    ])
}

fn flow(d: &mut Dice, depth: usize) -> Tree {
    let gap = |d: &mut Dice| d.pick(&["", " ", " ", " ", "  ", "\n  ", "\n", " # c\n  "]);
    let many = d.below(4);
    let mut all = Vec::new();
    let list = d.chance(50);
    all.push(text(if list { "[" } else { "{" }));
    for i in 0..many {
        let mut item = vec![text(if i > 0 { "," } else { "" }), text(gap(d))];
        if !list || d.chance(15) {
            item.push(text(if d.chance(70) { d.pick(&["a", "b", "c", "\"d\""]) } else { d.pick(KEYS) }));
            item.push(text(d.pick(&[": ", ": ", ": ", ": ", ": ", ": ", ": ", ":", " : ", " "])));
        }
        item.push(text(decoration(d)));
        item.push(if depth > 0 && d.chance(30) {
            flow(d, depth - 1)
        } else if d.chance(25) {
            text(d.pick(QUOTED))
        } else if d.chance(40) {
            text(d.pick(&["a", "b c", "1", "true", "x-y", "", "1.5"]))
        } else {
            text(d.pick(PLAIN))
        });
        item.push(text(gap(d)));
        all.push(part(item));
    }
    if d.chance(10) {
        all.push(part(vec![text(",")]));
    }
    all.push(part(vec![text(if d.chance(97) { if list { "]" } else { "}" } } else { "" })]));
    part(all)
}

/// What stands behind `key:` or `-`, with the end of its line.
fn value(d: &mut Dice, indent: usize, depth: usize, in_list: bool) -> Tree {
    let mark = decoration(d);
    let end = if d.chance(90) { "\n" } else { d.pick(&[" # c\n", "  \n", "\t\n", "#c\n", "\r\n", " #\n"]) };
    match d.below(10) {
        0..=2 if depth > 0 => {
            let deeper = indent + [2, 2, 2, 2, 2, 2, 2, 2, 1, 4, 0][d.below(11)];
            let before = if in_list && d.chance(60) { " ".to_owned() } else { format!("\n{}", " ".repeat(deeper)) };
            let deeper = if before == " " { indent + 2 } else { deeper };
            let inner = if d.chance(60) { mapping(d, deeper, depth - 1) } else { sequence(d, deeper, depth - 1) };
            let mark = if mark.is_empty() { String::new() } else { format!(" {}", mark.trim_end()) };
            part(vec![text(mark), text(before), inner])
        }
        3 => part(vec![text(" "), text(mark), flow(d, 2), text(end)]),
        4 if d.chance(15) => part(vec![text(" "), text(mark), text(d.pick(&["*x", "*y", "*k", "*z"])), text(end)]),
        _ => part(vec![text(" "), text(mark), scalar(d, indent + 1), text(end)]),
    }
}

fn lead(d: &mut Dice, i: usize, indent: usize) -> String {
    let pad = |n: usize| " ".repeat(n);
    if i == 0 {
        return String::new();
    }
    let noise = match d.below(40) {
        0 => "\n".to_owned(),
        1 => format!("{}# c\n", pad(d.below(6))),
        2 => "  \n".to_owned(),
        3 => "\t\n".to_owned(),
        _ => String::new(),
    };
    let off = if d.chance(1) { d.below(4) } else { indent };
    format!("{noise}{}", pad(off))
}

/// A mapping whose first line has its indentation already.
fn mapping(d: &mut Dice, indent: usize, depth: usize) -> Tree {
    let mut all = Vec::new();
    for i in 0..=d.below(4) {
        let key =
            if d.chance(85) { if d.chance(95) { ["a", "b", "c", "d", "e"][i % 5] } else { "a" } } else { d.pick(KEYS) };
        let colon = if d.chance(98) { ":" } else { d.pick(&[" :", "", "\t:", ":\t", "::"]) };
        let lead = lead(d, i, indent);
        all.push(part(vec![text(lead), text(key), text(colon), value(d, indent, depth, false)]));
    }
    part(all)
}

fn sequence(d: &mut Dice, indent: usize, depth: usize) -> Tree {
    let mut all = Vec::new();
    for i in 0..=d.below(4) {
        let lead = lead(d, i, indent);
        all.push(part(vec![text(lead), text("-"), value(d, indent, depth, true)]));
    }
    part(all)
}

/// One document or several. `maps` keeps to mappings at the top, as values have to be.
pub fn stream(d: &mut Dice, maps: bool) -> Tree {
    let mut all = Vec::new();
    let many = if d.chance(85) { 1 } else { 1 + d.below(3) };
    for i in 0..many {
        if i > 0 || d.chance(8) {
            all.push(part(vec![text(d.pick(&[
                "---\n",
                "---\n",
                "---\n",
                "--- # c\n",
                "...\n",
                "---\n---\n",
                "--- \n",
                "---a\n",
                "...\n---\n",
                "%YAML 1.1\n---\n",
                "\n---\n",
            ]))]));
        }
        if d.chance(6) {
            all.push(part(vec![text(d.pick(&["# c\n", "\n", " # c\n", "\u{feff}", "#\n", "\t\n", "  \n"]))]));
        }
        all.push(match d.below(10) {
            0 if !maps => part(vec![scalar(d, 0), text("\n")]),
            1 => part(vec![flow(d, 3), text("\n")]),
            2 | 3 if !maps => sequence(d, 0, 3),
            _ => mapping(d, 0, 3),
        });
    }
    part(all)
}
