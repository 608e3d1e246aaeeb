//! `.Files`: the chart's other files.
//!
//! Follows `pkg/engine/files.go`. The surprising things: a missing file is empty, not an error, and a pattern that
//! does not parse matches everything.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use go_value::object::{Method, Param};
use go_value::{Elem, Kind, List, Map, MapType, Object, Str, Value};

use super::functions::to_yaml;
use super::glob::Glob;
use crate::chart::File;

/// `.Files` of a chart.
pub(super) fn files(files: &[File]) -> Value {
    let map = files.iter().map(|f| (f.name.clone(), f.data.clone())).collect();
    Value::Object(Arc::new(Files(map)))
}

struct Files(BTreeMap<Arc<str>, Bytes>);

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Files({})", self.0.len())
    }
}

impl Files {
    fn bytes(&self, name: &str) -> &[u8] {
        self.0.get(name).map_or(&[], |d| &d[..])
    }

    /// Base names to what `encode` makes of the contents, as YAML.
    fn as_yaml(&self, encode: impl Fn(&[u8]) -> Str) -> Value {
        let base = |name: &str| Str::from(name.rsplit('/').next().unwrap_or(name));
        let entries = self.0.iter().map(|(name, data)| (base(name), Value::String(encode(data)))).collect();
        let yaml = to_yaml(&Value::Map(Map::of(MapType::STRINGS, entries))).unwrap_or_default();
        Value::string(yaml)
    }

    fn lines(&self, name: &str) -> Value {
        let data = self.bytes(name);
        if data.is_empty() {
            return Value::List(List::strings(Vec::<Str>::new()));
        }
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        Value::List(List::strings(data.split(|&b| b == b'\n').map(Str::from)))
    }
}

impl Object for Files {
    fn type_name(&self) -> &'static str {
        "engine.files"
    }

    fn kind(&self) -> Kind {
        Kind::Map
    }

    fn method(&self, name: &str) -> Option<Method> {
        match name {
            "Get" | "GetBytes" | "Glob" | "Lines" => Some(Method { params: &[Param::STRING], variadic: false }),
            "AsConfig" | "AsSecrets" => Some(Method { params: &[], variadic: false }),
            _ => None,
        }
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let argument = args.first().and_then(Value::as_str).map(|s| s.to_text().into_owned()).unwrap_or_default();
        Ok(match name {
            "Get" => Value::string(self.bytes(&argument)),
            "GetBytes" => Value::bytes(self.bytes(&argument)),
            "Lines" => self.lines(&argument),
            "AsConfig" => self.as_yaml(|data| Str::from(data)),
            "AsSecrets" => self.as_yaml(|data| STANDARD.encode(data).into()),
            _ => {
                let glob = Glob::new(&argument);
                let matched = self.0.iter().filter(|(name, _)| glob.as_ref().is_none_or(|g| g.matches(name)));
                Value::Object(Arc::new(Self(matched.map(|(n, d)| (n.clone(), d.clone())).collect())))
            }
        })
    }

    fn display(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(data) = self.data() {
            go_value::format::append(&mut out, &data);
        }
        out
    }

    fn data(&self) -> Option<Value> {
        const TYPE: MapType = MapType { name: "map[string][]uint8", elem: Elem::Of(Kind::Slice) };
        let entries = self.0.iter().map(|(name, data)| (Str::from(&**name), Value::bytes(data))).collect();
        Some(Value::Map(Map::of(TYPE, entries)))
    }

    fn truth(&self) -> bool {
        !self.0.is_empty()
    }
}
