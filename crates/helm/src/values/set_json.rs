//! `--set-json key=JSON,…`: the values of [`SetKind::Json`](super::set::SetKind::Json).

use go_value::Value;

use super::from_json;
use super::set::{Parser, Stop, fault};

impl Parser<'_> {
    /// The JSON value at the cursor and the comma behind it; nothing at all is null.
    pub(super) fn json_value(&mut self) -> Result<Value, Stop> {
        if self.skip_blank() {
            return Ok(Value::Nil);
        }
        let rest: String = self.input[self.at..].iter().collect();
        let mut stream = serde_json::Deserializer::from_str(&rest).into_iter::<serde_json::Value>();
        let value = match stream.next() {
            Some(Ok(value)) => from_json(&value),
            Some(Err(e)) => return fault(e.to_string()),
            None => return Err(Stop::End),
        };
        self.at += rest[..stream.byte_offset()].chars().count();
        self.skip_blank();
        Ok(value)
    }

    /// Skip white space; true at a comma (which is consumed) or at the end.
    fn skip_blank(&mut self) -> bool {
        loop {
            match self.input.get(self.at) {
                None => return true,
                Some(',') => {
                    self.at += 1;
                    return true;
                }
                Some(c) if c.is_whitespace() => self.at += 1,
                Some(_) => return false,
            }
        }
    }
}
