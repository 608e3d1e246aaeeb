//! A text that remembers how it was made, so that it can be made smaller.
//!
//! Owns: the tree, its text, and the ways to take something away. Does not own: grammars (`templates`, `yaml`), or
//! whether what is left still shows the difference (`main`).

use splitmix::Random;

/// The same number always gives the same case.
pub struct Dice(pub Random);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// What may happen to a node when a case shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// May go, and may be replaced by one of its kind inside it.
    Part,
    /// An expression: becomes a simple one, or one inside it.
    Operand,
}

#[derive(Clone, Debug)]
pub enum Tree {
    Text(String),
    All(Vec<Tree>),
    Node(Kind, Box<Tree>),
}

pub fn text(t: impl Into<String>) -> Tree {
    Tree::Text(t.into())
}

pub fn part(t: Vec<Tree>) -> Tree {
    Tree::Node(Kind::Part, Box::new(Tree::All(t)))
}

pub fn operand(t: Vec<Tree>) -> Tree {
    Tree::Node(Kind::Operand, Box::new(Tree::All(t)))
}

const SIMPLE: [&str; 7] = ["1", "\"a\"", ".", "nil", "true", "(list)", "(dict)"];

impl Tree {
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Text(t) => out.push_str(t),
            Self::All(all) => all.iter().for_each(|t| t.write(out)),
            Self::Node(_, inner) => inner.write(out),
        }
    }

    pub fn shown(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Everything that is one step smaller, large steps first.
    pub fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        self.steps(&|t| t, &mut found);
        found.sort_by_key(|t| t.shown().len());
        found.dedup_by_key(|t| t.shown());
        found
    }

    fn steps(&self, around: &dyn Fn(Self) -> Self, found: &mut Vec<Self>) {
        match self {
            Self::Text(t) if t.len() > 1 => {
                let chars: Vec<char> = t.chars().collect();
                for n in [chars.len() / 2, 1] {
                    found.push(around(Self::Text(chars[n..].iter().collect())));
                    found.push(around(Self::Text(chars[..chars.len() - n].iter().collect())));
                }
            }
            Self::Text(_) => {}
            Self::All(all) => {
                for (i, t) in all.iter().enumerate() {
                    let inside = |new: Self| {
                        let mut all = all.clone();
                        all[i] = new;
                        around(Self::All(all))
                    };
                    t.steps(&inside, found);
                }
            }
            Self::Node(kind, inner) => {
                match kind {
                    Kind::Part => found.push(around(text(""))),
                    Kind::Operand => {
                        if self.shown().len() > 3 {
                            found.extend(SIMPLE.iter().map(|s| around(text(*s))));
                        }
                    }
                }
                let mut below = Vec::new();
                inner.of_kind(*kind, &mut below);
                found.extend(below.into_iter().map(&around));
                inner.steps(&|t| around(Self::Node(*kind, Box::new(t))), found);
            }
        }
    }

    /// The nearest nodes of a kind.
    fn of_kind(&self, kind: Kind, found: &mut Vec<Self>) {
        match self {
            Self::Text(_) => {}
            Self::All(all) => all.iter().for_each(|t| t.of_kind(kind, found)),
            Self::Node(k, inner) => {
                if *k == kind {
                    found.push(self.clone());
                }
                inner.of_kind(kind, found);
            }
        }
    }
}
