//! Fields, map keys, methods, variables.
//!
//! Owns: what `.a.b`, `$x.a` and `(…).a` mean on each kind of value, missing keys, the errors of the rest. Does not own:
//! calling the methods found (`call`). Upstream: `evalField`, `evalChainNode`, `evalVariableNode`.
//! The surprising thing: a field of no value is no value, but a field of a nil interface is an error.

use go_value::quote::quote;
use go_value::{Map, Value};

use super::value::{self, Val};
use super::{At, Result, State};
use crate::parse::node::{Operand, Shown};
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
        let (name, fields) = variable.parts(self.text());
        let val = self.var(name)?.clone();
        if fields.is_empty() {
            self.not_a_function(args.unwrap_or_default(), &last)?;
            return Ok(val);
        }
        self.field_chain(dot, &val, word, fields, args, last)
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
            return Err(self.fail(format!("indirection through explicit nil in {}", Shown(word, self.text()))));
        }
        let val = self.arg(dot, None, operand)?;
        self.field_chain(dot, &val, word, fields.of(self.text()), args, last)
    }

    /// Follow `path` (`.a.b`) from `receiver`; arguments belong to its last name.
    pub(super) fn field_chain(
        &mut self,
        dot: &Val,
        receiver: &Val,
        word: &'a Operand,
        path: &'a [u8],
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        let Some(mut path) = path.get(1..) else { return Ok(receiver.clone()) };
        let mut val = None;
        while let Some(end) = memchr::memchr(b'.', path) {
            let name = &path[..end];
            path = &path[end + 1..];
            val = Some(self.field(dot, name, word, None, Val::Missing, val.as_ref().unwrap_or(receiver))?);
        }
        self.field(dot, path, word, args, last, val.as_ref().unwrap_or(receiver))
    }

    fn field(
        &mut self,
        dot: &Val,
        name: &'a [u8],
        word: &'a Operand,
        args: Option<&'a [Operand]>,
        last: Val,
        receiver: &Val,
    ) -> Result<Val> {
        let has_args = args.is_some_and(|args| args.len() > 1) || !last.is_missing();
        if let Value::Map(map) = receiver.value()
            && map.ty.is_unnamed()
        {
            return self.key(map, name, has_args);
        }
        // The lexer lets only letters and digits pass.
        let name = std::str::from_utf8(name).unwrap_or_default();
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
            Value::Map(map) => self.key(map, name.as_bytes(), has_args),
            Value::Object(object) => {
                if let Some(method) = object.method(name) {
                    self.work(object.work(name))?;
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
                    Value::Map(map) => self.key(map, name.as_bytes(), has_args),
                    _ => Err(self.no_field(name, receiver)),
                }
            }
            _ => Err(self.no_field(name, receiver)),
        }
    }

    fn no_field(&self, name: &str, receiver: &Val) -> Box<crate::ExecError> {
        self.fail(format!("can't evaluate field {name} in type {}", receiver.type_name()))
    }

    fn key(&self, map: &Map, name: &[u8], has_args: bool) -> Result<Val> {
        if has_args {
            let name = String::from_utf8_lossy(name);
            return Err(self.fail(format!("{name} is not a method but has arguments")));
        }
        match (map.get(name), self.cx.options.missing_key) {
            (Some(value), _) => Ok(Val::element(value, map.ty.elem)),
            (None, MissingKey::Invalid) => Ok(Val::Invalid),
            (None, MissingKey::Zero) => Ok(Val::zero(map.ty.elem)),
            (None, MissingKey::Error) => Err(self.fail(format!("map has no entry for key {}", quote(name)))),
        }
    }
}
