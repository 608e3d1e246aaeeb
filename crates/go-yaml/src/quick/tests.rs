//! What is read quickly is what the grammar reads.

use splitmix::Random;

use super::*;
use crate::Duplicates;
use crate::document::by_grammar;
use crate::target::{ForManifests, ForTemplates};

/// Compare both ways of reading a text. Was it read quickly?
fn agree(text: &str) -> bool {
    let mut quick = false;
    for duplicates in [Duplicates::LastWins, Duplicates::Refuse] {
        let Some(got) = read::<ForManifests>(text.as_bytes(), duplicates == Duplicates::Refuse) else { continue };
        quick = true;
        match by_grammar::<ForManifests>(text.as_bytes(), duplicates) {
            Ok(want) => assert_eq!(got.to_string(), want.to_string(), "{text:?}"),
            Err(e) => panic!("the grammar refuses what was read: {text:?}: {e}"),
        }
    }
    if let Some(got) = read::<ForTemplates>(text.as_bytes(), false) {
        let want = by_grammar::<ForTemplates>(text.as_bytes(), Duplicates::LastWins).unwrap();
        assert_eq!(go_value::json::encode(&got).unwrap(), go_value::json::encode(&want).unwrap(), "{text:?}");
    }
    let wanted = |key: &str| ["a", "kind", "metadata", "false"].contains(&key);
    if let Some(got) = read_entries::<ForManifests>(text.as_bytes(), wanted) {
        let mut want = by_grammar::<ForManifests>(text.as_bytes(), Duplicates::LastWins).unwrap();
        if let Some(entries) = want.as_object_mut() {
            entries.retain(|key, _| wanted(key));
        }
        assert_eq!(serde_json::Value::Object(got), want, "{text:?}");
    }
    quick
}

/// Pieces that charts are made of; each is read quickly.
const USUAL: &[&str] = &[
    "",
    "# only a comment\n",
    "---\na: b\n",
    "n: 1\nb: 2\n",
    "a: 1\nb: 0x1f\nc: 1.5\nd: true\ne: ~\nf: on\ng: 2001-12-14\nh: 1_000\ni: .5\n",
    "a:\n  b:\n    c: d\n  e: f\ng: h",
    "a:\n- b\n- c: d\n  e: f\n-   g: h\n    i: j\n- - k\n  - l\n-\n  m: n\n-\n",
    "a:\n  - b # comment\n  # another\n\n  - \"c: # d\"\n  - 'it''s'\n",
    "a: \"x\\\"y\\\\z\\n\\t/\"\n\"b c\": 'd'\n",
    "a: one\n  two\n\n  three - four\nb: c\n",
    "a:\n  one two\n  three\nb:\n  \"quoted\"\n",
    "a: |\n  one\n\n    two\n  three\n\nb: |-\n  x\n\nc: |+\n  y\n\n\nd: >\n  one\n  two\n\n  three\n    four\n  five\ne: >-\n  z\n",
    "a: |\n  last line without an end",
    "a: []\nb: {}\nc: [1, \"two\", three, [4], {five: 6}]\nd: {\"a\":1, b: c, 'd': []}\n",
    "a: http://x/y#z\nb: a:b\nc: -x\nd: x # y\ne: :x\nf: x:\u{e9}\n",
    "- a\n b\n",
    "a: \"one\n  two \\\" \n\n  three\"\nb: 'one\n\n  it''s '\n",
    "a: [1,\n  \"two\", # comment\n  three four\n]\nb: {\n  c: d e,\n  'f': [\n  g\n  ]}\n",
    "a: b\n---\nc: [\n",
    "a: b\n...\n",
    "a: |\n  b\n---",
    "a: |\nb: >-\n\n  # comment\nc: d\n",
    "{}\n",
    "[a, b]",
    "null",
    "just text\n",
    "\"quoted\"\n",
    "a: \"one\n two\"\nb: \"three\\\n  four \\  \n  \\ five \\\n\n  six\\n\n  seven\"\n",
    "- &x a\n- *x\n",
    "a: &x b\nc: *x\nd:\n- *x\n- e: *x # f\n",
    "a: &x \"1\"\nb: *x\nc: &x 2 # two\nd: *x\ne: &y-1 f\n  g\nh: &z null\ni: *y-1\nj: *z\n",
    "a: \"\\x41\\u00e9\\U0001f600\\0\\r\\' \\u0020\n  \\u2028\"\n",
    "a: \"one\\t\n  two\\n\\t\n\n  three\"\n",
    "1: a\ntrue: b\n1.5: c\n-1: d\n",
    "a: 1\na: 2\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  annotations:\n    a/b.c: \"1\"\ndata:\n  k: |\n    #!/bin/sh\n    a: b\n",
];

/// Pieces that are left to the grammar.
const UNUSUAL: &[&str] = &[
    "a: &x\n  b: c\nd: *x\n",
    "a: &x [b]\nc: *x\n",
    "a: &x |\n  b\nc: *x\n",
    "a: *x\nb: &x c\n",
    "a: &x b\n*x : c\n",
    "a: !!str 1\n",
    "<<: {a: b}\n",
    "? a\n: b\n",
    "a: b\n---c: d\n",
    "a: .inf\n",
    "null: a\n",
    "18446744073709551615: a\n",
    "a: b: c\n",
    "a:\n  b: \"one\n two\"\n",
    "a: \"\\e\"\n",
    "a: [1\n  2]\n",
    "a:\tb\n",
    "a: b\r\nc: d\r\n",
    "a:\n    b: c\n  d: e\n",
    "a: |2\n   b\n",
    "just text\n two\n",
    "a: [x?]\n",
    "a: b\n- c\n",
    "a: \"b\t\n  c\"\n",
    "a: \"\\ud800\"\n",
    "a: \"\\x4\"\n",
    "a: \"\\U00110000\"\n",
    "a: 'b' c\n",
    "%YAML 1.1\n---\na: b\n",
    "a: \u{85}b\n",
];

#[test]
fn usual_texts_are_read_quickly() {
    for text in USUAL {
        assert!(agree(text), "{text:?}");
    }
    for text in UNUSUAL {
        assert!(!agree(text), "{text:?}");
    }
}

#[test]
fn changed_texts_are_read_alike() {
    const BITS: &[&str] = &[
        " ", "  ", "\n", "\n\n", "\n  ", "\n    ", ":", ": ", "- ", "-", "#", " #", "\"", "'", "''", "\\", "|", ">",
        "|-", ">+", "[", "]", "{", "}", ",", ", ", "&", "*", "!", "?", "%", "@", "\t", "a", "b: c", "- d", "1", "0",
        ".", "~", "<<", "---", "---\n", "...", "null", "yes", "e\u{301}", "\u{2028}", "=", "a: 1", "\\\n", "\\ ",
        "\\n", "\n- ", "\n a", "&x ", "*x", "\\u0041", "\\x4",
    ];
    let seeds: Vec<&str> = USUAL.iter().chain(UNUSUAL).copied().collect();
    let mut random = Random(1);
    let mut quick = 0;
    for _ in 0..60_000 {
        let mut text = seeds[random.below(seeds.len())].to_owned();
        if random.below(3) == 0 {
            text.push_str(seeds[random.below(seeds.len())]);
        }
        for _ in 0..=random.below(4) {
            let ends: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            let from = ends[random.below(ends.len())];
            let to = ends.iter().copied().find(|e| *e >= from + random.below(3)).unwrap_or(text.len());
            text.replace_range(from..to, if random.below(4) == 0 { "" } else { BITS[random.below(BITS.len())] });
        }
        quick += usize::from(agree(&text));
    }
    assert!(quick > 5_000, "only {quick} texts were read quickly");
}
