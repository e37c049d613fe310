//! Advice for plans, in the words of configurations.

use jelly_base::model::Advice;

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

/// Variables of a plan and what reads it, which a configuration does not know.
const VARIABLES: &[&str] = &[
    "${port}",
    "${secret:",
    "${tmp}",
    "${workspace}",
    "`jelly check`",
];

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
