//! Expressions: declarations, commands, operands.
//!
//! Owns: what stands between the delimiters of an action. Does not own: the keywords that begin one. Upstream: `pipeline`,
//! `command`, `operand`, `term` of `text/template/parse/parse.go`.
//! The surprising thing: `.a.b` is two tokens that become one node, whose position is the second one's.

use go_value::Str;
use go_value::quote::{quote, unquote};

use super::node::{Command, Operand, Pipe, Shown, Span, Variable, position};
use super::{Parser, Result, number};
use crate::funcs::Builtin;
use crate::token::{Kind, Token};

/// Where a token stands.
pub(super) fn span(token: &Token<'_>) -> Span {
    Span::new(token.pos, token.pos + token.text.len())
}

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipe> {
        self.check_stack()?;
        let pos = self.peek_non_space().pos;
        let mark = self.commands.len();
        let mut pipe = Pipe { pos, assign: false, decl: Vec::new(), cmds: Box::default() };
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
                    self.commands.push(command);
                }
                _ => return Err(self.unexpected(&token, context)),
            }
        }
        pipe.cmds = self.commands.drain(mark..).collect();
        self.check_pipeline(&pipe, context)?;
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
        let adjacent = self.peek();
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
        self.scope.vars.push(variable.text);
        pipe.decl.push(Variable { pos: position(variable.pos), path: span(&variable) });
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
        let (pos, mark) = (self.peek_non_space().pos, self.operands.len());
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                self.operands.push(operand);
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
        if self.operands.len() == mark {
            return Err(self.error("empty command"));
        }
        Ok(Command { pos, args: self.operands.drain(mark..).collect() })
    }

    /// A term with the fields that follow it.
    fn operand(&mut self) -> Result<Option<Operand>> {
        let Some(term) = self.term()? else { return Ok(None) };
        if self.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let mut fields = span(&self.peek());
        let pos = position(self.peek().pos);
        // Nothing stands between them.
        while self.peek().kind == Kind::Field {
            fields = fields.to(span(&self.next()));
        }
        Ok(Some(match term {
            Operand::Field { path, .. } => Operand::Field { pos, path: path.to(fields) },
            Operand::Variable(v) => Operand::Variable(Variable { pos, path: v.path.to(fields) }),
            Operand::Bool { .. }
            | Operand::String { .. }
            | Operand::Number(_)
            | Operand::Nil { .. }
            | Operand::Dot { .. } => {
                let shown = quote(Shown(&term, &self.text).to_string().as_bytes());
                return Err(self.error(format_args!("unexpected . after term {shown}")));
            }
            other => Operand::Chain { pos, operand: Box::new(other), fields },
        }))
    }

    fn term(&mut self) -> Result<Option<Operand>> {
        let token = self.next_non_space();
        let pos = position(token.pos);
        Ok(Some(match token.kind {
            Kind::Identifier => {
                let builtin = Builtin::by_name(token.text);
                if builtin.is_none() && self.funcs.get_bytes(token.text).is_none() {
                    return Err(self.error(format_args!("function {} not defined", quote(token.text))));
                }
                Operand::Identifier { name: span(&token), builtin }
            }
            Kind::Dot => Operand::Dot { pos },
            Kind::Nil => Operand::Nil { pos },
            Kind::Variable => {
                if !self.scope.vars.contains(&token.text) {
                    return Err(self.error(format_args!("undefined variable {}", quote(token.text))));
                }
                Operand::Variable(Variable { pos, path: span(&token) })
            }
            Kind::Field => Operand::Field { pos, path: span(&token) },
            Kind::Bool => Operand::Bool { pos, value: token.text == b"true" },
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                let number = number::number(token.pos, token.text, token.kind).map_err(|e| self.error(e))?;
                Operand::Number(Box::new(number))
            }
            Kind::LeftParen => Operand::Pipe(Box::new(self.pipeline("parenthesized pipeline", Kind::RightParen)?)),
            Kind::String | Kind::RawString => {
                let value = Str::from(&*unquote(token.text).map_err(|e| self.error(e))?);
                Operand::String { quoted: span(&token), value }
            }
            _ => {
                self.backup();
                return Ok(None);
            }
        }))
    }
}
