//! Fields, map keys, methods, variables.
//!
//! Owns: what `.a.b`, `$x.a` and `(…).a` mean on each kind of value, missing keys, the errors of the rest. Does not own:
//! calling the methods found (`call`). Upstream: `evalField`, `evalChainNode`, `evalVariableNode`.
//! The surprising thing: a field of no value is no value, but a field of a nil interface is an error.

use go_value::quote::quote;
use go_value::{Map, Value};

use super::value::{self, Val};
use super::{At, Result, State};
use crate::parse::node::Operand;
use crate::template::MissingKey;

impl<'a> State<'a> {
    pub(super) fn variable(
        &mut self,
        dot: &Val,
        word: &'a Operand,
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        self.at = At::Operand(word);
        let Operand::Variable(variable) = word else { return Ok(Val::Invalid) };
        let val = self.var(&variable.path[0])?.clone();
        if variable.path.len() == 1 {
            self.not_a_function(args.unwrap_or_default(), &last)?;
            return Ok(val);
        }
        self.field_chain(dot, &val, word, &variable.path[1..], args, last)
    }

    pub(super) fn chain(
        &mut self,
        dot: &Val,
        word: &'a Operand,
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        self.at = At::Operand(word);
        let Operand::Chain { operand, fields, .. } = word else { return Ok(Val::Invalid) };
        if let Operand::Nil { .. } = operand.as_ref() {
            return Err(self.fail(format!("indirection through explicit nil in {word}")));
        }
        let val = self.arg(dot, None, operand)?;
        self.field_chain(dot, &val, word, fields, args, last)
    }

    /// Follow `path` from `receiver`; arguments belong to its last name.
    pub(super) fn field_chain(
        &mut self,
        dot: &Val,
        receiver: &Val,
        word: &'a Operand,
        path: &'a [Box<str>],
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        let Some((name, before)) = path.split_last() else { return Ok(receiver.clone()) };
        let Some((first, middle)) = before.split_first() else {
            return self.field(dot, name, word, args, last, receiver);
        };
        let mut val = self.field(dot, first, word, None, Val::Missing, receiver)?;
        for name in middle {
            val = self.field(dot, name, word, None, Val::Missing, &val)?;
        }
        self.field(dot, name, word, args, last, &val)
    }

    fn field(
        &mut self,
        dot: &Val,
        name: &'a str,
        word: &'a Operand,
        args: Option<&'a [Operand]>,
        last: Val,
        receiver: &Val,
    ) -> Result<Val> {
        let has_args = args.is_some_and(|args| args.len() > 1) || !last.is_missing();
        if let Some((methods, method)) = self.cx.set.funcs().method(receiver.value(), name) {
            let call = |args: &[Value]| methods.call(receiver.value(), name, args);
            return self.method(dot, &call, method, At::Operand(word), name, args, last);
        }
        match receiver.value() {
            Value::Nil if receiver.is_nil_iface() => {
                Err(self.fail(format!("nil pointer evaluating {}.{name}", receiver.type_name())))
            }
            Value::Nil => {
                if self.cx.options.missing_key == MissingKey::Error {
                    return Err(self.fail(format!("nil data; no entry for key {}", quote(name.as_bytes()))));
                }
                Ok(Val::Invalid)
            }
            Value::Map(map) => self.key(map, name, has_args),
            Value::Object(object) => {
                if let Some(method) = object.method(name) {
                    self.cx.budget.work(object.work(name)).map_err(|what| self.fail(what))?;
                    let call = |args: &[Value]| object.call(name, args);
                    return self.method(dot, &call, method, At::Operand(word), name, args, last);
                }
                if let Some(field) = object.field(name) {
                    if has_args {
                        return Err(self.fail(format!("{name} has arguments but cannot be invoked as function")));
                    }
                    self.cx.budget.give(&field).map_err(|what| self.fail(what))?;
                    return Ok(if field.is_nil() { Val::Iface(field) } else { Val::Typed(field) });
                }
                match &*value::data(receiver.value()) {
                    Value::Map(map) => self.key(map, name, has_args),
                    _ => Err(self.no_field(name, receiver)),
                }
            }
            _ => Err(self.no_field(name, receiver)),
        }
    }

    fn no_field(&self, name: &str, receiver: &Val) -> Box<crate::ExecError> {
        self.fail(format!("can't evaluate field {name} in type {}", receiver.type_name()))
    }

    fn key(&self, map: &Map, name: &str, has_args: bool) -> Result<Val> {
        if has_args {
            return Err(self.fail(format!("{name} is not a method but has arguments")));
        }
        match (map.get(name), self.cx.options.missing_key) {
            (Some(value), _) => Ok(Val::element(value, map.ty.elem)),
            (None, MissingKey::Invalid) => Ok(Val::Invalid),
            (None, MissingKey::Zero) => Ok(Val::zero(map.ty.elem)),
            (None, MissingKey::Error) => Err(self.fail(format!("map has no entry for key {}", quote(name.as_bytes())))),
        }
    }
}
