//! `--set-literal`: one path, and everything behind the first `=` as it is.
//!
//! Follows Helm's `pkg/strvals/literal_parser.go`. The surprising thing: nothing is escaped, neither in the value nor
//! in the path.

use go_value::limits::MAX_ITEMS;
use go_value::{List, Map, Value};

use super::set::{
    MAX_NESTED_NAME_LEVEL, Stop, brackets_fit, fault, index_number, inner_list, inner_table, nested_list, nested_table,
    put, quoted, set_index,
};

/// Write the literal into `values`.
///
/// # Errors
/// Helm's text, without the name of the flag.
pub fn parse_literal_into(text: &str, values: &Map) -> Result<(), String> {
    brackets_fit(text)?;
    let mut rest = text;
    match key(&mut rest, values, 0) {
        Ok(()) | Err(Stop::End) => Ok(()),
        Err(stop) => Err(stop.text().to_string()),
    }
}

fn until<'a>(rest: &mut &'a str, stop: &[char]) -> (&'a str, Option<char>) {
    match rest.find(stop) {
        Some(i) => {
            let (head, tail) = rest.split_at(i);
            let c = tail.chars().next();
            *rest = &tail[1..];
            (head, c)
        }
        None => (std::mem::take(rest), None),
    }
}

fn key(rest: &mut &str, values: &Map, level: usize) -> Result<(), Stop> {
    let (name, last) = until(rest, &['=', '[', '.']);
    match last {
        None if name.is_empty() => Err(Stop::End),
        None => fault(format!("key {} has no value", quoted(name))),
        Some('=') => {
            put(values, name, std::mem::take(rest));
            Ok(())
        }
        Some('.') => {
            let level = level + 1;
            if level > MAX_NESTED_NAME_LEVEL {
                return fault(format!(
                    "value name nested level is greater than maximum supported nested level of {MAX_NESTED_NAME_LEVEL}"
                ));
            }
            let inner = inner_table(values, name)?;
            let result = key(rest, &inner, level);
            if result.is_ok() && inner.is_empty() {
                return fault(format!("key map {} has no value", quoted(name)));
            }
            if !inner.is_empty() {
                put(values, name, inner);
            }
            result
        }
        Some(_) => {
            let i = key_index(rest)?;
            let mut list = inner_list(values, name)?;
            let result = list_item(rest, &mut list, i, level);
            put(values, name, List::any(list));
            result
        }
    }
}

fn key_index(rest: &mut &str) -> Result<i64, Stop> {
    match until(rest, &[']']) {
        (text, Some(_)) => index_number(text),
        (_, None) => Err(Stop::End),
    }
}

fn list_item(rest: &mut &str, list: &mut Vec<Value>, i: i64, level: usize) -> Result<(), Stop> {
    if i < 0 {
        return fault(format!("negative {i} index not allowed"));
    }
    let (name, last) = until(rest, &['[', '.', '=']);
    if !name.is_empty() {
        return fault(format!("unexpected data at end of array index: {}", quoted(name)));
    }
    match last {
        None => Err(Stop::End),
        Some('=') => set_index(list, i, Value::string(std::mem::take(rest)), &mut { MAX_ITEMS }),
        Some('.') => {
            let inner = nested_table(list, i as usize);
            key(rest, &inner, level)?;
            set_index(list, i, Value::Map(inner), &mut { MAX_ITEMS })
        }
        Some(_) => {
            let next = key_index(rest)?;
            let mut nested = nested_list(list, i as usize)?;
            list_item(rest, &mut nested, next, level)?;
            set_index(list, i, Value::List(List::any(nested)), &mut { MAX_ITEMS })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::to_json;

    #[test]
    fn nothing_is_escaped() {
        let values = Map::new();
        for text in [r"a=x,y\n", "b.c={1}", "d[1]=z", "e="] {
            parse_literal_into(text, &values).unwrap();
        }
        assert_eq!(
            to_json(&Value::Map(values.clone())).to_string(),
            r#"{"a":"x,y\\n","b":{"c":"{1}"},"d":[null,"z"],"e":""}"#
        );
        assert_eq!(parse_literal_into("a", &values).unwrap_err(), r#"key "a" has no value"#);
    }
}
