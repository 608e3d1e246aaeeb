//! One document as a tree of nodes.
//!
//! Owns: composing events into nodes, anchors and aliases, the depth limit.
//! Does not own: what scalars mean ([`crate::resolve`]), merging and duplicate keys ([`crate::decode`]).
//! Upstream: `parser` in go-yaml v2's `decode.go`.
//! The surprising thing: an anchor is known from its node's start on, so an alias can point at what contains it; that
//! is an error only when the value is built.

use std::collections::HashMap;

use crate::limits::{MAX_DEPTH, MAX_NODES};
use crate::parse::{EventData, Parser};

/// An index into [`Tree`].
pub(crate) type NodeId = u32;

/// A node and where it starts (line from 0).
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) data: NodeData,
}

pub(crate) enum NodeData {
    Scalar {
        value: String,
        tag: Option<String>,
        /// Plain and without a tag, so that its type follows from its text.
        implicit: bool,
    },
    Alias {
        name: String,
        target: NodeId,
    },
    Sequence(Vec<NodeId>),
    /// Keys and values in turn.
    Mapping(Vec<NodeId>),
}

/// The nodes of one document.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    pub(crate) root: NodeId,
}

impl Tree {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Can a node be reached in more than one way?
    pub(crate) fn has_aliases(&self) -> bool {
        self.nodes.iter().any(|n| matches!(n.data, NodeData::Alias { .. }))
    }

    /// Take the text out of a scalar that is not needed again.
    pub(crate) fn take_text(&mut self, id: NodeId) -> String {
        match &mut self.nodes[id as usize].data {
            NodeData::Scalar { value, .. } => std::mem::take(value),
            _ => String::new(),
        }
    }
}

/// The next document of the stream, `None` at its end.
pub(crate) fn compose(events: &mut Parser<'_>) -> Result<Option<Tree>, String> {
    loop {
        match events.next()?.data {
            EventData::StreamEnd => return Ok(None),
            EventData::DocumentStart => break,
            _ => {}
        }
    }
    let mut composer = Composer { nodes: Vec::new(), anchors: HashMap::new() };
    let root = composer.document(events)?;
    Ok(Some(Tree { nodes: composer.nodes, root }))
}

struct Composer {
    nodes: Vec<Node>,
    anchors: HashMap<String, NodeId>,
}

impl Composer {
    fn push(&mut self, line: usize, data: NodeData, anchor: Option<String>) -> Result<NodeId, String> {
        let id = NodeId::try_from(self.nodes.len()).map_err(|_| "yaml: document has too many nodes".to_owned())?;
        if self.nodes.len() >= MAX_NODES {
            return Err(format!(
                "yaml: exceeded maximum number of nodes ({MAX_NODES}); it is fixed: use smaller documents"
            ));
        }
        self.nodes.push(Node { line: line as u32, data });
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
        Ok(id)
    }

    /// Read up to the end of the document, that event included: garbage right behind it is an error.
    fn document(&mut self, events: &mut Parser<'_>) -> Result<NodeId, String> {
        let mut root = 0;
        // The collections that are open, each with the children it has so far.
        let mut open: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        loop {
            let event = events.next()?;
            let line = event.line;
            let id = match event.data {
                EventData::Scalar { anchor, tag, value, implicit } => {
                    self.push(line, NodeData::Scalar { value, tag, implicit }, anchor)?
                }
                EventData::Alias(name) => {
                    let target =
                        *self.anchors.get(&name).ok_or_else(|| format!("yaml: unknown anchor '{name}' referenced"))?;
                    self.push(line, NodeData::Alias { name, target }, None)?
                }
                EventData::SequenceStart { anchor } => {
                    let id = self.push(line, NodeData::Sequence(Vec::new()), anchor)?;
                    open.push((id, Vec::new()));
                    id
                }
                EventData::MappingStart { anchor } => {
                    let id = self.push(line, NodeData::Mapping(Vec::new()), anchor)?;
                    open.push((id, Vec::new()));
                    id
                }
                EventData::SequenceEnd | EventData::MappingEnd => {
                    if let Some((id, children)) = open.pop() {
                        match &mut self.nodes[id as usize].data {
                            NodeData::Sequence(c) | NodeData::Mapping(c) => *c = children,
                            _ => {}
                        }
                    }
                    continue;
                }
                EventData::DocumentEnd | EventData::StreamEnd => return Ok(root),
                EventData::StreamStart | EventData::DocumentStart => continue,
            };
            if open.len() > MAX_DEPTH {
                return Err(format!("yaml: exceeded max depth of {MAX_DEPTH}; it is fixed"));
            }
            // A collection that has just been opened is a child of the one around it.
            let around = match open.last() {
                Some((last, _)) if *last == id => open.len().checked_sub(2),
                Some(_) => Some(open.len() - 1),
                None => None,
            };
            match around {
                Some(i) => open[i].1.push(id),
                None => root = id,
            }
        }
    }
}
