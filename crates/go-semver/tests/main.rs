//! The vectors in `testdata`, made with the Go library by `testdata/oracle`.
#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;
use std::path::Path;

use go_semver::{Constraints, Error, Version};

/// A text as Go's `strconv.QuoteToASCII` wrote it.
fn unquote(s: &str) -> String {
    let mut out = String::new();
    let mut chars = s[1..s.len() - 1].chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next().unwrap() {
            'n' => '\n',
            't' => '\t',
            'u' => {
                let hex: String = chars.by_ref().take(4).collect();
                char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap()
            }
            c => c,
        });
    }
    out
}

fn rows(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|l| l.split('\t').map(|f| if f.starts_with('"') { unquote(f) } else { f.to_owned() }).collect())
        .collect()
}

fn show(version: Result<Version, Error>) -> String {
    match version {
        Err(e) => format!("! {e}"),
        Ok(v) => [
            v.to_string().as_str(),
            v.original(),
            &v.pre,
            &v.metadata,
            v.inc_patch().original(),
            v.inc_minor().original(),
            v.inc_major().original(),
        ]
        .join(" "),
    }
}

#[test]
fn versions() {
    let rows = rows("versions.tsv");
    assert!(rows.len() > 40);
    for row in &rows {
        assert_eq!(show(Version::parse(&row[0])), row[1], "{:?}", row[0]);
        assert_eq!(show(Version::parse_strict(&row[0])), row[2], "strict {:?}", row[0]);
        let order: String = rows
            .iter()
            .map(|other| match (Version::parse(&row[0]), Version::parse(&other[0])) {
                (Ok(a), Ok(b)) => match a.cmp(&b) {
                    Ordering::Less => '<',
                    Ordering::Equal => '=',
                    Ordering::Greater => '>',
                },
                _ => '.',
            })
            .collect();
        assert_eq!(order, row[3], "{:?}", row[0]);
    }
}

#[test]
fn constraints() {
    let versions: Vec<String> = rows("versions.tsv").into_iter().map(|r| r[0].clone()).collect();
    let rows = rows("constraints.tsv");
    assert!(rows.len() > 500);
    for row in &rows {
        let range = match Constraints::parse(&row[0]) {
            Err(e) => {
                assert_eq!(format!("! {e}"), row[1], "{:?}", row[0]);
                continue;
            }
            Ok(range) => range,
        };
        assert_eq!(range.to_string(), row[1], "{:?}", row[0]);
        let mut marks = String::new();
        let mut reasons = Vec::new();
        for (i, text) in versions.iter().enumerate() {
            let Ok(version) = Version::parse(text) else {
                marks.push('.');
                continue;
            };
            marks.push(if range.check(&version) { 'y' } else { 'n' });
            if (row[0].len() + i).is_multiple_of(5) {
                let result = range.validate(&version);
                let fits = result.is_ok();
                reasons.push(format!("{text}={fits}:{}", result.err().unwrap_or_default().join(";")));
            }
        }
        assert_eq!(marks, row[2], "{:?}", row[0]);
        assert_eq!(reasons.join("\n"), row[3], "{:?}", row[0]);
    }
}

/// Precedence is an order, whatever the versions: of each three, and with ranges.
#[test]
fn precedence_is_an_order() {
    const PARTS: [&str; 12] = ["0", "1", "2", "10", "alpha", "beta", "rc", "a-b", "x1", "-", "0a", "20130313144700"];
    let mut random = splitmix::Random(31);
    let mut version = || {
        let mut text = format!("{}.{}.{}", random.below(3), random.below(3), random.below(3));
        for i in 0..random.below(4) {
            text.push(if i == 0 { '-' } else { '.' });
            text.push_str(PARTS[random.below(PARTS.len())]);
        }
        Version::parse_strict(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    for _ in 0..50_000 {
        let (a, b, c) = (version(), version(), version());
        assert_eq!(a.cmp(&b), b.cmp(&a).reverse(), "{a:?} {b:?}");
        if a <= b && b <= c {
            assert!(a <= c, "{a:?} {b:?} {c:?}");
        }
        for (operator, holds) in [("<", a < b), (">=", a >= b), ("=", a.cmp(&b).is_eq())] {
            // A range with a prerelease lets others of prereleases in.
            if b.is_prerelease() || !a.is_prerelease() {
                let range = Constraints::parse(&format!("{operator}{}", b.original())).unwrap();
                assert_eq!(range.check(&a), holds, "{} {operator} {}", a.original(), b.original());
            }
        }
    }
}
