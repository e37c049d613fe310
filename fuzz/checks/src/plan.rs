//! No text makes the loader panic, and every problem can be rendered.

use jelly_plan::{PlanSource, check as load};

/// Loads the text as YAML and as JSON.
pub fn check(text: &str) {
    for name in ["plan.yaml", "plan.json"] {
        let source = PlanSource {
            path: name.into(),
            text: text.into(),
            variant: None,
        };
        if let Err(error) = load(source) {
            assert!(!error.problems().is_empty());
            // A long key or value is not printed whole.
            assert!(!error.render(false).is_empty());
        }
    }
}
