//! Sets, re-entrance, error chains, limits, objects: what the tables of Go's answers cannot show.
//!
//! Owns: the crate's own API. The surprising thing: none.

#![allow(clippy::unwrap_used)]

use std::error::Error;
use std::sync::Arc;

use go_template::{ExecError, FuncError, FuncMap, Limits, MissingKey, Options, Set, Type};
use go_value::object::{Method, Param};
use go_value::{Kind, Map, Object, Value};

/// `include` and `tpl` the way that Helm has them.
fn funcs() -> FuncMap {
    let mut funcs = FuncMap::new();
    funcs.add("include", &[Type::STRING, Type::Any], Type::STRING, |cx, args| {
        Ok(Value::string(cx.execute(&args[0].as_str().unwrap().to_text(), &args[1])?))
    });
    funcs.add("tpl", &[Type::STRING, Type::Any], Type::STRING, |cx, args| {
        let mut set = cx.set().clone();
        let template = set.parse("gotpl", args[0].as_str().unwrap())?;
        Ok(Value::string(cx.execute_template(&set, &template, &args[1])?))
    });
    funcs
}

fn set(texts: &[(&str, &str)]) -> Set {
    let mut set = Set::new("gotpl", funcs());
    for (name, text) in texts {
        set.parse(name, text).unwrap();
    }
    set
}

fn run(set: &Set, name: &str, data: &Value) -> Result<String, Box<ExecError>> {
    let options = Options { missing_key: MissingKey::Zero, ..Options::default() };
    set.execute(name, data, &options, &mut ()).map(|out| String::from_utf8(out).unwrap())
}

#[test]
fn tpl_sees_the_set_and_leaves_it_alone() {
    let set = set(&[
        ("_h.tpl", r#"{{ define "h" }}H{{ . }}{{ end }}"#),
        (
            "t",
            r#"{{ tpl "{{ define \"new\" }}N{{ end }}{{ include \"h\" . }}{{ include \"new\" . }}" 1 }}{{ tpl "" 1 }}|"#,
        ),
        ("nested", r#"{{ tpl "a{{ tpl \"\" . }}b{{ tpl \"{{ . }}\" . }}" 7 }}"#),
    ]);
    assert_eq!(run(&set, "t", &Value::Nil).unwrap(), "H1N|");
    assert_eq!(run(&set, "nested", &Value::Nil).unwrap(), "ab7");
    assert!(set.lookup("new").is_none());
    assert_eq!(set.names(), ["_h.tpl", "h", "nested", "t"]);
}

#[test]
fn errors_chain_through_include() {
    let set = set(&[("_h.tpl", "{{ define \"h\" }}\n{{ .a.b }}{{ end }}"), ("t", "x\n {{ include \"h\" . }}")]);
    let error = run(&set, "t", &Map::new().into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "template: t:2:4: executing \"t\" at <include \"h\" .>: error calling include: template: _h.tpl:2:5: \
         executing \"h\" at <.a.b>: nil pointer evaluating interface {}.b"
    );
    assert_eq!(error.location.as_deref(), Some("t:2:4"));
    let inner = error.inner().unwrap();
    assert_eq!((&*inner.template, inner.message.as_str()), ("h", "nil pointer evaluating interface {}.b"));
    assert!(error.source().unwrap().downcast_ref::<ExecError>().is_some());
    assert!(matches!(error.failure(), Some(FuncError::Exec(_))));
    let missing = set.execute("nope", &Value::Nil, &Options::default(), &mut ()).unwrap_err();
    assert_eq!(missing.to_string(), r#"template: no template "nope" associated with template "gotpl""#);
}

#[test]
fn redefinition_keeps_what_is_not_empty() {
    let mut set = set(&[("a", r#"{{ define "x" }}1{{ end }}"#)]);
    set.parse("b", r#"{{ define "x" }} {{/* nothing */}} {{ end }}{{ include "x" . }}"#).unwrap();
    assert_eq!(run(&set, "b", &Value::Nil).unwrap(), "1");
    let mut other = set.clone();
    other.parse("c", r#"{{ define "x" }}2{{ end }}"#).unwrap();
    assert_eq!(run(&other, "b", &Value::Nil).unwrap(), "2");
    assert_eq!(run(&set, "b", &Value::Nil).unwrap(), "1");
}

#[test]
fn delimiters() {
    let mut set = Set::new("root", FuncMap::new());
    set.set_delims("<<", ">>");
    set.parse("t", "{{ a }} <<- /* c */ ->> << .x | printf \"%s!\" -> > >").unwrap_err();
    set.parse("t", "{{ a }} << .x | printf \"%s!\" >>").unwrap();
    assert_eq!(run(&set, "t", &Map::from_iter([("x", "y")]).into()).unwrap(), "{{ a }} y!");
}

#[test]
fn limits_end_a_render() {
    let set = set(&[
        ("self", r#"{{ template "self" }}"#),
        ("incl", r#"{{ include "incl" . }}"#),
        ("long", "{{ range 100000000 }}{{ end }}"),
        ("wide", "{{ range 1000 }}0123456789{{ end }}"),
        ("held", r#"{{ $x := "" }}{{ range 1000 }}{{ $x = print $x "0123456789" }}{{ end }}"#),
        ("dropped", r#"{{ range 1000 }}{{ $x := print . "0123456789" }}{{ end }}"#),
    ]);
    let run = |name: &str, limits: Limits| {
        let options = Options { limits, ..Options::default() };
        let error = set.execute(name, &Value::Nil, &options, &mut ()).unwrap_err();
        let at = error.message.rfind("exceeded").unwrap();
        error.message[at..].to_owned()
    };
    let limits = Limits { hint: "; do raise it", ..Limits::default() };
    let stack = "exceeded maximum stack size (262144 bytes); it is fixed: nest templates less deep";
    let calls = "exceeded maximum depth of include and tpl (20); it is fixed: nest them less deep";
    assert_eq!(run("self", Limits { depth: 20, ..limits }), "exceeded maximum template depth (20)");
    assert_eq!(run("incl", Limits { depth: 20, ..limits }), "exceeded maximum template depth (20)");
    assert_eq!(run("self", Limits { stack: 1 << 18, ..limits }), stack);
    assert_eq!(run("incl", Limits { stack: 1 << 18, ..limits }), stack);
    assert_eq!(run("incl", Limits { calls: 20, ..limits }), calls);
    assert_eq!(run("long", Limits { steps: 1000, ..limits }), "exceeded maximum number of steps (1000); do raise it");
    assert_eq!(run("wide", Limits { output: 100, ..limits }), "exceeded maximum output size (100 bytes); do raise it");
    assert_eq!(run("held", Limits { memory: 5000, ..limits }), "exceeded maximum memory (5000 bytes); do raise it");
    let little = Options { limits: Limits { memory: 200, ..limits }, ..Options::default() };
    set.execute("dropped", &Value::Nil, &little, &mut ()).unwrap();
}

#[test]
fn nesting_in_a_text_is_bounded() {
    let mut set = Set::new("root", FuncMap::new());
    let deep = |open: &str, close: &str| format!("{}x{}", open.repeat(20_000), close.repeat(20_000));
    let error = set.parse("t", deep("{{ if true }}", "{{ end }}")).unwrap_err();
    assert_eq!(error.to_string(), "template: t:1: max expression depth exceeded (it is fixed, nest less deep)");
    let error = set.parse("t", format!("{{{{ {} }}}}", deep("(", ")"))).unwrap_err();
    assert_eq!(error.to_string(), "template: t:1: max expression depth exceeded (it is fixed, nest less deep)");
}

#[derive(Debug)]
struct Files;

impl Object for Files {
    fn type_name(&self) -> &'static str {
        "*engine.Files"
    }
    fn kind(&self) -> Kind {
        Kind::Pointer
    }
    fn field(&self, name: &str) -> Option<Value> {
        (name == "Dir").then(|| "/x".into())
    }
    fn method(&self, name: &str) -> Option<Method> {
        (name == "Get").then_some(Method { params: &[Param::STRING], variadic: false })
    }
    fn call(&self, _: &str, args: &[Value]) -> Result<Value, String> {
        match args[0].as_str() {
            Some(s) if *s == "a" => Ok("content".into()),
            _ => Err("no such file".into()),
        }
    }
    fn display(&self) -> Vec<u8> {
        b"&{/x}".to_vec()
    }
}

#[test]
fn objects_have_fields_and_methods() {
    let data: Value = Map::from_iter([("Files", Value::Object(Arc::new(Files)))]).into();
    let case = |text: &str| {
        let set = set(&[("t", text)]);
        match run(&set, "t", &data) {
            Ok(out) => out,
            Err(e) => {
                e.to_string().split_once("> ").map_or(e.to_string(), |(_, m)| m.to_owned()).replace("template: ", "")
            }
        }
    };
    assert_eq!(
        case(r#"{{ .Files.Get "a" }}{{ "a" | .Files.Get }}{{ .Files.Dir }}{{ .Files }}"#),
        "contentcontent/x{/x}"
    );
    let fails = |text: &str, error: &str| assert!(case(text).ends_with(error), "{text}: {}", case(text));
    fails("{{ .Files.Get }}", "at <.Files.Get>: wrong number of args for Get: want 1 got 0");
    fails("{{ .Files.Get 1 }}", "at <1>: expected string; found 1");
    fails(r#"{{ .Files.Get "b" }}"#, "at <.Files.Get>: error calling Get: no such file");
    fails("{{ .Files.Nope }}", "at <.Files.Nope>: can't evaluate field Nope in type interface {}");
    fails("{{ with .Files }}{{ .Nope }}{{ end }}", "can't evaluate field Nope in type *engine.Files");
    fails("{{ .Files.Dir 1 }}", "Dir has arguments but cannot be invoked as function");
    fails("{{ range .Files }}{{ end }}", "range can't iterate over {/x}");
}

#[test]
fn sets_are_shared_between_threads() {
    let set = Arc::new(set(&[("t", "{{ range 100 }}{{ . }}{{ end }}")]));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let set = Arc::clone(&set);
            std::thread::spawn(move || run(&set, "t", &Value::Nil).unwrap().len())
        })
        .collect();
    assert!(threads.into_iter().all(|t| t.join().unwrap() == 190));
}
