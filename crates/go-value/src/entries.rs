//! The entries of a map, by key.
//!
//! Owns: order, search, insertion. Does not own: sharing and locking ([`crate::Map`]).
//! The surprising thing: most maps of a chart have a handful of entries and are never changed, so they are a sorted vector,
//! which is one allocation of the right size; only a map that grows one by one beyond 512 entries becomes a tree.

use std::collections::{BTreeMap, btree_map};

use crate::text::Str;
use crate::value::Value;

/// So many keys are sooner gone through than halved.
const FEW: usize = 16;
/// So many entries are moved in well under a microsecond.
const MANY: usize = 512;

/// Entries in the order of their keys (bytewise), each key once.
#[derive(Clone)]
pub struct Entries(Repr);

#[derive(Clone)]
enum Repr {
    Sorted(Vec<(Str, Value)>),
    Tree(BTreeMap<Str, Value>),
}

impl Entries {
    /// None.
    pub const fn new() -> Self {
        Self(Repr::Sorted(Vec::new()))
    }

    /// None, with room for some.
    pub fn with_capacity(count: usize) -> Self {
        Self(Repr::Sorted(Vec::with_capacity(count)))
    }

    /// The value under the key.
    pub fn get(&self, key: &[u8]) -> Option<&Value> {
        match &self.0 {
            // Lengths tell most keys apart, without a look at the text.
            Repr::Sorted(entries) if entries.len() <= FEW => {
                entries.iter().find(|(known, _)| known.as_bytes() == key).map(|(_, value)| value)
            }
            Repr::Sorted(entries) => place(entries, key).ok().map(|at| &entries[at].1),
            Repr::Tree(tree) => tree.get(key),
        }
    }

    /// Is there a value under the key?
    pub fn contains_key(&self, key: &[u8]) -> bool {
        self.get(key).is_some()
    }

    /// Put a value under a key; gives back what was there.
    pub fn insert(&mut self, key: Str, value: Value) -> Option<Value> {
        let entries = match &mut self.0 {
            Repr::Sorted(entries) => entries,
            Repr::Tree(tree) => return tree.insert(key, value),
        };
        // Keys often come in order.
        let at = if entries.last().is_none_or(|(last, _)| *last < key) {
            entries.len()
        } else {
            match place(entries, &key) {
                Ok(at) => return Some(std::mem::replace(&mut entries[at].1, value)),
                Err(at) => at,
            }
        };
        if entries.len() < MANY || at == entries.len() {
            entries.insert(at, (key, value));
            return None;
        }
        let mut tree: BTreeMap<Str, Value> = std::mem::take(entries).into_iter().collect();
        tree.insert(key, value);
        self.0 = Repr::Tree(tree);
        None
    }

    /// Take the value under the key out.
    pub fn remove(&mut self, key: &[u8]) -> Option<Value> {
        match &mut self.0 {
            Repr::Sorted(entries) => place(entries, key).ok().map(|at| entries.remove(at).1),
            Repr::Tree(tree) => tree.remove(key),
        }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Sorted(entries) => entries.len(),
            Repr::Tree(tree) => tree.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One after the other.
    pub fn iter(&self) -> Iter<'_> {
        match &self.0 {
            Repr::Sorted(entries) => Iter::Sorted(entries.iter()),
            Repr::Tree(tree) => Iter::Tree(tree.iter()),
        }
    }

    /// The values, in order.
    pub fn for_each_value(self, look: impl FnMut(Value)) {
        match self.0 {
            Repr::Sorted(entries) => entries.into_iter().map(|(_, value)| value).for_each(look),
            Repr::Tree(tree) => tree.into_values().for_each(look),
        }
    }

    /// Give back room that is not needed. What a vector begins with is not worth the trouble.
    pub(crate) fn shrink(&mut self) {
        if let Repr::Sorted(entries) = &mut self.0
            && entries.capacity() > 4
        {
            entries.shrink_to_fit();
        }
    }
}

fn place(entries: &[(Str, Value)], key: &[u8]) -> Result<usize, usize> {
    entries.binary_search_by(|(known, _)| known.as_bytes().cmp(key))
}

impl Default for Entries {
    fn default() -> Self {
        Self::new()
    }
}

/// Of equal keys the last one counts.
impl FromIterator<(Str, Value)> for Entries {
    fn from_iter<T: IntoIterator<Item = (Str, Value)>>(iter: T) -> Self {
        let mut entries: Vec<(Str, Value)> = iter.into_iter().collect();
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            // The sort is stable: equal keys stay in their order.
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(&mut later.1, &mut kept.1);
                }
                same
            });
        }
        Self(Repr::Sorted(entries))
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = (&'a Str, &'a Value);
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// See [`Entries::iter`].
pub enum Iter<'a> {
    /// Of a sorted vector.
    Sorted(std::slice::Iter<'a, (Str, Value)>),
    /// Of a tree.
    Tree(btree_map::Iter<'a, Str, Value>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Str, &'a Value);
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Sorted(entries) => entries.next().map(|(key, value)| (key, value)),
            Self::Tree(entries) => entries.next(),
        }
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Sorted(entries) => entries.size_hint(),
            Self::Tree(entries) => entries.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation as a tree answers it, below and above the number at which the vector becomes one.
    #[test]
    fn as_a_tree() {
        let mut numbers = splitmix::Random(7);
        for keys in [3, 40, 2 * MANY] {
            let (mut ours, mut tree) = (Entries::new(), BTreeMap::new());
            for _ in 0..8 * MANY {
                let key = Str::from(numbers.below(keys).to_string());
                let value = numbers.below(1000) as i64;
                if numbers.below(4) == 0 {
                    let (a, b) = (ours.remove(&key), tree.remove(&key));
                    assert_eq!(a.map(number), b);
                } else {
                    let (a, b) = (ours.insert(key.clone(), Value::int(value)), tree.insert(key.clone(), value));
                    assert_eq!(a.map(number), b);
                }
                assert_eq!(ours.get(&key).cloned().map(number), tree.get(&key).copied());
                assert_eq!((ours.len(), ours.is_empty()), (tree.len(), tree.is_empty()));
            }
            let all: Vec<(Str, i64)> = ours.iter().map(|(k, v)| (k.clone(), number(v.clone()))).collect();
            assert_eq!(all, tree.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn of_equal_keys_the_last_one_counts() {
        let entries: Entries = [("b", 1), ("a", 2), ("b", 3), ("a", 4), ("b", 5)]
            .map(|(k, n)| (k.into(), Value::int(n)))
            .into_iter()
            .collect();
        let all: Vec<(String, i64)> = entries.iter().map(|(k, v)| (k.to_string(), number(v.clone()))).collect();
        assert_eq!(all, [("a".to_owned(), 4), ("b".to_owned(), 5)]);
    }

    fn number(value: Value) -> i64 {
        match value {
            Value::Int(_, n) => n,
            other => panic!("{other:?}"),
        }
    }
}
