//! Expressions: declarations, commands, operands.
//!
//! Owns: what stands between the delimiters of an action. Does not own: the keywords that begin one. Upstream: `pipeline`,
//! `command`, `operand`, `term` of `text/template/parse/parse.go`.
//! The surprising thing: `.a.b` is two tokens that become one node, whose position is the second one's.

use go_value::Value;
use go_value::quote::{quote, unquote};

use super::node::{Command, Operand, Pipe, Variable};
use super::{Parser, Result, number};
use crate::funcs::Builtin;
use crate::token::{Kind, Token};

fn text(token: &Token<'_>) -> String {
    String::from_utf8_lossy(token.text).into_owned()
}

/// The parts of a dotted name.
fn path(dotted: &str) -> Box<[Box<str>]> {
    dotted.split('.').map(Into::into).collect()
}

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipe> {
        self.check_stack()?;
        let pos = self.peek_non_space().pos;
        let mut pipe = Pipe { pos, assign: false, decl: Vec::new(), cmds: Vec::new() };
        while self.declaration(context, &mut pipe)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen => {
                    self.backup();
                    let command = self.command()?;
                    pipe.cmds.push(command);
                }
                _ => return Err(self.unexpected(&token, context)),
            }
        }
        self.check_pipeline(&pipe, context)?;
        // Most have one command; a vector begins with room for four, which is most of what a tree would take.
        pipe.cmds.shrink_to_fit();
        Ok(pipe)
    }

    /// A variable that is declared or assigned at the head of a pipeline. True if another one follows.
    fn declaration(&mut self, context: &str, pipe: &mut Pipe) -> Result<bool> {
        let variable = self.peek_non_space();
        if variable.kind != Kind::Variable {
            return Ok(false);
        }
        self.next();
        // Space is a token, so telling `$x foo` from `$x :=` takes two more; both may have to go back.
        let adjacent = self.peek().clone();
        let next = self.peek_non_space();
        let comma = next.kind == Kind::Char && next.text == b",";
        if !comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
            if adjacent.kind == Kind::Space {
                self.backup3(variable, adjacent);
            } else {
                self.backup2(variable);
            }
            return Ok(false);
        }
        self.next_non_space();
        let name = text(&variable);
        self.scope.vars.push(name.as_str().into());
        pipe.decl.push(Variable { pos: variable.pos, path: path(&name) });
        if !comma {
            pipe.assign = next.kind == Kind::Assign;
            return Ok(false);
        }
        if context == "range" && pipe.decl.len() < 2 {
            return match self.peek_non_space().kind {
                Kind::Variable | Kind::RightDelim | Kind::RightParen => Ok(true),
                _ => Err(self.error("range can only initialize variables")),
            };
        }
        Err(self.error(format_args!("too many declarations in {context}")))
    }

    fn check_pipeline(&self, pipe: &Pipe, context: &str) -> Result<()> {
        if pipe.cmds.is_empty() {
            return Err(self.error(format_args!("missing value for {context}")));
        }
        for (i, command) in pipe.cmds.iter().enumerate().skip(1) {
            if let Operand::Bool { .. }
            | Operand::Dot { .. }
            | Operand::Nil { .. }
            | Operand::Number(_)
            | Operand::String { .. } = command.args[0]
            {
                return Err(self.error(format_args!("non executable command in pipeline stage {}", i + 1)));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Result<Command> {
        let mut command = Command { pos: self.peek_non_space().pos, args: Vec::new() };
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                command.args.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => {}
                Kind::RightDelim | Kind::RightParen => {
                    self.backup();
                    break;
                }
                Kind::Pipe => break,
                _ => return Err(self.unexpected(&token, "operand")),
            }
        }
        if command.args.is_empty() {
            return Err(self.error("empty command"));
        }
        command.args.shrink_to_fit();
        Ok(command)
    }

    /// A term with the fields that follow it.
    fn operand(&mut self) -> Result<Option<Operand>> {
        let Some(term) = self.term()? else { return Ok(None) };
        if self.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let pos = self.peek().pos;
        let mut fields: Vec<Box<str>> = Vec::new();
        while self.peek().kind == Kind::Field {
            let field = text(&self.next());
            fields.push(field[1..].into());
        }
        Ok(Some(match term {
            Operand::Field { path, .. } => Operand::Field { pos, path: path.into_iter().chain(fields).collect() },
            Operand::Variable(v) => {
                Operand::Variable(Variable { pos, path: v.path.into_iter().chain(fields).collect() })
            }
            Operand::Bool { .. }
            | Operand::String { .. }
            | Operand::Number(_)
            | Operand::Nil { .. }
            | Operand::Dot { .. } => {
                let shown = quote(term.to_string().as_bytes());
                return Err(self.error(format_args!("unexpected . after term {shown}")));
            }
            other => Operand::Chain { pos, operand: Box::new(other), fields },
        }))
    }

    fn term(&mut self) -> Result<Option<Operand>> {
        let token = self.next_non_space();
        let pos = token.pos;
        Ok(Some(match token.kind {
            Kind::Identifier => {
                let name = text(&token);
                if !self.has_function(&name) {
                    return Err(self.error(format_args!("function {} not defined", quote(token.text))));
                }
                Operand::Identifier { pos, builtin: Builtin::by_name(&name), name: name.into() }
            }
            Kind::Dot => Operand::Dot { pos },
            Kind::Nil => Operand::Nil { pos },
            Kind::Variable => {
                let name = text(&token);
                if !self.scope.vars.iter().any(|known| **known == *name) {
                    return Err(self.error(format_args!("undefined variable {}", quote(token.text))));
                }
                Operand::Variable(Variable { pos, path: Box::new([name.into()]) })
            }
            Kind::Field => Operand::Field { pos, path: Box::new([text(&token)[1..].into()]) },
            Kind::Bool => Operand::Bool { pos, value: token.text == b"true" },
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                let number = number::number(pos, token.text, token.kind).map_err(|e| self.error(e))?;
                Operand::Number(Box::new(number))
            }
            Kind::LeftParen => Operand::Pipe(Box::new(self.pipeline("parenthesized pipeline", Kind::RightParen)?)),
            Kind::String | Kind::RawString => {
                let value = Value::string(unquote(token.text).map_err(|e| self.error(e))?);
                Operand::String { pos, quoted: text(&token).into(), value }
            }
            _ => {
                self.backup();
                return Ok(None);
            }
        }))
    }
}
