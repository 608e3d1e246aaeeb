//! CEL expressions that must give a bool.
//!
//! Owns: compiling and evaluating `readyExpr`. The surprising thing: a name that is not handed in is a fault of the
//! expression itself, as Flux's compiler says, not of the object it looks at.

use cel::{Context, ExecutionError, Program, Value};
use serde_json::Value as Json;

/// Why an expression gives no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It can never give one.
    Invalid(String),
    /// It gives none for these objects.
    Evaluation(String),
}

/// Evaluate with these variables.
///
/// # Errors
/// It does not compile, does not give a bool, or cannot be evaluated.
pub fn is_true(text: &str, variables: &[(&str, &Json)]) -> Result<bool, Fault> {
    let program = Program::compile(text)
        .map_err(|e| Fault::Invalid(format!("failed to parse the CEL expression '{text}': {e}")))?;
    let mut context = Context::default();
    for (name, value) in variables {
        context.add_variable(*name, (*value).clone()).map_err(|e| Fault::Evaluation(e.to_string()))?;
    }
    match program.execute(&context) {
        Ok(Value::Bool(answer)) => Ok(answer),
        Ok(other) => Err(Fault::Invalid(format!(
            "CEL expression output type mismatch: expected bool, got {:?}",
            other.type_of()
        ))),
        Err(ExecutionError::UndeclaredReference(name)) => Err(Fault::Invalid(format!(
            "failed to parse the CEL expression '{text}': undeclared reference to '{name}'"
        ))),
        Err(e) => Err(Fault::Evaluation(e.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers() {
        let dep = json!({"status": {"n": 3, "conditions": [{"type": "Ready", "status": "True"}]}});
        let with = |text: &str| is_true(text, &[("dep", &dep)]);
        assert_eq!(with("dep.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"), Ok(true));
        assert_eq!(with("dep.status.n > 5"), Ok(false));
        assert!(matches!(with("dep.status."), Err(Fault::Invalid(_))));
        assert!(matches!(with("other.x == 1"), Err(Fault::Invalid(_))));
        assert!(matches!(with("dep.status.n"), Err(Fault::Invalid(_))));
        assert!(matches!(with("dep.none.x == 1"), Err(Fault::Evaluation(_))));
    }
}
