//! Calls of functions and methods.
//!
//! Owns: counting, evaluating, checking and converting arguments, for everything that can be called. Does not own: which
//! values fit a type ([`Type`]), the builtin functions. Upstream: `evalCall`, `evalArg`, `validateType`.
//! The surprising thing: a literal argument takes the type of its parameter, anything else must have it.

use go_value::object::Param;
use go_value::quote::quote;
use go_value::{Kind, Value};

use super::value::Val;
use super::{At, Result, State};
use crate::error::FuncError;
use crate::func::Type;
use crate::funcs::Builtin;
use crate::parse::node::{Number, Operand, Shown};

/// The parameters of what is called.
#[derive(Clone, Copy)]
pub(crate) struct Params<'p> {
    pub(crate) types: &'p [Type],
    pub(crate) variadic: bool,
}

impl<'a> State<'a> {
    /// Call the function that `word` names. `node` is to blame if it fails.
    pub(super) fn function(
        &mut self,
        dot: &Val,
        word: &'a Operand,
        node: At<'a>,
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        self.at = At::Operand(word);
        let Operand::Identifier { name, builtin } = word else { return Ok(Val::Invalid) };
        // The lexer lets only letters and digits pass.
        let name = std::str::from_utf8(name.of(self.text())).unwrap_or_default();
        if let Some(function) = self.cx.set.funcs().get(name) {
            let signature = function.signature();
            let params = Params { types: &signature.params, variadic: signature.variadic };
            let args: Vec<Value> = self.args(dot, params, name, args, last)?.into_iter().map(Val::into_value).collect();
            self.cx.budget.recurse().map_err(|what| self.fail(what))?;
            let set = self.cx.set;
            let taken = self.cx.budget.take(&args).map_err(FuncError::from);
            let result = taken
                .and_then(|()| function.call(&mut self.cx.reborrow(set), &args))
                .and_then(|result| self.cx.budget.give(&result).map(|()| result).map_err(FuncError::from))
                .map_err(|e| {
                    self.at = node;
                    self.fail_call(name, e)
                })?;
            for arg in &args {
                self.cx.budget.release(arg);
            }
            return Ok(match signature.result {
                Type::Any => Val::Iface(result),
                ty => Val::of(ty.typed_nil(result)),
            });
        }
        let Some(builtin) = *builtin else {
            return Err(self.fail(format!("{} is not a defined function", quote(name.as_bytes()))));
        };
        match builtin {
            Builtin::And | Builtin::Or => self.short_circuit(dot, builtin, name, args, last),
            Builtin::Call => self.call(dot, node, args, last),
            _ => {
                let args = self.args(dot, builtin.params(), name, args, last)?;
                let taken = self.cx.budget.take(args.iter().map(Val::value));
                taken
                    .and_then(|()| builtin.call(args))
                    .and_then(|val| self.cx.budget.give(val.value()).map(|()| val))
                    .map_err(|what| {
                        self.at = node;
                        self.fail_call(name, what.into())
                    })
            }
        }
    }

    /// Call a method with the arguments that its parameters want.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn method(
        &mut self,
        dot: &Val,
        call: &dyn Fn(&[Value]) -> std::result::Result<Value, String>,
        method: go_value::object::Method,
        node: At<'a>,
        name: &str,
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        let types: Vec<Type> = method.params.iter().map(|&param| of_param(param)).collect();
        let params = Params { types: &types, variadic: method.variadic };
        let args: Vec<Value> = self.args(dot, params, name, args, last)?.into_iter().map(Val::into_value).collect();
        let taken = self.cx.budget.take(&args);
        taken
            .and_then(|()| call(&args))
            .and_then(|result| self.cx.budget.give(&result).map(|()| Val::of(result)))
            .map_err(|what| {
                self.at = node;
                self.fail_call(name, what.into())
            })
    }

    fn check_count(&self, params: Params<'_>, name: &str, given: usize, piped: bool) -> Result<()> {
        let (all, wanted) = (given + usize::from(piped), params.types.len());
        if params.variadic {
            let fixed = wanted.saturating_sub(1);
            if all < fixed {
                return Err(self.fail(format!("wrong number of args for {name}: want at least {fixed} got {given}")));
            }
        } else if all != wanted {
            return Err(self.fail(format!("wrong number of args for {name}: want {wanted} got {all}")));
        }
        Ok(())
    }

    /// The arguments, each of its parameter's type. The first of `args` is the word itself.
    fn args(
        &mut self,
        dot: &Val,
        params: Params<'_>,
        name: &str,
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Vec<Val>> {
        let args = args.and_then(|args| args.get(1..)).unwrap_or_default();
        self.check_count(params, name, args.len(), !last.is_missing())?;
        let param = |i: usize| params.types.get(i).or(params.types.last()).copied().unwrap_or(Type::Any);
        let mut vals = Vec::with_capacity(args.len() + 1);
        for (i, arg) in args.iter().enumerate() {
            vals.push(self.arg(dot, Some(param(i)), arg)?);
        }
        if !last.is_missing() {
            vals.push(self.validate(last, Some(param(args.len())))?);
        }
        Ok(vals)
    }

    fn short_circuit(
        &mut self,
        dot: &Val,
        builtin: Builtin,
        name: &str,
        args: Option<&'a [Operand]>,
        last: Val,
    ) -> Result<Val> {
        let args = args.and_then(|args| args.get(1..)).unwrap_or_default();
        self.check_count(builtin.params(), name, args.len(), !last.is_missing())?;
        let mut val = Val::Invalid;
        for arg in args {
            val = self.arg(dot, Some(Type::Reflect), arg)?;
            if val.truth() == (builtin == Builtin::Or) {
                return Ok(val);
            }
        }
        Ok(if last.is_missing() { val } else { last })
    }

    /// The builtin `call`: its first argument is a function.
    fn call(&mut self, dot: &Val, node: At<'a>, args: Option<&'a [Operand]>, last: Val) -> Result<Val> {
        let callee = match args.and_then(|args| args.get(1)) {
            Some(word) => Shown(word, self.text()).to_string(),
            None => match last.value() {
                Value::String(s) => s.to_string(),
                Value::Nil => "<invalid Value>".to_owned(),
                value => format!("<{} Value>", value.type_name()),
            },
        };
        let mut vals = self.args(dot, Builtin::Call.params(), "call", args, last)?.into_iter();
        let function = vals.next().unwrap_or(Val::Invalid).into_value();
        let args: Vec<Value> = vals.map(Val::into_value).collect();
        call_value(&callee, &function, &args).map_err(|what| {
            self.at = node;
            self.fail_call("call", what)
        })
    }

    /// One argument. Without a type: what a chain begins with.
    pub(super) fn arg(&mut self, dot: &Val, ty: Option<Type>, word: &'a Operand) -> Result<Val> {
        self.at = At::Operand(word);
        let val = match word {
            Operand::Dot { .. } => dot.clone(),
            Operand::Nil { .. } => {
                let ty = ty.unwrap_or(Type::Any);
                return match ty {
                    Type::Reflect => Ok(Val::Invalid),
                    _ if ty.can_be_nil() => Ok(Val::Iface(Value::Nil)),
                    _ => Err(self.fail(format!("cannot assign nil to {}", ty.name()))),
                };
            }
            Operand::Field { path, .. } => {
                self.field_chain(dot, dot, word, path.of(self.text()), Some(std::slice::from_ref(word)), Val::Missing)?
            }
            Operand::Variable(_) => self.variable(dot, word, None, Val::Missing)?,
            Operand::Pipe(pipe) => self.pipeline(dot, pipe)?,
            Operand::Identifier { .. } => self.function(dot, word, At::Operand(word), None, Val::Missing)?,
            Operand::Chain { .. } => self.chain(dot, word, None, Val::Missing)?,
            Operand::Bool { .. } | Operand::Number(_) | Operand::String { .. } => {
                return match ty {
                    None | Some(Type::Any | Type::Reflect) => self.constant(word),
                    Some(ty) => self.literal(ty, word),
                };
            }
        };
        self.validate(val, ty)
    }

    /// A literal for a parameter of a concrete type.
    fn literal(&self, ty: Type, word: &Operand) -> Result<Val> {
        let number = match word {
            Operand::Number(n) => Some(n.as_ref()),
            _ => None,
        };
        let int = number.and_then(|n: &Number| n.int);
        let value = match ty.kind() {
            Kind::Bool => match word {
                Operand::Bool { value, .. } => Ok(Value::Bool(*value)),
                _ => Err("bool"),
            },
            Kind::String => match word {
                Operand::String { value, .. } => Ok(Value::String(value.clone())),
                _ => Err("string"),
            },
            Kind::Int64 if ty == Type::DURATION => int.map(Value::Duration).ok_or("integer"),
            kind if kind.is_int() => int.map(|n| Value::Int(kind, narrow(n, kind))).ok_or("integer"),
            kind if kind.is_uint() => number
                .and_then(|n| n.uint)
                .map(|n| Value::Uint(kind, narrow(n as i64, kind) as u64))
                .ok_or("unsigned integer"),
            kind if kind.is_float() => number.and_then(|n| n.float).map(|n| Value::Float(kind, n)).ok_or("float"),
            Kind::Complex128 => number.and_then(|n| n.complex).map(|(re, im)| Value::Complex(re, im)).ok_or("complex"),
            _ => {
                let shown = Shown(word, self.text());
                return Err(self.fail(format!("can't handle {shown} for arg of type {}", ty.name())));
            }
        };
        value
            .map(Val::Typed)
            .map_err(|expected| self.fail(format!("expected {expected}; found {}", Shown(word, self.text()))))
    }

    /// The value, if it can be assigned to the type.
    fn validate(&self, val: Val, ty: Option<Type>) -> Result<Val> {
        let Some(ty) = ty else { return Ok(val) };
        match val {
            _ if ty == Type::Reflect => Ok(val),
            Val::Invalid | Val::Missing if ty.can_be_nil() => Ok(Val::Iface(Value::Nil)),
            Val::Invalid | Val::Missing => Err(self.fail(format!("invalid value; expected {}", ty.name()))),
            Val::Iface(value) if ty == Type::Any => Ok(Val::Iface(value)),
            Val::Iface(value) | Val::Typed(value) => {
                if ty.takes(&value) {
                    return Ok(Val::Typed(ty.assign(value)));
                }
                let got = if value.is_nil() { "interface {}" } else { value.type_name() };
                Err(self.fail(format!("wrong type for value; expected {}; got {got}", ty.name())))
            }
        }
    }
}

/// A constant as a number of the kind; what does not fit is cut off.
const fn narrow(n: i64, kind: Kind) -> i64 {
    match kind {
        Kind::Int8 => n as i8 as i64,
        Kind::Int16 => n as i16 as i64,
        Kind::Int32 => n as i32 as i64,
        Kind::Uint8 => n as u8 as i64,
        Kind::Uint16 => n as u16 as i64,
        Kind::Uint32 => n as u32 as i64,
        _ => n,
    }
}

/// The type that a method's parameter has, as far as kinds tell.
fn of_param(param: Param) -> Type {
    match param {
        Param::Of(Kind::Interface) => Type::Any,
        Param::Of(Kind::Map) => Type::MAP,
        Param::Of(Kind::Slice) => Type::LIST,
        Param::Of(kind) => Type::Basic(kind),
        Param::Named(name, kind) => Type::Named(name, kind),
    }
}

/// Call a function value: an [`Object`] of kind func, whose method without a name is the function itself.
fn call_value(callee: &str, function: &Value, args: &[Value]) -> std::result::Result<Val, FuncError> {
    let object = match function {
        Value::Nil => return Err("call of nil".into()),
        Value::Object(object) if object.kind() == Kind::Func => object,
        other => return Err(format!("non-function {callee} of type {}", other.type_name()).into()),
    };
    let Some(method) = object.method("") else { return Err("call of nil".into()) };
    let (got, wanted) = (args.len(), method.params.len());
    let fixed = wanted.saturating_sub(usize::from(method.variadic));
    if method.variadic && got < fixed {
        return Err(format!("wrong number of args for {callee}: got {got} want at least {fixed}").into());
    }
    if !method.variadic && got != wanted {
        return Err(format!("wrong number of args for {callee}: got {got} want {wanted}").into());
    }
    let mut ready = Vec::with_capacity(got);
    for (i, arg) in args.iter().enumerate() {
        let param = method.params.get(i).or(method.params.last()).copied().unwrap_or(Param::ANY);
        ready.push(crate::funcs::prepare(arg, of_param(param)).map_err(|what| format!("arg {i}: {what}"))?);
    }
    Ok(Val::of(object.call("", &ready)?))
}
