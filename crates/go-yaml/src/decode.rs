//! From a tree of nodes to values, as go-yaml v2 decodes into `interface{}` and sigs.k8s.io/yaml goes on to JSON.
//!
//! Owns: aliases, merge keys, duplicate keys, key types, the guard against alias bombs, the order in which errors win.
//! Does not own: the meaning of scalars ([`crate::resolve`]), the built type ([`crate::target`]).
//! Upstream: `decoder` in go-yaml v2's `decode.go`, `yamlToJSONTarget` in sigs.k8s.io/yaml.
//! The surprising thing: a merge (`<<`) acts where it stands, so it overrides keys before it and yields to keys after.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use crate::limits::{MAX_DEPTH, allowed_alias_ratio};
use crate::resolve::{Resolved, resolve};
use crate::target::{ForErrors, Key, Target};
use crate::tree::{NodeData, NodeId, Tree};

/// Build the document. `strict` makes duplicate keys an error. The error is the text behind `error converting YAML to
/// JSON: `.
pub(crate) fn build<T: Target>(tree: &mut Tree, strict: bool) -> Result<T::Out, String> {
    let root = tree.root;
    let shared = tree.has_aliases();
    let mut decoder = Decoder::new(tree, strict, shared);
    let out = decoder.value::<T>(root)?;
    if !decoder.type_errors.is_empty() {
        return Err(format!("yaml: unmarshal errors:\n  {}", decoder.type_errors.join("\n  ")));
    }
    // What JSON cannot hold is found after everything that YAML itself objects to.
    match decoder.fault.key.or(decoder.fault.number) {
        Some(error) => Err(error),
        None => Ok(out),
    }
}

/// What JSON cannot hold: the first key and the first number, in the order in which Helm would come to them.
#[derive(Default)]
struct Fault {
    key: Option<String>,
    number: Option<String>,
}

impl Fault {
    fn or(self, later: Self) -> Self {
        Self { key: self.key.or(later.key), number: self.number.or(later.number) }
    }
}

struct Decoder<'t> {
    tree: &'t mut Tree,
    strict: bool,
    /// Nodes may be visited again, so their texts must stay.
    shared: bool,
    active: HashSet<NodeId>,
    type_errors: Vec<String>,
    /// In what has been read.
    fault: Fault,
    /// In the entries of the mappings that are being read, by key: an entry that is replaced takes its fault with it.
    entries: Vec<BTreeMap<String, Fault>>,
    built: u64,
    from_aliases: u64,
    alias_depth: usize,
    depth: usize,
}

impl<'t> Decoder<'t> {
    fn new(tree: &'t mut Tree, strict: bool, shared: bool) -> Self {
        Self {
            tree,
            strict,
            shared,
            active: HashSet::new(),
            type_errors: Vec::new(),
            fault: Fault::default(),
            entries: Vec::new(),
            built: 0,
            from_aliases: 0,
            alias_depth: 0,
            depth: 0,
        }
    }

    fn count(&mut self) -> Result<(), String> {
        self.built += 1;
        if self.alias_depth > 0 {
            self.from_aliases += 1;
        }
        if self.from_aliases > 100
            && self.built > 1000
            && self.from_aliases as f64 / self.built as f64 > allowed_alias_ratio(self.built)
        {
            return Err("yaml: document contains excessive aliasing".to_owned());
        }
        Ok(())
    }

    /// Run `inner` on what an alias points at.
    fn through_alias<R>(
        &mut self,
        id: NodeId,
        inner: impl FnOnce(&mut Self, NodeId) -> Result<R, String>,
    ) -> Result<R, String> {
        let NodeData::Alias { name, target } = &self.tree.node(id).data else {
            return inner(self, id);
        };
        let target = *target;
        if !self.active.insert(id) {
            return Err(format!("yaml: anchor '{name}' value contains itself"));
        }
        self.alias_depth += 1;
        let result = inner(self, target);
        self.alias_depth -= 1;
        self.active.remove(&id);
        result
    }

    fn deeper<R>(&mut self, inner: impl FnOnce(&mut Self) -> Result<R, String>) -> Result<R, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("yaml: exceeded max depth of {MAX_DEPTH}; it is fixed"));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn value<T: Target>(&mut self, id: NodeId) -> Result<T::Out, String> {
        self.count()?;
        match &self.tree.node(id).data {
            NodeData::Alias { .. } => self.through_alias(id, Self::value::<T>),
            NodeData::Scalar { .. } => self.scalar::<T>(id),
            NodeData::Sequence(children) => {
                let n = children.len();
                self.deeper(|d| {
                    let mut items = Vec::with_capacity(n);
                    for i in 0..n {
                        let child = d.child(id, i);
                        items.push(d.value::<T>(child)?);
                    }
                    Ok(T::list(items))
                })
            }
            NodeData::Mapping(_) => {
                let mut map = T::Map::default();
                self.entries.push(BTreeMap::new());
                self.mapping::<T>(id, &mut map)?;
                let faults = self.entries.pop().unwrap_or_default().into_values();
                self.fault = faults.fold(std::mem::take(&mut self.fault), Fault::or);
                Ok(T::map(map))
            }
        }
    }

    fn child(&self, id: NodeId, i: usize) -> NodeId {
        match &self.tree.node(id).data {
            NodeData::Sequence(c) | NodeData::Mapping(c) => c[i],
            _ => id,
        }
    }

    fn text(&mut self, id: NodeId) -> String {
        if !self.shared {
            return self.tree.take_text(id);
        }
        match &self.tree.node(id).data {
            NodeData::Scalar { value, .. } => value.clone(),
            _ => String::new(),
        }
    }

    /// What the scalar means; a text if it is one.
    fn resolved(&mut self, id: NodeId) -> Result<(Resolved, String), String> {
        let NodeData::Scalar { value, tag, implicit } = &self.tree.node(id).data else {
            return Ok((Resolved::Null, String::new()));
        };
        let meaning = if tag.is_none() && !implicit { Resolved::Text } else { resolve(tag.as_deref(), value)? };
        match meaning {
            Resolved::Text | Resolved::Timestamp => Ok((Resolved::Text, self.text(id))),
            Resolved::Binary => {
                let bytes = base64(value).ok_or("yaml: !!binary value contains invalid base64 data")?;
                // JSON has no bytes: each one that is not UTF-8 is lost.
                let mut text = String::with_capacity(bytes.len());
                for chunk in bytes.utf8_chunks() {
                    text.push_str(chunk.valid());
                    chunk.invalid().iter().for_each(|_| text.push('\u{fffd}'));
                }
                Ok((Resolved::Text, text))
            }
            other => Ok((other, String::new())),
        }
    }

    fn scalar<T: Target>(&mut self, id: NodeId) -> Result<T::Out, String> {
        let (meaning, text) = self.resolved(id)?;
        Ok(match meaning {
            Resolved::Null => T::null(),
            Resolved::Bool(b) => T::bool(b),
            Resolved::Int(n) => T::int(n),
            Resolved::Uint(n) => T::uint(n),
            Resolved::Float(f) => {
                if !f.is_finite() && self.fault.number.is_none() {
                    self.fault.number = go_value::json::float(f, 64).err();
                }
                T::float(f)
            }
            _ => T::text(text.into()),
        })
    }

    fn key(&mut self, id: NodeId) -> Result<Key<'static>, String> {
        self.count()?;
        match &self.tree.node(id).data {
            NodeData::Alias { .. } => self.through_alias(id, Self::key),
            NodeData::Scalar { .. } => {
                let (meaning, text) = self.resolved(id)?;
                Ok(match meaning {
                    Resolved::Null => Key::Null,
                    Resolved::Bool(b) => Key::Bool(b),
                    Resolved::Int(n) => Key::Int(n),
                    Resolved::Uint(n) => Key::Uint(n),
                    Resolved::Float(f) => Key::Float(f),
                    _ => Key::Text(text.into()),
                })
            }
            NodeData::Sequence(_) | NodeData::Mapping(_) => {
                let shown = self.value::<ForErrors>(id)?;
                Err(format!("yaml: invalid map key: {shown}"))
            }
        }
    }

    fn mapping<T: Target>(&mut self, id: NodeId, map: &mut T::Map) -> Result<(), String> {
        let n = match &self.tree.node(id).data {
            NodeData::Mapping(children) => children.len(),
            _ => 0,
        };
        self.deeper(|d| {
            for i in (0..n).step_by(2) {
                let (key, value) = (d.child(id, i), d.child(id, i + 1));
                if d.is_merge(key) {
                    d.merge::<T>(value, map)?;
                } else {
                    d.entry::<T>(key, value, map)?;
                }
            }
            Ok(())
        })
    }

    fn entry<T: Target>(&mut self, key: NodeId, value: NodeId, map: &mut T::Map) -> Result<(), String> {
        let key = self.key(key)?;
        let outer = std::mem::take(&mut self.fault);
        if matches!(key, Key::Null | Key::Uint(_)) {
            self.fault.key = Some(self.unsupported_key(&key, value)?);
        }
        if self.strict
            && let Ok(text) = key.clone().into_text()
            && T::contains(map, &text)
        {
            let line = self.tree.node(value).line + 1;
            self.type_errors.push(format!("line {line}: key {} already set in map", key.go_syntax()));
            self.value::<T>(value)?;
            self.fault = outer;
            return Ok(());
        }
        let built = self.value::<T>(value)?;
        let own = std::mem::replace(&mut self.fault, outer);
        if let Some(faults) = self.entries.last_mut() {
            let is_faulty = own.key.is_some() || own.number.is_some();
            if is_faulty || !faults.is_empty() {
                let name = key.clone().into_text().map_or_else(|key| key.go_syntax(), Cow::into_owned);
                if is_faulty {
                    faults.insert(name, own);
                } else {
                    faults.remove(&name);
                }
            }
        }
        // A key without JSON form has been noted above and fails the whole document.
        let _ = T::insert(map, key, built);
        Ok(())
    }

    fn unsupported_key(&mut self, key: &Key<'_>, value: NodeId) -> Result<String, String> {
        let kind = if matches!(key, Key::Uint(_)) { "uint64" } else { "%!s(<nil>)" };
        let was = std::mem::replace(&mut self.shared, true);
        let (built, from_aliases) = (self.built, self.from_aliases);
        let fault = std::mem::take(&mut self.fault);
        let shown = match self.value::<ForErrors>(value)? {
            s if s == ForErrors::null() => "<nil>".to_owned(),
            s => s,
        };
        (self.shared, self.built, self.from_aliases) = (was, built, from_aliases);
        self.fault = fault;
        Ok(format!("unsupported map key of type: {kind}, key: {}, value: {shown}", key.go_syntax()))
    }

    fn is_merge(&self, id: NodeId) -> bool {
        match &self.tree.node(id).data {
            NodeData::Scalar { value, tag, implicit } => {
                value == "<<" && (*implicit || tag.as_deref() == Some("tag:yaml.org,2002:merge"))
            }
            _ => false,
        }
    }

    fn merge<T: Target>(&mut self, id: NodeId, map: &mut T::Map) -> Result<(), String> {
        match &self.tree.node(id).data {
            NodeData::Mapping(_) | NodeData::Alias { .. } => self.merge_one::<T>(id, map),
            NodeData::Sequence(children) => {
                // Backwards, as earlier ones win.
                for i in (0..children.len()).rev() {
                    let child = self.child(id, i);
                    self.merge_one::<T>(child, map)?;
                }
                Ok(())
            }
            NodeData::Scalar { .. } => Err(WANT_MAP.to_owned()),
        }
    }

    fn merge_one<T: Target>(&mut self, id: NodeId, map: &mut T::Map) -> Result<(), String> {
        let target = match &self.tree.node(id).data {
            NodeData::Alias { target, .. } => *target,
            _ => id,
        };
        if !matches!(self.tree.node(target).data, NodeData::Mapping(_)) {
            return Err(WANT_MAP.to_owned());
        }
        self.count()?;
        self.through_alias(id, |d, target| {
            if d.alias_depth > 0 && target != id {
                d.count()?;
            }
            d.mapping::<T>(target, map)
        })
    }
}

const WANT_MAP: &str = "yaml: map merge requires map or sequence of maps as the value";

/// Standard base64 with padding; line breaks are skipped, as Go does.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let groups = digits.len() / 4;
    for (i, group) in digits.chunks(4).enumerate() {
        let padding = if i + 1 == groups { group.iter().rev().take_while(|b| **b == b'=').count() } else { 0 };
        if padding > 2 {
            return None;
        }
        let mut n = 0u32;
        for b in &group[..4 - padding] {
            let six = match b {
                b'A'..=b'Z' => b - b'A',
                b'a'..=b'z' => b - b'a' + 26,
                b'0'..=b'9' => b - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            n = n << 6 | u32::from(six);
        }
        n <<= 6 * padding;
        out.extend_from_slice(&n.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}
