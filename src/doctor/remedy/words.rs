//! Advice for plans, in the words of configurations.

use crate::model::Advice;

/// Words of plans, and what they are in a client's configuration; later ones
/// come after what they would take apart.
const WORDS: &[(&str, &str)] = &[
    ("the plan speaks stdio", "its client speaks stdio"),
    ("The plan speaks stdio", "Its client speaks stdio"),
    (
        "Raise `startup_timeout` of the server",
        "Give it more time (`--timeout 3m`)",
    ),
    (
        "Raise the step's `timeout` if the work takes that long.",
        "See what it waits for: it lives, and answers other requests.",
    ),
    ("the plan", "the configuration"),
    ("The plan", "The configuration"),
    (" in the report", ""),
];

/// Variables of a plan, which a configuration does not know.
const VARIABLES: &[&str] = &["${port}", "${secret:", "${tmp}", "${workspace}"];

pub(super) fn of_configurations(advice: &mut Advice) {
    for text in [&mut advice.what, &mut advice.why]
        .into_iter()
        .chain(&mut advice.fix)
    {
        for (ours, theirs) in WORDS {
            if text.contains(ours) {
                *text = text.replace(ours, theirs);
            }
        }
    }
    advice
        .fix
        .retain(|line| !VARIABLES.iter().any(|variable| line.contains(variable)));
}

#[cfg(test)]
mod tests {
    use super::of_configurations;
    use crate::model::Advice;
    use crate::triage::Engine;

    #[test]
    fn no_advice_of_a_rule_speaks_of_a_plan() {
        for rule in Engine::builtin().rules() {
            let mut advice = Advice {
                what: rule.advice.what.clone(),
                why: rule.advice.why.clone(),
                fix: rule.advice.fix.clone(),
            };
            of_configurations(&mut advice);
            let told = format!("{} {} {}", advice.what, advice.why, advice.fix.join(" "));
            let said = told.to_lowercase();
            assert!(!said.contains("the plan"), "{}: {told}", rule.id);
            assert!(!said.contains("in the report"), "{}: {told}", rule.id);
        }
    }
}
