//! What the tests of the engine feed it most: one failure of a report.

use super::diagnose::Engine;
use jelly_base::model::{Diagnosis, Failure};

/// What the built-in rules say of a failed test with this type, if any, and text.
pub(super) fn diagnose(type_: &str, text: &str) -> Diagnosis {
    Engine::builtin().diagnose(&Failure {
        element: Some("failure".into()),
        name: Some("order".into()),
        type_: (!type_.is_empty()).then(|| type_.into()),
        text: Some(text.into()),
        ..Failure::default()
    })
}
