//! What a repair is about, as reports name it.

use jelly_base::model::Section;
use jelly_plan::Step;

/// How reports name a step, as in `steps.write`.
pub(super) fn step_target(step: &Step) -> String {
    let section = match step.section {
        Section::Setup => "setup",
        Section::Steps => "steps",
        Section::Teardown => "teardown",
    };
    format!("{section}.{}", step.id)
}
