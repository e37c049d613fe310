//! Advice for plans, in the words of configurations.

use crate::model::Advice;

/// Words of plans, and what they are in a client's configuration.
const WORDS: &[(&str, &str)] = &[
    ("in the plan", "in the configuration"),
    ("correct the plan", "correct the configuration"),
    ("that the plan names", "that the configuration names"),
    ("that the plan starts", "that the configuration starts"),
    ("the plan speaks stdio", "its client speaks stdio"),
    ("of the plan", "of the configuration"),
    ("the plan's", "the configuration's"),
    ("The plan's", "The configuration's"),
    ("The plan names", "The configuration names"),
    ("The plan gives", "The configuration gives"),
    ("The plan takes", "The configuration takes"),
    ("give the plan its", "give the configuration its"),
    (
        "Raise `startup_timeout` of the server",
        "Give it more time (`--timeout 3m`)",
    ),
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
