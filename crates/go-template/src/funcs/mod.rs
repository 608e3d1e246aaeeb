//! The builtin functions.
//!
//! Owns: their names, parameters, answers and error texts; comparisons are `go_value::compare`'s. Does not own: how
//! arguments get their types (`exec::call`), the short cuts of `and` and `or`, and `call`, which live there as well.
//! Upstream: `text/template/funcs.go`.
//! The surprising thing: a function of the same name in the set's [`crate::FuncMap`] hides the builtin (sprig's `slice`).

mod escape;
mod index;

use go_value::{Value, compare, format};

pub use escape::{html_escape, js_escape, query_escape};

use crate::exec::call::Params;
use crate::exec::value::Val;
use crate::func::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    And,
    Call,
    Html,
    Index,
    Slice,
    Js,
    Len,
    Not,
    Or,
    Print,
    Printf,
    Println,
    UrlQuery,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
}

/// Is this the name of one of text/template's own functions?
pub fn is_builtin(name: &str) -> bool {
    Builtin::by_name(name.as_bytes()).is_some()
}

type Result = std::result::Result<Val, String>;

impl Builtin {
    pub(crate) fn by_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"and" => Self::And,
            b"call" => Self::Call,
            b"html" => Self::Html,
            b"index" => Self::Index,
            b"slice" => Self::Slice,
            b"js" => Self::Js,
            b"len" => Self::Len,
            b"not" => Self::Not,
            b"or" => Self::Or,
            b"print" => Self::Print,
            b"printf" => Self::Printf,
            b"println" => Self::Println,
            b"urlquery" => Self::UrlQuery,
            b"eq" => Self::Eq,
            b"ge" => Self::Ge,
            b"gt" => Self::Gt,
            b"le" => Self::Le,
            b"lt" => Self::Lt,
            b"ne" => Self::Ne,
            _ => return None,
        })
    }

    pub(crate) const fn params(self) -> Params<'static> {
        const ONE: &[Type] = &[Type::Reflect];
        const TWO: &[Type] = &[Type::Reflect, Type::Reflect];
        match self {
            Self::And | Self::Or | Self::Call | Self::Index | Self::Slice | Self::Eq => {
                Params { types: TWO, variadic: true }
            }
            Self::Html | Self::Js | Self::UrlQuery | Self::Print | Self::Println => {
                Params { types: &[Type::Any], variadic: true }
            }
            Self::Printf => Params { types: &[Type::STRING, Type::Any], variadic: true },
            Self::Len | Self::Not => Params { types: ONE, variadic: false },
            Self::Ge | Self::Gt | Self::Le | Self::Lt | Self::Ne => Params { types: TWO, variadic: false },
        }
    }

    /// Call it with arguments that fit [`Builtin::params`].
    pub(crate) fn call(self, args: Vec<Val>) -> Result {
        match self {
            Self::Index => return index::index(args),
            Self::Slice => return index::slice(&args),
            Self::Len => return index::len(&args[0]),
            _ => {}
        }
        if self == Self::Eq && args.len() < 2 {
            return Err("missing argument for comparison".to_owned());
        }
        let values: Vec<Value> = args.into_iter().map(Val::into_value).collect();
        let text = |bytes: Vec<u8>| Ok(Val::Typed(Value::string(bytes)));
        let truth = |b: bool| Ok(Val::Typed(b.into()));
        match (self, values.as_slice()) {
            (Self::Print, _) => text(format::sprint(&values)),
            (Self::Println, _) => text(format::sprintln(&values)),
            (Self::Printf, [Value::String(f), args @ ..]) => text(format::sprintf(f, args)),
            (Self::Html, _) => text(html_escape(&escape::printed(&values))),
            (Self::Js, _) => text(js_escape(&escape::printed(&values))),
            (Self::UrlQuery, _) => text(query_escape(&escape::printed(&values))),
            (Self::Not, [a]) => truth(!go_value::truth::is_true(a)),
            (Self::Eq, [first, rest @ ..]) => {
                for other in rest {
                    if compare::equal(first, other)? {
                        return truth(true);
                    }
                }
                truth(false)
            }
            (Self::Ne, [a, b]) => truth(!compare::equal(a, b)?),
            (Self::Lt, [a, b]) => truth(compare::less(a, b)?),
            (Self::Le, [a, b]) => truth(compare::less(a, b)? || compare::equal(a, b)?),
            (Self::Gt, [a, b]) => truth(!(compare::less(a, b)? || compare::equal(a, b)?)),
            (Self::Ge, [a, b]) => truth(!compare::less(a, b)?),
            // `and`, `or` and `call` never come here.
            _ => Ok(Val::Invalid),
        }
    }
}

/// A value as an argument or key of the type, with Go's conversion between integer types.
pub(crate) fn prepare(value: &Value, ty: Type) -> std::result::Result<Value, String> {
    if value.is_nil() {
        return if ty.can_be_nil() {
            Ok(Value::Nil)
        } else {
            Err(format!("value is nil; should be of type {}", ty.name()))
        };
    }
    if ty.takes(value) {
        return Ok(ty.assign(value.clone()));
    }
    let kind = ty.kind();
    match value {
        Value::Int(_, n) | Value::Duration(n) if kind.is_int() => Ok(Value::Int(kind, *n)),
        Value::Int(_, n) | Value::Duration(n) if kind.is_uint() => Ok(Value::Uint(kind, *n as u64)),
        Value::Uint(_, n) if kind.is_uint() => Ok(Value::Uint(kind, *n)),
        Value::Uint(_, n) if kind.is_int() => Ok(Value::Int(kind, *n as i64)),
        _ => Err(format!("value has type {}; should be {}", value.type_name(), ty.name())),
    }
}
