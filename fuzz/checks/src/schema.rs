//! A schema and a value of others: both are judged within the budget, and in
//! the same way each time.

use jelly_plan::BoundedSchema;
use serde_json::Value;

/// Holds a value against a schema: a JSON list of both.
pub fn check(bytes: &[u8]) {
    let Ok((schema, value)) = serde_json::from_slice::<(Value, Value)>(bytes) else {
        return;
    };
    let Ok(bounded) = BoundedSchema::compile(&schema) else {
        return;
    };
    let fits = bounded.is_valid(&value);
    assert_eq!(fits, bounded.is_valid(&value));
    if let (Ok(true), Ok(errors)) = (fits, bounded.errors(&value, 8)) {
        assert!(errors.is_empty());
    }
}
