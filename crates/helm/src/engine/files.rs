//! `.Files`: the chart's other files.
//!
//! Follows `pkg/engine/files.go`. The surprising things: a missing file is empty, not an error, and a pattern that
//! does not parse matches everything.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use go_value::limits::{MAX_ITEMS, too_many_items};
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

const TYPE: MapType = MapType { name: "map[string][]uint8", elem: Elem::Of(Kind::Slice) };

/// Bytes that become a list of bytes, which takes two dozen times as much memory.
const MAX_BYTES: usize = 4 << 20;

/// A file's content among `size` bytes of files: `[]byte`, or what JSON and YAML make of that.
fn content(data: &[u8], size: usize) -> Value {
    if size > MAX_BYTES { Value::string(STANDARD.encode(data)) } else { Value::bytes(data) }
}

fn too_large(name: &str) -> String {
    format!("exceeded maximum size of a file as a list of bytes ({MAX_BYTES}) with {name}; it is fixed: use .Files.Get")
}

impl Files {
    fn size(&self) -> usize {
        self.0.values().map(Bytes::len).sum()
    }

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
        if name == "Lines" && memchr::memchr_iter(b'\n', self.bytes(&argument)).count() > MAX_ITEMS {
            return Err(too_many_items());
        }
        if name == "GetBytes" && self.bytes(&argument).len() > MAX_BYTES {
            return Err(too_large(&argument));
        }
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

    fn work(&self, name: &str) -> u64 {
        match name {
            "Glob" => self.0.len() as u64,
            "AsConfig" | "AsSecrets" => self.size() as u64 / 4,
            _ => 0,
        }
    }

    fn keys(&self) -> Option<Vec<Str>> {
        Some(self.0.keys().map(|name| Str::from(&**name)).collect())
    }

    fn value_at(&self, key: &Str) -> Result<(Value, Elem), String> {
        let name = key.to_text();
        let data = self.bytes(&name);
        if data.len() > MAX_BYTES {
            return Err(too_large(&name));
        }
        Ok((Value::bytes(data), TYPE.elem))
    }

    fn display(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(data) = self.data() {
            go_value::format::append(&mut out, &data);
        }
        out
    }

    fn data(&self) -> Option<Value> {
        let size = self.size();
        let entries = self.0.iter().map(|(name, data)| (Str::from(&**name), content(data, size))).collect();
        Some(Value::Map(Map::of(TYPE, entries)))
    }

    fn truth(&self) -> bool {
        !self.0.is_empty()
    }
}
