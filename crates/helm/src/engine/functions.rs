//! The functions Helm adds to sprig's.
//!
//! Owns: `include`, `tpl`, `required`, `fail`, `lookup`, the YAML, JSON and TOML functions, durations. Follows
//! `pkg/engine/funcs.go` and `engine.go`. The surprising things: most of them swallow errors (`toYaml` gives the empty
//! text, `fromYaml` a map with the key `Error`), and `<no value>` is only taken out of what `tpl` and whole files give.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use go_template::{Context, FuncError, FuncMap, Parsed, Type};
use go_value::{List, Map, MapType, Str, Value};
use memchr::memmem;

use super::Environment;
use super::error::{WARN_END, WARN_START};
use super::{toml, toml_decode};
use crate::profile::HelmProfile;

/// How often templates may include themselves, Helm's limit.
const MAX_INCLUDES: u32 = 1000;

/// How many bytes of texts that `tpl` parsed are kept during a render.
const MAX_PARSED: usize = 4 << 20;

/// How much of a text that `tpl` was given is quoted in an error.
const LONGEST_QUOTED: usize = 64 << 10;

/// What functions remember during one render.
pub(super) struct RenderState {
    environment: Environment,
    included: HashMap<Str, u32>,
    /// What `tpl` parsed: charts give it the same few texts again and again.
    parsed: HashMap<Str, Parsed>,
    parsed_bytes: usize,
}

impl RenderState {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, included: HashMap::new(), parsed: HashMap::new(), parsed_bytes: 0 }
    }

    fn remember(&mut self, text: &Str, parsed: &Parsed) {
        if self.parsed_bytes < MAX_PARSED {
            self.parsed_bytes += text.len() + 256;
            self.parsed.insert(text.clone(), parsed.clone());
        }
    }
}

/// Take `<no value>` out, as Helm does.
pub(super) fn without_no_value(text: &[u8]) -> Cow<'_, [u8]> {
    const NO_VALUE: &[u8] = b"<no value>";
    let mut found = memmem::find_iter(text, NO_VALUE).peekable();
    if found.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for at in found {
        out.extend_from_slice(&text[from..at]);
        from = at + NO_VALUE.len();
    }
    out.extend_from_slice(&text[from..]);
    Cow::Owned(out)
}

/// All functions of a profile, with the host's clock, randomness and DNS.
pub(super) fn functions(profile: HelmProfile, host: &Arc<dyn sprig::Host>) -> FuncMap {
    let mut f = FuncMap::new();
    sprig::register(&mut f, host);
    f.add_methods(Arc::new(crate::values::methods::ValuesMethods));
    register_text(&mut f, host);
    register_templates(&mut f);
    if profile.has_duration_functions() {
        super::durations::register(&mut f);
    } else {
        f.remove("mustToToml");
    }
    f
}

fn text(value: &Value) -> Str {
    value.as_str().cloned().unwrap_or_default()
}

fn register_text(f: &mut FuncMap, host: &Arc<dyn sprig::Host>) {
    f.add("toYaml", &[Type::Any], Type::STRING, |cx, a| written(cx, a, |v| quiet(to_yaml(v))));
    f.add("mustToYaml", &[Type::Any], Type::STRING, |cx, a| written(cx, a, |v| Ok(to_yaml(v)?)));
    f.add("toYamlPretty", &[Type::Any], Type::STRING, |cx, a| {
        written(cx, a, |v| {
            let mut text = quiet(go_yaml::encode_pretty(v))?;
            if text.ends_with('\n') {
                text.pop();
            }
            Ok(text)
        })
    });
    f.add("fromYaml", &[Type::STRING], Type::MAP, |cx, a| {
        read(cx, a)?;
        Ok(or_error_key(go_yaml::decode_map(&text(&a[0])).map_err(|e| e.to_string())))
    });
    f.add("fromYamlArray", &[Type::STRING], Type::LIST, |cx, a| {
        read(cx, a)?;
        Ok(or_error_item(go_yaml::decode_list(&text(&a[0])).map_err(|e| e.to_string())))
    });
    f.add("toJson", &[Type::Any], Type::STRING, |cx, a| written(cx, a, |v| quiet(go_value::json::encode(v))));
    f.add("mustToJson", &[Type::Any], Type::STRING, |cx, a| written(cx, a, |v| Ok(go_value::json::encode(v)?)));
    f.add("fromJson", &[Type::STRING], Type::MAP, |cx, a| {
        read(cx, a)?;
        Ok(or_error_key(go_value::json::decode_map(&text(&a[0])).map(|m| m.unwrap_or_else(|| Map::nil(MapType::ANY)))))
    });
    f.add("fromJsonArray", &[Type::STRING], Type::LIST, |cx, a| {
        read(cx, a)?;
        Ok(or_error_item(
            go_value::json::decode_list(&text(&a[0])).map(|l| l.unwrap_or_else(|| List::nil(go_value::ListType::ANY))),
        ))
    });
    f.add("toToml", &[Type::Any], Type::STRING, |_, a| match toml::encode(&a[0]) {
        // Go's library panics here, which Helm does not turn into text.
        Err(e) if a[0].is_nil() => Err(e.into()),
        Ok(text) | Err(text) => Ok(text.into()),
    });
    f.add("mustToToml", &[Type::Any], Type::STRING, |_, a| Ok(toml::encode(&a[0])?.into()));
    let host = Arc::clone(host);
    f.add("fromToml", &[Type::STRING], Type::MAP, move |cx, a| {
        read(cx, a)?;
        Ok(or_error_key(toml_decode::decode(&text(&a[0]), host.as_ref())))
    });
}

/// Write a value, and count that by the number of values in it.
fn written(
    cx: &mut Context<'_>,
    a: &[Value],
    write: impl FnOnce(&Value) -> Result<String, FuncError>,
) -> Result<Value, FuncError> {
    cx.work(a[0].count(go_value::limits::MAX_ITEMS) as u64)?;
    Ok(write(&a[0])?.into())
}

/// Count that the text is read: it takes longer than its length tells.
fn read(cx: &mut Context<'_>, a: &[Value]) -> Result<(), FuncError> {
    cx.work(a[0].as_str().map_or(0, Str::len) as u64 / 2)
}

/// The text, or none where Helm swallows an error. What our own limits refuse is no error of Helm's, and is told.
fn quiet<E: ToString>(encoded: Result<String, E>) -> Result<String, FuncError> {
    encoded.or_else(|e| {
        let text = e.to_string();
        if text.contains("exceeded max") { Err(text.into()) } else { Ok(String::new()) }
    })
}

/// `toYaml`: the text without its last newline.
pub(super) fn to_yaml(value: &Value) -> Result<String, String> {
    let mut text = go_yaml::encode(value).map_err(|e| e.to_string())?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

fn or_error_key(decoded: Result<Map, String>) -> Value {
    Value::Map(decoded.unwrap_or_else(|e| [("Error", e)].into_iter().collect()))
}

fn or_error_item(decoded: Result<List, String>) -> Value {
    Value::List(decoded.unwrap_or_else(|e| List::any(vec![e.into()])))
}

fn state<'a>(cx: &'a mut Context<'_>) -> Result<&'a mut RenderState, FuncError> {
    cx.host::<RenderState>().ok_or_else(|| FuncError::from("no render is in progress"))
}

fn register_templates(f: &mut FuncMap) {
    f.add("include", &[Type::STRING, Type::Any], Type::STRING, |cx, a| {
        let name = text(&a[0]);
        let count = state(cx)?.included.entry(name.clone()).or_insert(0);
        if *count > MAX_INCLUDES {
            let source = "unable to execute template".into();
            return Err(FuncError::Wrapped {
                text: format!("rendering template has a nested reference name: {name}: unable to execute template"),
                source,
            });
        }
        *count += 1;
        let out = match std::str::from_utf8(&name) {
            Ok(name) => cx.execute(name, &a[1]),
            // No template has such a name; its bytes are in the complaint.
            Err(_) => Err(cx.no_template(&name)),
        };
        if let Some(count) = state(cx)?.included.get_mut(&name) {
            *count = count.saturating_sub(1);
        }
        Ok(Value::string(out?))
    });
    f.add("tpl", &[Type::STRING, Type::Any], Type::STRING, |cx, a| {
        let source = text(&a[0]);
        // A text without actions is what it is.
        if !source.windows(2).any(|w| w == b"{{") {
            return Ok(Value::String(match without_no_value(&source) {
                Cow::Borrowed(_) => source,
                Cow::Owned(text) => text.into(),
            }));
        }
        cx.work(source.len() as u64 / 4)?;
        let mut set = cx.set().clone();
        let quoted = || go_value::quote::quote(&source[..source.len().min(LONGEST_QUOTED)]);
        let name = set.name().to_string();
        let known = state(cx)?.parsed.get(&source).cloned();
        let parsed = if let Some(parsed) = known {
            parsed
        } else {
            let parsed = set.compile(&name, &Bytes::copy_from_slice(source.as_ref())).map_err(|e| {
                FuncError::Wrapped { text: format!("cannot parse template {}: {e}", quoted()), source: Box::new(e) }
            })?;
            state(cx)?.remember(&source, &parsed);
            parsed
        };
        let main = set.add(&parsed);
        let out = cx.execute_template(&set, &main, &a[1]).map_err(|e| FuncError::Wrapped {
            text: format!("error during tpl function execution for {}: {e}", quoted()),
            source: e,
        })?;
        Ok(Value::String(Str::from(&*without_no_value(&out))))
    });
    f.add("required", &[Type::STRING, Type::Any], Type::Any, |cx, a| {
        let missing = match &a[1] {
            Value::Nil => true,
            Value::String(s) => s.is_empty(),
            _ => false,
        };
        match (missing, state(cx)?.environment.lint) {
            (false, _) => Ok(a[1].clone()),
            (true, true) => Ok(Value::string("")),
            (true, false) => Err(warn(&text(&a[0]))),
        }
    });
    f.add("fail", &[Type::STRING], Type::STRING, |cx, a| {
        if state(cx)?.environment.lint { Ok(Value::string("")) } else { Err(warn(&text(&a[0]))) }
    });
    f.add("lookup", &[Type::STRING; 4], Type::MAP, |cx, a| {
        let Some(lookup) = state(cx)?.environment.lookup.clone() else { return Ok(Value::Map(Map::new())) };
        let [api_version, kind, namespace, name] = [0, 1, 2, 3].map(|i| text(&a[i]).to_text().into_owned());
        Ok(Value::Map(lookup.lookup(&api_version, &kind, &namespace, &name)?))
    });
    f.add("getHostByName", &[Type::STRING], Type::STRING, |cx, a| {
        let environment = &state(cx)?.environment;
        if !environment.enable_dns {
            return Ok(Value::string(""));
        }
        Ok(environment.host.lookup_host(&text(&a[0]).to_text()).into_iter().next().unwrap_or_default().into())
    });
}

fn warn(message: &Str) -> FuncError {
    FuncError::Text(format!("{WARN_START}{message}{WARN_END}"))
}
