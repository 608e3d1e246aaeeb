//! Loops.
//!
//! Owns: what can be ranged over, the loop's variables, `break` and `continue`. Does not own: the body. Upstream:
//! `walkRange` of `text/template/exec.go`.
//! The surprising thing: a `break` in the `else` of a loop ends nothing but that `else`.

use go_value::{List, Object, Str, Value, format};

use super::value::{self, Val};
use super::{At, Flow, Result, State};
use crate::parse::node::{Branch, Node};

impl<'a> State<'a> {
    pub(super) fn range(&mut self, dot: &Val, node: &'a Node, branch: &'a Branch) -> Result<Flow> {
        self.at = At::Node(node);
        let mark = self.vars.len();
        let val = self.pipeline(dot, &branch.pipe)?.into_value();
        let any = self.iterate(&val, branch)?;
        let flow = match &branch.else_list {
            Some(list) if !any => self.walk_list(dot, list)?,
            _ => Flow::Next,
        };
        self.leave_scope(mark);
        self.cx.budget.release(&val);
        Ok(if flow == Flow::Break { Flow::Next } else { flow })
    }

    /// Execute the body for each element. False if there was none.
    fn iterate(&mut self, val: &Value, branch: &'a Branch) -> Result<bool> {
        if let Value::Object(object) = val
            && let Some(keys) = object.keys()
        {
            return self.iterate_object(object.as_ref(), &keys, branch);
        }
        let val = &*value::data(val);
        match val {
            Value::Int(kind, n) => self.count(*n, branch, val, |i| Value::Int(*kind, i)),
            Value::Duration(n) => self.count(*n, branch, val, Value::Duration),
            Value::Uint(kind, n) => {
                let n = i64::try_from(*n).unwrap_or(i64::MAX);
                self.count(n, branch, val, |i| Value::Uint(*kind, i as u64))
            }
            Value::List(list) => {
                for (i, item) in list.iter().enumerate() {
                    let elem = Val::element(item.clone(), list.ty.elem);
                    if self.iteration(branch, Val::Typed(Value::int(i as i64)), &elem)? == Flow::Break {
                        break;
                    }
                }
                Ok(!list.is_empty())
            }
            Value::Map(map) => {
                self.work(map.len() as u64)?;
                let entries = map.entries();
                let any = !entries.is_empty();
                for (key, item) in entries {
                    let elem = Val::element(item, map.ty.elem);
                    if self.iteration(branch, Val::Typed(Value::String(key)), &elem)? == Flow::Break {
                        break;
                    }
                }
                Ok(any)
            }
            Value::Nil => Ok(false),
            _ => {
                let mut text = Vec::new();
                // Go prints a copy, which has not the methods of a pointer.
                let copy = if let Value::Object(object) = val { object.without_address() } else { None };
                value::print(&mut text, copy.as_ref().unwrap_or(val));
                Err(self.fail(format!("range can't iterate over {}", String::from_utf8_lossy(&text))))
            }
        }
    }

    fn iterate_object(&mut self, object: &dyn Object, keys: &[Str], branch: &'a Branch) -> Result<bool> {
        for key in keys {
            let (item, elem) = object.value_at(key).map_err(|what| self.fail(what))?;
            self.work(item.as_list().map_or(0, List::len) as u64 / 16)?;
            let elem = Val::element(item, elem);
            if self.iteration(branch, Val::Typed(Value::String(key.clone())), &elem)? == Flow::Break {
                break;
            }
        }
        Ok(!keys.is_empty())
    }

    fn count(&mut self, n: i64, branch: &'a Branch, val: &Value, make: impl Fn(i64) -> Value) -> Result<bool> {
        if branch.pipe.decl.len() > 1 {
            let text = format::to_text(val);
            return Err(self.fail(format!("can't use {text} to iterate over more than one variable")));
        }
        for i in 0..n {
            if self.iteration(branch, Val::Invalid, &Val::Typed(make(i)))? == Flow::Break {
                break;
            }
        }
        Ok(n > 0)
    }

    fn iteration(&mut self, branch: &'a Branch, index: Val, elem: &Val) -> Result<Flow> {
        self.work(1)?;
        let pipe = &branch.pipe;
        let top = self.vars.len();
        match (pipe.decl.as_slice(), pipe.assign) {
            ([], _) => {}
            ([one], true) => self.set_var(one.parts(self.text()).0, elem.clone())?,
            ([key, item, ..], true) => {
                self.set_var(key.parts(self.text()).0, index)?;
                self.set_var(item.parts(self.text()).0, elem.clone())?;
            }
            ([_], false) => self.vars[top - 1].1 = elem.clone(),
            ([_, _, ..], false) => {
                self.vars[top - 1].1 = elem.clone();
                self.vars[top - 2].1 = index;
            }
        }
        let flow = self.walk_list(elem, &branch.list)?;
        self.leave_scope(top);
        Ok(flow)
    }
}
