//! The methods of `.Values` that templates can call: `.Values.AsMap`, `.Table`, `.PathValue`, `.YAML`.
//!
//! Follows the methods of `Values` in Helm's `pkg/chart/common/values.go`. The surprising thing: in a template a method
//! wins over a key of the same name, and only the maps that Helm itself types as `Values` have them: `.Values` of each
//! chart, not the tables inside.

use go_template::Methods;
use go_value::object::{Method, Param};
use go_value::quote::quote;
use go_value::{Kind, Map, MapType, Value};

/// The methods, for a function map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValuesMethods;

impl Methods for ValuesMethods {
    fn method(&self, receiver: &Value, name: &str) -> Option<Method> {
        let Value::Map(map) = receiver else { return None };
        if map.ty.name != MapType::VALUES.name {
            return None;
        }
        let params: &'static [Param] = match name {
            "AsMap" | "YAML" => &[],
            "Table" | "PathValue" => &[Param::STRING],
            "Encode" => &[Param::Named("io.Writer", Kind::Interface)],
            _ => return None,
        };
        Some(Method { params, variadic: false })
    }

    fn call(&self, receiver: &Value, name: &str, args: &[Value]) -> Result<Value, String> {
        let Value::Map(map) = receiver else { return Err("no values".into()) };
        let text = args.first().and_then(Value::as_str).map(|s| s.to_text().into_owned()).unwrap_or_default();
        match name {
            "AsMap" => Ok(Value::Map(map.with_type(MapType::ANY))),
            "YAML" => go_yaml::encode(&Value::Map(map.clone())).map(Value::from).map_err(|e| e.to_string()),
            "Table" => table(map, &text),
            "PathValue" => path_value(map, &text),
            // Nothing in a template is an `io.Writer`.
            _ => Err(format!("{name} needs a writer")),
        }
    }
}

fn table(values: &Map, path: &str) -> Result<Value, String> {
    super::table(values, path)
        .map(|table| Value::Map(table.with_type(MapType::VALUES)))
        .map_err(|key| format!("{} is not a table", quote(key.as_bytes())))
}

fn path_value(values: &Map, path: &str) -> Result<Value, String> {
    if path.is_empty() {
        return Err("YAML path cannot be empty".into());
    }
    super::path_value(values, path).ok_or_else(|| {
        let key = path.rsplit('.').next().unwrap_or(path);
        format!("{} is not a value", quote(key.as_bytes()))
    })
}
