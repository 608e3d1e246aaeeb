//! Templates, formats and literals against what Go makes of them: `testdata/*.jsonl`, written by `testdata/oracle`.
//!
//! Owns: the comparison, and the same data and functions in Rust that the Go program has. Each line is a JSON array;
//! bytes are written as one character each. The surprising thing: results that agree are not listed, only counted.

#![allow(clippy::unwrap_used)]

use go_template::{FuncMap, Limits, MissingKey, Options, Set, Type};
use go_value::{Kind, List, ListType, Map, MapType, Value, format, quote};

/// One line of a table.
fn lines(text: &str) -> impl Iterator<Item = Vec<serde_json::Value>> {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn bytes(v: &serde_json::Value) -> Vec<u8> {
    v.as_str().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

fn shown(b: &[u8]) -> String {
    String::from_utf8_lossy(b).into_owned()
}

/// Print the first few differences and fail if there are any.
fn verdict(differences: &[String], all: usize) {
    let first: Vec<&str> = differences.iter().take(40).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} of {all} differ:\n{}", differences.len(), first.join("\n"));
    assert!(all > 500, "the table is there");
}

const LIB: &str = r#"{{ define "hi" }}hi {{ .s }}{{ end }}
{{ define "bad" }}
  x {{ .n.x }}{{ end }}{{ define "nest" }}{{ include "bad" . }}{{ end }}{{ define "nest2" }}{{ template "nest" . }}{{ end }}
{{- define "fails" }}{{ fail "inside" }}{{ end }}{{ define "loop" }}{{ include "loop" . }}{{ end }}"#;

fn map(entries: Vec<(&str, Value)>) -> Value {
    Map::from_iter(entries).into()
}

fn list(items: Vec<Value>) -> Value {
    List::any(items).into()
}

fn data() -> Value {
    let named = MapType { name: "main.named", ..MapType::ANY };
    let string_map = [("p".into(), "q".into())].into_iter().collect();
    map(vec![
        ("s", "hello".into()),
        ("e", "".into()),
        ("n", Value::Nil),
        ("t", true.into()),
        ("f", false.into()),
        ("i", Value::int(42)),
        ("i64", Value::int64(-7)),
        ("u", Value::Uint(Kind::Uint, 9)),
        ("u8", Value::Uint(Kind::Uint8, 200)),
        ("fl", 1.5.into()),
        ("big", 1e6.into()),
        ("neg", Value::int(-3)),
        (
            "m",
            map(vec![
                ("a", Value::int(1)),
                ("b", "two".into()),
                ("n", Value::Nil),
                ("m", map(vec![("x", "deep".into())])),
            ]),
        ),
        ("em", map(vec![])),
        ("l", list(vec!["x".into(), Value::int(2), Value::Nil, 3.5.into(), map(vec![("k", "v".into())])])),
        ("el", list(vec![])),
        ("nl", List::nil(ListType::ANY).into()),
        ("ss", List::strings(["b", "a", "c"]).into()),
        ("is", List::new(ListType::INTS, vec![Value::int(3), Value::int(1), Value::int(2)]).into()),
        ("sm", Map::of(MapType::STRINGS, string_map).into()),
        ("bytes", Value::bytes(b"hi")),
        ("dur", Value::Duration(3)),
        ("named", Map::of(named, [("y".into(), "z".into())].into_iter().collect()).into()),
        ("html", "<a href=\"x\">&'\x00=\u{2028}é\x01".into()),
        ("uni", "héllo wörld ☺".into()),
        ("bad", Value::string(&b"a\xffb"[..])),
    ])
}

/// How often `include` was called.
struct Includes(usize);

fn funcs() -> FuncMap {
    const UINT8: Type = Type::Basic(Kind::Uint8);
    const COMPLEX: Type = Type::Basic(Kind::Complex128);
    let int = |v: &Value| if let Value::Int(_, n) = v { *n } else { panic!("not an int") };
    let mut f = FuncMap::new();
    f.add("str", &[Type::STRING], Type::STRING, |_, a| Ok(format!("[{}]", a[0].as_str().unwrap()).into()));
    f.add("num", &[Type::INT], Type::INT, move |_, a| Ok(Value::int(int(&a[0]).wrapping_add(1))));
    f.add("num64", &[Type::INT64], Type::INT64, move |_, a| Ok(Value::int64(int(&a[0]) + 1)));
    f.add("u8", &[UINT8], UINT8, |_, a| Ok(a[0].clone()));
    f.add("flt", &[Type::FLOAT64], Type::FLOAT64, |_, a| {
        let Value::Float(_, x) = a[0] else { panic!("not a float") };
        Ok((x / 2.0).into())
    });
    f.add("cplx", &[COMPLEX], COMPLEX, |_, a| Ok(a[0].clone()));
    f.add("boolean", &[Type::BOOL], Type::BOOL, |_, a| Ok((!a[0].as_bool().unwrap()).into()));
    f.add("any", &[Type::Any], Type::Any, |_, a| Ok(a[0].clone()));
    f.add("nothing", &[], Type::Any, |_, _| Ok(Value::Nil));
    let len = |v: &Value| Value::int(v.as_map().map_or(0, Map::len) as i64 + v.as_list().map_or(0, List::len) as i64);
    f.add("mapf", &[Type::MAP], Type::INT, move |_, a| Ok(len(&a[0])));
    f.add("listf", &[Type::LIST], Type::INT, move |_, a| Ok(len(&a[0])));
    f.add("strsf", &[Type::STRINGS], Type::STRING, |_, a| {
        let items = a[0].as_list().map(List::to_vec).unwrap_or_default();
        Ok(items.iter().map(format::to_text).collect::<Vec<_>>().join("+").into())
    });
    f.add("durf", &[Type::DURATION], Type::STRING, |_, a| Ok(format::to_text(&a[0]).into()));
    f.add_variadic("vari", &[Type::STRING, Type::INT], Type::STRING, |_, a| {
        let ints = List::new(ListType::INTS, a[1..].to_vec());
        Ok(Value::string(format::sprint(&[a[0].clone(), ints.into()])))
    });
    f.add_variadic("varany", &[Type::Any], Type::STRING, |_, a| Ok(Value::string(format::sprint(&[list(a.to_vec())]))));
    f.add("two", &[Type::STRING, Type::INT], Type::STRING, |_, a| {
        Ok(Value::string(format::sprint(&[a[0].clone(), "-".into(), a[1].clone()])))
    });
    f.add("fail", &[Type::STRING], Type::STRING, |_, a| Err(format!("failed: {}", a[0].as_str().unwrap()).into()));
    f.add("mk", &[], Type::MAP, |_, _| Ok(map(vec![("a", map(vec![("b", "c".into())]))])));
    f.add("mkl", &[], Type::LIST, |_, _| Ok(list(vec![Value::int(1), "b".into()])));
    f.add("include", &[Type::STRING, Type::Any], Type::STRING, |cx, a| {
        let includes = cx.host::<Includes>().unwrap();
        includes.0 += 1;
        if includes.0 > 50 {
            return Err("too deep".into());
        }
        Ok(Value::string(cx.execute(&a[0].as_str().unwrap().to_text(), &a[1])?))
    });
    f
}

fn render(base: &Set, source: &str, missing_key: MissingKey) -> Result<Vec<u8>, String> {
    let mut set = base.clone();
    set.parse("t.yaml", source).map_err(|e| e.to_string())?;
    let limits = Limits::default().for_stack(64 << 20);
    let options = Options { missing_key, limits };
    set.execute("t.yaml", &data(), &options, &mut Includes(0)).map_err(|e| e.to_string())
}

#[test]
fn templates() {
    go_template::on_large_stack(64 << 20, || {
        let mut base = Set::new("root", funcs());
        base.parse("lib.tpl", LIB).unwrap();
        let mut differences = Vec::new();
        let mut all = 0;
        for line in lines(include_str!("../testdata/template.jsonl")) {
            all += 1;
            let source = line[0].as_str().unwrap();
            let missing_key = match line[1].as_str().unwrap() {
                "zero" => MissingKey::Zero,
                "error" => MissingKey::Error,
                _ => MissingKey::Invalid,
            };
            let error = shown(&bytes(&line[3]));
            let want = if error.is_empty() { Ok(bytes(&line[2])) } else { Err(error) };
            let got = render(&base, source, missing_key);
            if got != want {
                let show = |r: &Result<Vec<u8>, String>| match r {
                    Ok(out) => format!("ok  {:?}", shown(out)),
                    Err(e) => format!("err {e}"),
                };
                differences.push(format!("{source:?} {missing_key:?}\n  want {}\n  got  {}", show(&want), show(&got)));
            }
        }
        verdict(&differences, all);
    })
    .unwrap();
}

fn operand(name: &str) -> Value {
    match name {
        "nil" => Value::Nil,
        "true" => true.into(),
        "int 42" => Value::int(42),
        "int -7" => Value::int(-7),
        "int 0" => Value::int(0),
        "int64 9007199254740993" => Value::int64(9_007_199_254_740_993),
        "uint8 200" => Value::Uint(Kind::Uint8, 200),
        "uint64 max" => Value::Uint(Kind::Uint64, u64::MAX),
        "float 1.5" => 1.5.into(),
        "float 1e6" => 1e6.into(),
        "float 1e21" => 1e21.into(),
        "float -0" => (-0.0).into(),
        "float nan" => f64::NAN.into(),
        "float +inf" => f64::INFINITY.into(),
        "float 3" => 3.0.into(),
        "float 1e-7" => 1e-7.into(),
        "float32 0.1" => Value::Float(Kind::Float32, f64::from(0.1_f32)),
        "string hello" => "hello".into(),
        "string empty" => "".into(),
        "string uni" => "héllo ☺".into(),
        "string bad" => Value::string(&b"a\xffb"[..]),
        "string quote" => "say \"hi\"\n`x`".into(),
        "bytes hi" => Value::bytes(b"hi"),
        "list mixed" => list(vec![
            Value::int(1),
            "a".into(),
            Value::Nil,
            2.5.into(),
            list(vec![true.into()]),
            map(vec![("k", Value::Nil)]),
        ]),
        "list empty" => list(vec![]),
        "list nil" => List::nil(ListType::ANY).into(),
        "strings" => List::strings(["a", "b c"]).into(),
        "ints" => List::new(ListType::INTS, vec![Value::int(1), Value::int(-2)]).into(),
        "map" => map(vec![
            ("b", Value::int(1)),
            ("a", "x".into()),
            ("n", Value::Nil),
            ("m", map(vec![("z", list(vec![1.5.into()]))])),
        ]),
        "map empty" => map(vec![]),
        "map strings" => Map::of(MapType::STRINGS, [("k".into(), "v".into())].into_iter().collect()).into(),
        "duration" => Value::Duration(5_401_500_000_000),
        "duration 0" => Value::Duration(0),
        "complex" => Value::Complex(1.0, -2.5),
        "rune" => Value::int(0x263A),
        other => panic!("no operand {other}"),
    }
}

#[test]
fn formats() {
    let mut differences = Vec::new();
    let mut all = 0;
    for line in lines(include_str!("../testdata/fmt.jsonl")) {
        all += 1;
        let names: Vec<&str> = line[1].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        let args: Vec<Value> = names.iter().map(|n| operand(n)).collect();
        let directive = line[0].as_str().unwrap();
        let (want, got) = match directive {
            "Sprint" => (bytes(&line[2]), format::sprint(&args)),
            "Sprintln" => (bytes(&line[2]), format::sprintln(&args)),
            "Duration" => {
                let nanos = line[3].as_str().unwrap().parse().unwrap();
                (line[2].as_str().unwrap().as_bytes().to_vec(), format::duration(nanos).into_bytes())
            }
            _ if args.len() == 1 && directive.is_ascii() => {
                (bytes(&line[2]), format::sprintf(directive.as_bytes(), &args))
            }
            _ => (bytes(&line[2]), format::sprintf(&bytes(&line[0]), &args)),
        };
        if want != got {
            differences.push(format!("{directive:?} {names:?}\n  want {:?}\n  got  {:?}", shown(&want), shown(&got)));
        }
    }
    verdict(&differences, all);
}

#[test]
fn quotes() {
    let mut differences = Vec::new();
    let mut all = 0;
    for line in lines(include_str!("../testdata/quote.jsonl")) {
        all += 1;
        let input = bytes(&line[1]);
        let same = if line[0] == "quote" {
            quote::quote(&input).as_bytes() == bytes(&line[2])
                && quote::quote_to_ascii(&input) == line[3].as_str().unwrap()
                && quote::can_backquote(&input) == line[4].as_bool().unwrap()
        } else {
            quote::unquote(&input).ok().map(std::borrow::Cow::into_owned)
                == line[3].as_bool().unwrap().then(|| bytes(&line[2]))
        };
        if !same {
            differences.push(format!("{line:?}: {:?}", quote::quote(&input)));
        }
    }
    verdict(&differences, all);
}
