//! Go maps with string keys: shared by reference, iterated in key order.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::entries::Entries;
use crate::kind::MapType;
use crate::text::Str;
use crate::value::Value;

/// A map with string keys and Go's reference semantics: a clone is the same map. Reading takes a short lock that is
/// never held while code of others runs, so a template may change a map that it ranges over ([`Map::entries`] is a
/// snapshot in key order, the order in which text/template ranges).
#[derive(Clone)]
pub struct Map {
    /// The map's Go type.
    pub ty: MapType,
    /// Go's nil map: empty, and `null` in JSON.
    pub nil: bool,
    entries: Arc<Shared>,
}

/// What all clones of a map share.
struct Shared(Mutex<Entries>);

impl Shared {
    /// The values that hold others, taken out; the rest goes.
    fn nested(&mut self, into: &mut Vec<Value>) {
        let entries = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if entries.iter().any(|(_, value)| value.holds_more()) {
            std::mem::take(entries).for_each_value(|value| {
                if value.holds_more() {
                    into.push(value);
                }
            });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut values = Vec::new();
        self.nested(&mut values);
        drop_deep(values);
    }
}

/// Drop values without recursion: a template can nest them deeper than the stack is.
pub(crate) fn drop_deep(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::Map(map) => {
                if let Some(mut inner) = Arc::into_inner(map.entries) {
                    inner.nested(&mut values);
                }
            }
            Value::List(list) => values.extend(list.into_items().into_iter().filter(Value::holds_more)),
            _ => {}
        }
    }
}

impl Map {
    /// An empty `map[string]interface {}`.
    pub fn new() -> Self {
        Self::of(MapType::ANY, Entries::new())
    }

    /// A map of type `ty` with these entries.
    pub fn of(ty: MapType, mut entries: Entries) -> Self {
        entries.shrink();
        Self { ty, nil: false, entries: Arc::new(Shared(Mutex::new(entries))) }
    }

    /// The nil map of type `ty`.
    pub fn nil(ty: MapType) -> Self {
        Self { nil: true, ..Self::of(ty, Entries::new()) }
    }

    /// The same map under another Go type name (Go's conversion of a map type: still the same map).
    pub fn with_type(&self, ty: MapType) -> Self {
        Self { ty, nil: self.nil, entries: Arc::clone(&self.entries) }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // No code of ours can panic while it holds this lock, so a poisoned one still holds a whole map.
        self.entries.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value under `key`, if the key is present.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Value> {
        self.lock().get(key.as_ref()).cloned()
    }

    /// Is the key present (also with a nil value)?
    pub fn contains_key(&self, key: impl AsRef<[u8]>) -> bool {
        self.lock().contains_key(key.as_ref())
    }

    /// Put `value` under `key`; gives back what was there.
    pub fn insert(&self, key: impl Into<Str>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        self.lock().insert(key, value)
    }

    /// Take the key out; gives back what was there.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Option<Value> {
        self.lock().remove(key.as_ref())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Has it no entries?
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// A snapshot of the entries in key order (bytewise).
    pub fn entries(&self) -> Vec<(Str, Value)> {
        self.lock().iter().map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    /// Look at each entry in key order (bytewise), without a copy. What is done with an entry must not reach the map.
    pub fn for_each(&self, mut look: impl FnMut(&Str, &Value)) {
        for (key, value) in self.lock().iter() {
            look(key, value);
        }
    }

    /// Does anybody else hold the same map? If not, it was made anew.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.entries) > 1
    }

    /// A snapshot of the keys in order.
    pub fn keys(&self) -> Vec<Str> {
        self.lock().iter().map(|(key, _)| key.clone()).collect()
    }

    /// Are both the same map (Go's pointer identity), not merely equal?
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// A reference that does not keep the map.
    pub fn downgrade(&self) -> WeakMap {
        WeakMap(Arc::downgrade(&self.entries))
    }

    /// A number that identifies this map while it lives, as `%p` would show.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.entries) as usize
    }

    /// A map with the same entries, whose nested maps are shared with this one.
    pub fn shallow_copy(&self) -> Self {
        Self::of(self.ty, self.lock().clone())
    }

    /// A map that shares nothing mutable with this one: nested maps, also those inside lists, are copied too.
    pub fn deep_copy(&self) -> Self {
        self.copy_within(&mut Vec::new())
    }

    pub(crate) fn copy_within(&self, open: &mut Vec<(Self, Self)>) -> Self {
        if let Some((_, copy)) = open.iter().find(|(original, _)| original.same(self)) {
            return copy.with_type(self.ty);
        }
        let copy = Self { nil: self.nil, ..Self::of(self.ty, Entries::new()) };
        open.push((self.clone(), copy.clone()));
        // Only nested maps are locked meanwhile, and never one that is open.
        let copied = self.lock().iter().map(|(k, v)| (k.clone(), v.copy_within(open))).collect();
        open.pop();
        *copy.lock() = copied;
        copy
    }
}

/// A map that may be gone.
#[derive(Clone)]
pub struct WeakMap(Weak<Shared>);

impl WeakMap {
    /// Is it gone?
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Is it this one?
    pub fn is(&self, map: &Map) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&map.entries))
    }

    /// Take out what it holds, if it is still there: so that a map goes that contains itself and that nobody else holds.
    pub fn clear(&self) {
        if let Some(shared) = self.0.upgrade() {
            let entries = std::mem::take(&mut *shared.0.lock().unwrap_or_else(PoisonError::into_inner));
            drop(entries);
        }
    }
}

impl fmt::Debug for WeakMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakMap").field("is_gone", &self.is_gone()).finish()
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<Str>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> Self {
        Self::of(MapType::ANY, iter.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }
}

/// Only the keys: values may be secret.
impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.ty.name).field("keys", &self.keys()).finish_non_exhaustive()
    }
}
