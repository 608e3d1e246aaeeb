//! What a TOML text has said so far: tables, arrays of tables, values.
//!
//! Follows the part of `parse.go` about contexts. The surprising thing: whether a key may be said again is not a matter
//! of what is there but of two marks by the key's name, for all elements of an array of tables together. So a dotted key
//! may extend an inline table, or take the place of an array.

use std::collections::BTreeMap;

use go_value::{List, ListType, Map, Value};

pub(super) type Table = BTreeMap<String, Node>;

/// What a key stands for.
#[derive(Clone)]
pub(super) enum Node {
    Value(Value),
    Array(Vec<Node>),
    Table(Table),
    Tables(Vec<Table>),
}

/// The marks of a key.
#[derive(Default)]
struct Marks {
    /// The key was only implied by another one.
    implicit: bool,
    array: bool,
    keys: BTreeMap<String, Marks>,
}

impl Marks {
    fn get(&self, key: &[String]) -> Option<&Self> {
        key.iter().try_fold(self, |marks, part| marks.keys.get(part))
    }

    fn of(&mut self, key: &[String]) -> &mut Self {
        key.iter().fold(self, |marks, part| marks.keys.entry(part.clone()).or_default())
    }
}

/// The text of a key, with quotes where they are needed.
pub(super) fn shown(key: &[String]) -> String {
    key.iter().map(|part| super::super::toml::quoted_key(part)).collect::<Vec<_>>().join(".")
}

#[derive(Default)]
pub(super) struct Tree {
    pub(super) root: Table,
    marks: Marks,
}

impl Tree {
    pub(super) fn imply(&mut self, key: &[String]) {
        self.marks.of(key).implicit = true;
    }

    pub(super) fn mark_array(&mut self, key: &[String], array: bool) {
        if array || self.marks.get(key).is_some() {
            self.marks.of(key).array = array;
        }
    }

    /// Begin the table `key`, or the next element of the array of tables `key`.
    pub(super) fn begin(&mut self, context: &mut Vec<String>, key: Vec<String>, array: bool) -> Result<(), String> {
        let Some((last, parents)) = key.split_last() else { return Ok(()) };
        let mut table = &mut self.root;
        for (i, part) in parents.iter().enumerate() {
            if !table.contains_key(part) {
                self.marks.of(&key[..=i]).implicit = true;
                table.insert(part.clone(), Node::Table(Table::new()));
            }
            table = match table.get_mut(part).and_then(inner) {
                Some(table) => table,
                None => return Err(format!("Key '{}' was already created as a hash.", shown(&key[..=i]))),
            };
        }
        parents.clone_into(context);
        if array {
            let node = table.entry(last.clone()).or_insert_with(|| Node::Tables(Vec::new()));
            let Node::Tables(tables) = node else {
                return Err(format!("Key '{}' was already created and cannot be used as an array.", shown(&key)));
            };
            tables.push(Table::new());
        } else {
            self.set(context, last, &Node::Table(Table::new()))?;
        }
        *context = key;
        Ok(())
    }

    /// Set a key of the table `context`.
    pub(super) fn set(&mut self, context: &[String], last: &str, node: &Node) -> Result<(), String> {
        let mut table = &mut self.root;
        for (i, part) in context.iter().enumerate() {
            table = match table.get_mut(part).and_then(inner) {
                Some(table) => table,
                None => return Err(format!("Key '{}' has already been defined.", shown(&context[..=i]))),
            };
        }
        if !table.contains_key(last) {
            table.insert(last.to_owned(), node.clone());
            return Ok(());
        }
        let key = [context, &[last.to_owned()]].concat();
        let marks = self.marks.of(&key);
        if !std::mem::take(&mut marks.implicit) {
            return Err(format!("Key '{}' has already been defined.", shown(&key)));
        }
        if marks.array {
            table.insert(last.to_owned(), node.clone());
        }
        Ok(())
    }
}

/// The table that keys below this one belong to.
fn inner(node: &mut Node) -> Option<&mut Table> {
    match node {
        Node::Table(table) => Some(table),
        Node::Tables(tables) => tables.last_mut(),
        _ => None,
    }
}

pub(super) fn map(table: Table) -> Map {
    table.into_iter().map(|(key, node)| (key, value(node))).collect()
}

fn value(node: Node) -> Value {
    match node {
        Node::Value(value) => value,
        Node::Array(items) => Value::List(List::any(items.into_iter().map(value).collect())),
        Node::Table(table) => Value::Map(map(table)),
        Node::Tables(tables) => {
            Value::List(List::new(ListType::MAPS, tables.into_iter().map(|t| Value::Map(map(t))).collect()))
        }
    }
}
