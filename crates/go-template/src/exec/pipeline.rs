//! Expressions.
//!
//! Owns: pipelines, commands, constants, declarations. Does not own: fields (`field`), calls (`call`). Upstream:
//! `evalPipeline`, `evalCommand`, `idealConstant` of `text/template/exec.go`.
//! The surprising thing: how a number is written decides its type: `1e3` is a float though an integer could hold it.

use go_value::Value;

use super::value::Val;
use super::{At, Result, State};
use crate::parse::node::{Command, Number, Operand, Pipe, Shown};

impl<'a> State<'a> {
    pub(super) fn pipeline(&mut self, dot: &Val, pipe: &'a Pipe) -> Result<Val> {
        self.at = At::Pipe(pipe);
        self.cx.budget.recurse().map_err(|what| self.fail(what))?;
        let mut val = Val::Missing;
        for command in &pipe.cmds {
            val = self.command(dot, command, val)?.dig();
        }
        for variable in &pipe.decl {
            let (name, _) = variable.parts(self.text());
            if pipe.assign {
                self.set_var(name, val.clone())?;
            } else {
                self.vars.push((name, val.clone()));
            }
        }
        Ok(val)
    }

    /// `last` is what the command before it in the pipeline gave.
    fn command(&mut self, dot: &Val, command: &'a Command, last: Val) -> Result<Val> {
        let word = &command.args[0];
        match word {
            Operand::Field { path, .. } => {
                self.at = At::Operand(word);
                return self.field_chain(dot, dot, word, path.of(self.text()), Some(&command.args), last);
            }
            Operand::Chain { .. } => return self.chain(dot, word, Some(&command.args), last),
            Operand::Identifier { .. } => {
                return self.function(dot, word, At::Command(command), Some(&command.args), last);
            }
            Operand::Pipe(pipe) => {
                self.not_a_function(&command.args, &last)?;
                return self.pipeline(dot, pipe);
            }
            Operand::Variable(_) => return self.variable(dot, word, Some(&command.args), last),
            _ => {}
        }
        self.at = At::Operand(word);
        self.not_a_function(&command.args, &last)?;
        match word {
            Operand::Dot { .. } => Ok(dot.clone()),
            Operand::Nil { .. } => Err(self.fail("nil is not a command")),
            _ => self.constant(word),
        }
    }

    pub(super) fn not_a_function(&self, args: &[Operand], last: &Val) -> Result<()> {
        if args.len() > 1 || !last.is_missing() {
            return Err(self.fail(format!("can't give argument to non-function {}", Shown(&args[0], self.text()))));
        }
        Ok(())
    }

    /// A literal where any type will do.
    pub(super) fn constant(&mut self, word: &'a Operand) -> Result<Val> {
        match word {
            Operand::Bool { value, .. } => Ok(Val::Typed((*value).into())),
            Operand::String { value, .. } => Ok(Val::Typed(Value::String(value.clone()))),
            Operand::Number(number) => {
                self.at = At::Operand(word);
                self.number(number)
            }
            _ => Err(self
                .fail(format!("can't handle assignment of {} to empty interface argument", Shown(word, self.text())))),
        }
    }

    fn number(&self, n: &Number) -> Result<Val> {
        if let Some((re, im)) = n.complex {
            return Ok(Val::Typed(Value::Complex(re, im)));
        }
        let text = &n.text;
        let hex_int =
            text.len() > 2 && (text.starts_with("0x") || text.starts_with("0X")) && !text.contains(['p', 'P']);
        match (n.float, n.int) {
            (Some(float), _) if !hex_int && !text.starts_with('\'') && text.contains(['.', 'e', 'E', 'p', 'P']) => {
                Ok(Val::Typed(Value::float(float)))
            }
            (_, Some(int)) => Ok(Val::Typed(Value::int(int))),
            _ if n.uint.is_some() => Err(self.fail(format!("{text} overflows int"))),
            _ => Ok(Val::Invalid),
        }
    }
}
