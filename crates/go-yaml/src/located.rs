//! Documents with the lines their nodes stand in, for whoever explains a text to a person.
//!
//! Owns: nodes as they are written, and what go-yaml makes of their scalars. Does not own: building values
//! ([`crate::decode`]), judging. The surprising thing: an alias stays an alias, so that a small text stays small.

use crate::document::documents;
use crate::error::Error;
use crate::resolve::{Resolved, resolve};
use crate::tree::{NodeData, NodeId, Tree};

/// A node and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The line, from 1.
    pub line: usize,
    /// What is there.
    pub node: Node,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A scalar.
    Scalar {
        /// Its text without quotes.
        text: String,
        /// Written without quotes and without a tag?
        plain: bool,
        /// What it is read as.
        meaning: Meaning,
    },
    /// A list.
    Sequence(Vec<Located>),
    /// A map: keys and values in their order, equal keys among them.
    Mapping(Vec<(Located, Located)>),
    /// `*NAME`.
    Alias(String),
}

/// What go-yaml reads a scalar as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of 64 bits, signed or not.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A text, a time, or binary data.
    Text,
}

/// All documents of a stream. Lines count from the beginning of the text.
///
/// # Errors
/// The text is not YAML.
pub fn locate(text: &[u8]) -> Result<Vec<Located>, Error> {
    Ok(documents(text, usize::MAX)?.iter().map(|tree| located(tree, tree.root)).collect())
}

fn located(tree: &Tree, id: NodeId) -> Located {
    let node = tree.node(id);
    let of = |id: &NodeId| located(tree, *id);
    let data = match &node.data {
        NodeData::Scalar { value, tag, implicit } => {
            // Quoted is text, and so is what a tag does not fit.
            let typed = *implicit || tag.as_ref().is_some_and(|t| t.starts_with("tag:"));
            let meaning = if typed { resolve(tag.as_deref(), value).unwrap_or(Resolved::Text) } else { Resolved::Text };
            Node::Scalar { text: value.clone(), plain: *implicit, meaning: meaning_of(meaning) }
        }
        NodeData::Alias { name, .. } => Node::Alias(name.clone()),
        NodeData::Sequence(items) => Node::Sequence(items.iter().map(of).collect()),
        NodeData::Mapping(pairs) => {
            Node::Mapping(pairs.chunks_exact(2).map(|pair| (of(&pair[0]), of(&pair[1]))).collect())
        }
    };
    Located { line: node.line as usize + 1, node: data }
}

fn meaning_of(resolved: Resolved) -> Meaning {
    match resolved {
        Resolved::Null => Meaning::Null,
        Resolved::Bool(b) => Meaning::Bool(b),
        Resolved::Int(n) => Meaning::Int(n.into()),
        Resolved::Uint(n) => Meaning::Int(n.into()),
        Resolved::Float(f) => Meaning::Float(f),
        Resolved::Text | Resolved::Timestamp | Resolved::Binary => Meaning::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_lines_and_meanings() {
        let documents = locate(b"a: on\n'b': \"on\"\nc:\n- 1_000\n- &x 1.5\n- *x\n---\nlast\n").unwrap();
        assert_eq!((documents.len(), documents[1].line), (2, 8));
        let Node::Mapping(pairs) = &documents[0].node else { panic!("no map") };
        let scalar = |text: &str, plain, meaning| Node::Scalar { text: text.into(), plain, meaning };
        assert_eq!(pairs[0].1, Located { line: 1, node: scalar("on", true, Meaning::Bool(true)) });
        assert_eq!(pairs[1].1, Located { line: 2, node: scalar("on", false, Meaning::Text) });
        let Node::Sequence(items) = &pairs[2].1.node else { panic!("no list") };
        assert_eq!(items[0], Located { line: 4, node: scalar("1_000", true, Meaning::Int(1000)) });
        assert_eq!(items[1].node, scalar("1.5", true, Meaning::Float(1.5)));
        assert_eq!(items[2].node, Node::Alias("x".into()));
        assert!(locate(b"a: [").is_err());
    }
}
