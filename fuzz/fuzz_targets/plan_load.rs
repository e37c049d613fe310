//! No text makes the loader panic, and every problem can be rendered.
#![no_main]

use jelly_plan::{PlanSource, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for name in ["plan.yaml", "plan.json"] {
        let source = PlanSource {
            path: name.into(),
            text: text.into(),
            variant: None,
        };
        if let Err(error) = check(source) {
            assert!(!error.problems().is_empty());
            assert!(!error.render(false).is_empty());
        }
    }
});
