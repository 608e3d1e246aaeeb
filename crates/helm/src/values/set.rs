//! The grammar of `--set`, `--set-string`, `--set-file` and of `valuesFrom[].targetPath`.
//!
//! Owns: parsing `a.b[0]=x,c={1,2}` into a tree that is already there. Follows Helm's `pkg/strvals`. The surprising
//! things: a backslash takes any character literally, `{a,b}` is a list of typed items, and indices out of order leave
//! nulls.

use go_value::limits::{MAX_ITEMS, too_many_items};
use go_value::{List, Map, Value};

/// The highest list index, Helm's `MaxIndex`.
pub const MAX_INDEX: i64 = 65536;
/// How deep names may nest, Helm's `MaxNestedNameLevel`.
pub const MAX_NESTED_NAME_LEVEL: usize = 30;

/// How the text behind `=` becomes a value.
pub enum SetKind<'a> {
    /// `--set`: booleans, null and integers are recognised.
    Typed,
    /// `--set-string`: always a string.
    Text,
    /// `--set-file`: the text is a path that this function reads.
    File(&'a dyn Fn(&str) -> Result<Vec<u8>, String>),
    /// `--set-json key=JSON,…`.
    Json,
}

/// Parse one argument and write what it says into `values`.
///
/// # Errors
/// Helm's text, without the name of the flag.
pub fn parse_into(text: &str, values: &Map, kind: &SetKind<'_>) -> Result<(), String> {
    brackets_fit(text)?;
    let mut parser = Parser { input: text.chars().collect(), at: 0, kind, left: MAX_ITEMS };
    loop {
        match parser.key(values, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::NotList) => return Err("not a list".into()),
            Err(Stop::Fault(text)) => return Err(text),
        }
    }
}

/// Why a step of the parser stops, as Go's error values do: the end of the input is one of them.
#[derive(Debug)]
pub(super) enum Stop {
    End,
    NotList,
    Fault(String),
}

pub(super) fn fault<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fault(text.into()))
}

impl Stop {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::End => "EOF",
            Self::NotList => "not a list",
            Self::Fault(text) => text,
        }
    }
}

pub(super) struct Parser<'a> {
    pub(super) input: Vec<char>,
    pub(super) at: usize,
    kind: &'a SetKind<'a>,
    /// How many items lists may still grow by.
    left: usize,
}

/// Put `value` under `key`; an empty key is dropped, as Helm does.
pub(super) fn put(values: &Map, key: &str, value: impl Into<Value>) {
    if !key.is_empty() {
        values.insert(key, value);
    }
}

/// The text of a failed Go type assertion, which Helm shows when a path leads through a scalar.
pub(super) fn assertion(found: &Value, want: &str) -> String {
    let found = if found.is_nil() { "nil" } else { found.type_name() };
    format!("unable to parse key: interface conversion: interface {{}} is {found}, not {want}")
}

/// The table under `key`: the one that is there, or a new one that is not yet in the tree.
pub(super) fn inner_table(values: &Map, key: &str) -> Result<Map, Stop> {
    match values.get(key) {
        None => Ok(Map::new()),
        Some(Value::Map(map)) => Ok(map),
        Some(other) => fault(assertion(&other, "map[string]interface {}")),
    }
}

/// The list under `key`: the one that is there, or a new one.
pub(super) fn inner_list(values: &Map, key: &str) -> Result<Vec<Value>, Stop> {
    match values.get(key) {
        None => Ok(Vec::new()),
        Some(Value::List(list)) => Ok(list.to_vec()),
        Some(other) => fault(assertion(&other, "[]interface {}")),
    }
}

/// The list at index `i` of `list`, or a new one.
pub(super) fn nested_list(list: &[Value], i: usize) -> Result<Vec<Value>, Stop> {
    match list.get(i) {
        None | Some(Value::Nil) => Ok(Vec::new()),
        Some(Value::List(nested)) => Ok(nested.to_vec()),
        Some(other) => fault(assertion(other, "[]interface {}")),
    }
}

/// The table at index `i` of `list`; what is no table is replaced.
pub(super) fn nested_table(list: &mut [Value], i: usize) -> Map {
    match list.get_mut(i) {
        Some(Value::Map(map)) => map.clone(),
        Some(slot) => {
            let fresh = Map::new();
            *slot = Value::Map(fresh.clone());
            fresh
        }
        None => Map::new(),
    }
}

/// Do lists not nest too deep in lists?
pub(super) fn brackets_fit(text: &str) -> Result<(), String> {
    const DEEPEST: usize = 1000;
    if text.matches("][").count() > DEEPEST {
        return Err(format!("exceeded maximum depth of lists in lists ({DEEPEST}); it is fixed"));
    }
    Ok(())
}

/// Write index `i`, growing the list with nulls, of which so many are left.
pub(super) fn set_index(list: &mut Vec<Value>, i: i64, value: Value, left: &mut usize) -> Result<(), Stop> {
    if i < 0 {
        return fault(format!("negative {i} index not allowed"));
    }
    if i > MAX_INDEX {
        return fault(format!("index of {i} is greater than maximum supported index of {MAX_INDEX}"));
    }
    let i = i as usize;
    if list.len() <= i {
        *left = left.checked_sub(i + 1 - list.len()).ok_or_else(|| Stop::Fault(too_many_items()))?;
        list.resize(i + 1, Value::Nil);
    }
    list[i] = value;
    Ok(())
}

/// `strconv.Atoi` with its error.
pub(super) fn index_number(text: &str) -> Result<i64, Stop> {
    go_value::float::parse_int(text.as_bytes(), 10, 64)
        .map_err(|e| Stop::Fault(format!("error parsing index: {}", e.text("Atoi", text.as_bytes()))))
}

impl Parser<'_> {
    /// Characters up to one of `stop`, which is consumed. A backslash takes the next character as it is.
    fn until(&mut self, stop: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(&c) = self.input.get(self.at) {
            self.at += 1;
            if stop.contains(&c) {
                return (text, Some(c));
            }
            if c == '\\' {
                match self.input.get(self.at) {
                    Some(&next) => {
                        self.at += 1;
                        text.push(next);
                    }
                    None => return (text, None),
                }
            } else {
                text.push(c);
            }
        }
        (text, None)
    }

    fn key(&mut self, values: &Map, level: usize) -> Result<(), Stop> {
        let (key, last) = self.until(&['=', '[', ',', '.']);
        match last {
            None if key.is_empty() => Err(Stop::End),
            None => fault(format!("key {} has no value", quoted(&key))),
            Some('[') => {
                let i = self.key_index()?;
                let mut list = inner_list(values, &key)?;
                let result = self.list_item(&mut list, i, level);
                put(values, &key, List::any(list));
                result
            }
            Some('=') if matches!(self.kind, SetKind::Json) => {
                let value = self.json_value()?;
                put(values, &key, value);
                Ok(())
            }
            Some('=') => match self.value_list() {
                Ok(list) => {
                    put(values, &key, list);
                    Ok(())
                }
                Err(Stop::End) => {
                    put(values, &key, "");
                    Err(Stop::End)
                }
                Err(Stop::NotList) => {
                    let (text, _) = self.until(&[',']);
                    let (value, result) = self.convert(&text);
                    put(values, &key, value);
                    result
                }
                Err(other) => Err(other),
            },
            Some(',') => {
                put(values, &key, "");
                fault(format!("key {} has no value (cannot end with ,)", quoted(&key)))
            }
            Some(_) => {
                let level = level + 1;
                if level > MAX_NESTED_NAME_LEVEL {
                    return fault(format!(
                        "value name nested level is greater than maximum supported nested level of {MAX_NESTED_NAME_LEVEL}"
                    ));
                }
                let inner = inner_table(values, &key)?;
                let result = self.key(&inner, level);
                if result.is_ok() && inner.is_empty() {
                    return fault(format!("key map {} has no value", quoted(&key)));
                }
                if !inner.is_empty() {
                    put(values, &key, inner);
                }
                result
            }
        }
    }

    /// The number up to `]`.
    fn key_index(&mut self) -> Result<i64, Stop> {
        match self.until(&[']']) {
            (text, Some(_)) => index_number(&text),
            // Helm wraps the end of the input, and then takes it for the end of the argument.
            (_, None) => Err(Stop::End),
        }
    }

    fn list_item(&mut self, list: &mut Vec<Value>, i: i64, level: usize) -> Result<(), Stop> {
        if i < 0 {
            return fault(format!("negative {i} index not allowed"));
        }
        let (key, last) = self.until(&['[', '.', '=']);
        if !key.is_empty() {
            return fault(format!("unexpected data at end of array index: {}", quoted(&key)));
        }
        match last {
            None => Err(Stop::End),
            Some('=') if matches!(self.kind, SetKind::Json) => {
                let value = self.json_value()?;
                set_index(list, i, value, &mut self.left)
            }
            Some('=') => match self.value_list() {
                Ok(value) => set_index(list, i, Value::List(value), &mut self.left),
                Err(Stop::End) => set_index(list, i, Value::string(""), &mut self.left),
                Err(Stop::NotList) => {
                    let (text, _) = self.until(&[',']);
                    let (value, result) = self.convert(&text);
                    result?;
                    set_index(list, i, value, &mut self.left)
                }
                Err(other) => Err(other),
            },
            Some('[') => {
                let next = self.key_index()?;
                let mut nested = nested_list(list, i as usize)?;
                self.list_item(&mut nested, next, level)?;
                set_index(list, i, Value::List(List::any(nested)), &mut self.left)
            }
            Some(_) => {
                let inner = nested_table(list, i as usize);
                self.key(&inner, level)?;
                set_index(list, i, Value::Map(inner), &mut self.left)
            }
        }
    }

    /// `{a,b}`; [`Stop::NotList`] where the value is no list, with nothing consumed.
    fn value_list(&mut self) -> Result<List, Stop> {
        match self.input.get(self.at) {
            None => return Err(Stop::End),
            Some('{') => self.at += 1,
            Some(_) => return Err(Stop::NotList),
        }
        let mut items = Vec::new();
        loop {
            let (text, last) = self.until(&[',', '}']);
            let Some(last) = last else { return fault("list must terminate with '}'") };
            if last == '}' && self.input.get(self.at) == Some(&',') {
                self.at += 1;
            }
            let (value, result) = self.convert(&text);
            result?;
            items.push(value);
            if last == '}' {
                return Ok(List::any(items));
            }
        }
    }

    /// The text as this kind of argument means it. A file that cannot be read gives null and the error.
    fn convert(&self, text: &str) -> (Value, Result<(), Stop>) {
        match self.kind {
            SetKind::Typed => (typed(text), Ok(())),
            SetKind::Text | SetKind::Json => (Value::string(text), Ok(())),
            SetKind::File(read) => match read(text) {
                Ok(bytes) => (Value::string(bytes), Ok(())),
                Err(e) => (Value::Nil, fault(e)),
            },
        }
    }
}

/// The text in double quotes, as Go's `%q`.
pub(super) fn quoted(text: &str) -> String {
    go_value::quote::quote(text.as_bytes())
}

/// What `--set` makes of a text: `true`, `false`, `null` in any case, integers without a leading zero, else a string.
fn typed(text: &str) -> Value {
    if text.eq_ignore_ascii_case("true") {
        return Value::Bool(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Value::Bool(false);
    }
    if text.eq_ignore_ascii_case("null") {
        return Value::Nil;
    }
    if text == "0" {
        return Value::int64(0);
    }
    // Go's ParseInt takes a sign, and with base 10 no underscores.
    if !text.starts_with('0')
        && let Ok(n) = text.parse::<i64>()
    {
        return Value::int64(n);
    }
    Value::string(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{load_values, to_json};

    fn set(base: &str, text: &str) -> Result<String, String> {
        let values = load_values(base.as_bytes()).unwrap();
        parse_into(text, &values, &SetKind::Typed)?;
        Ok(to_json(&Value::Map(values)).to_string())
    }

    #[test]
    fn grammar() {
        for (base, text, want) in [
            ("", "a=1,b=x", r#"{"a":1,"b":"x"}"#),
            ("", "a.b.c=true", r#"{"a":{"b":{"c":true}}}"#),
            ("", r"a\.b=1", r#"{"a.b":1}"#),
            ("", r"a=1\,2", r#"{"a":"1,2"}"#),
            ("", "a={1,x,null}", r#"{"a":[1,"x",null]}"#),
            ("", "a={},b=1", r#"{"a":[""],"b":1}"#),
            ("", "a[1].b=7", r#"{"a":[null,{"b":7}]}"#),
            ("", "a[0][1]=z", r#"{"a":[[null,"z"]]}"#),
            ("l: [x, z]", "l[0]=T", r#"{"l":["T","z"]}"#),
            ("", "a=01,b=0x1f,c=1.5,d=-3", r#"{"a":"01","b":"0x1f","c":"1.5","d":-3}"#),
            ("", "a=", r#"{"a":""}"#),
            ("", "a=b=c", r#"{"a":"b=c"}"#),
            ("a: {b: 1}", "a.c=2", r#"{"a":{"b":1,"c":2}}"#),
            ("", "a[0].b=", r#"{"a":[]}"#),
        ] {
            assert_eq!(set(base, text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn faults() {
        for (base, text, want) in [
            ("", "a", r#"key "a" has no value"#),
            ("", "a,b=1", r#"key "a" has no value (cannot end with ,)"#),
            ("", "a={b", "list must terminate with '}'"),
            ("", "a[-1]=x", "negative -1 index not allowed"),
            ("", "a[x]=1", r#"error parsing index: strconv.Atoi: parsing "x": invalid syntax"#),
            ("", "a[65537]=1", "index of 65537 is greater than maximum supported index of 65536"),
            ("", "a[0]x=1", r#"unexpected data at end of array index: "x""#),
            (
                "a: text",
                "a.b=1",
                "unable to parse key: interface conversion: interface {} is string, not map[string]interface {}",
            ),
            ("a: null", "a[0]=1", "unable to parse key: interface conversion: interface {} is nil, not []interface {}"),
        ] {
            assert_eq!(set(base, text).unwrap_err(), want, "{text}");
        }
    }
}
