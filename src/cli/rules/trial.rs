//! `jelly rules test`: the examples and look-alikes of rules, tried.

use super::source::Rules;
use jelly_base::model::{Asked, ExitCode, RuleInfo};
use jelly_base::text::{one_line, plural};
use jelly_triage::engine::{Example, Rule, Slip};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Tries the rules that are `wanted` and writes what does not hold; exit code
/// 1 if anything does not.
pub(super) fn trial(
    rules: &Rules,
    wanted: impl Fn(&RuleInfo) -> bool,
    out: &mut dyn Write,
) -> io::Result<ExitCode> {
    let infos: HashMap<String, RuleInfo> = rules
        .describe()
        .into_iter()
        .map(|info| (info.id.clone(), info))
        .collect();
    let own = |id: &str| {
        infos
            .get(id)
            .is_some_and(|info| info.asked != Asked::Builtin)
    };
    let (mut tried, mut examples, mut failed) = (0, 0, 0);
    // How often a rule of the user's decides an example of a built-in one.
    let mut taken: BTreeMap<(String, String), usize> = BTreeMap::new();
    for rule in rules
        .rules()
        .filter(|rule| infos.get(&rule.id).is_some_and(&wanted))
    {
        tried += 1;
        examples += rule.examples().len() + rule.lookalikes().len();
        for slip in rules.slips(rule) {
            match &slip.took {
                Some(took) if own(took) && !own(&rule.id) && slip.example => {
                    *taken.entry((took.clone(), rule.id.clone())).or_default() += 1;
                }
                Some(_) | None => {
                    failed += 1;
                    writeln!(out, "{}\n", describe_slip(rule, &slip))?;
                }
            }
        }
    }
    for ((took, from), count) in &taken {
        let count = plural(*count, "example");
        writeln!(out, "note: {took} decides {count} of {from}\n")?;
    }
    let texts = plural(examples, "example and look-alike");
    let texts = match examples {
        1 => texts,
        _ => format!("{examples} examples and look-alikes"),
    };
    let rules = plural(tried, "rule");
    if failed == 0 {
        writeln!(out, "{rules}, {texts}: all hold")?;
        Ok(ExitCode::Passed)
    } else {
        let do_not = if failed == 1 { "does not" } else { "do not" };
        writeln!(out, "{rules}, {texts}: {failed} {do_not} hold")?;
        Ok(ExitCode::CodeFailure)
    }
}

/// What does not hold, and what would help.
fn describe_slip(rule: &Rule, slip: &Slip) -> String {
    let list = if slip.example {
        rule.examples()
    } else {
        rule.lookalikes()
    };
    let text = match list.get(slip.index) {
        Some(Example::Text(text)) => one_line(text, 160),
        Some(Example::Failure(failure)) => serde_json::to_string(failure)
            .map_or_else(|_| String::new(), |text| one_line(&text, 160)),
        None => String::new(),
    };
    let number = slip.index + 1;
    match (&slip.took, slip.example) {
        (Some(took), true) => format!(
            "FAIL {}: example {number} is decided by {took}\n  {text}\n  \
             help: raise `priority` or `strength`, or make a pattern fit; \
             `jelly rules explain TEXT` shows all rules that match",
            rule.id
        ),
        (Some(_), false) => format!(
            "FAIL {}: look-alike {number} is taken for the real thing\n  {text}\n  \
             help: make the pattern narrower, or add an exception under `unless`",
            rule.id
        ),
        (None, _) => format!(
            "FAIL {}: example {number} can stand nowhere\n  {text}\n  \
             help: `when` shuts out a plain text in {}; write the example as a failure",
            rule.id,
            rule.fields
                .iter()
                .filter_map(|field| serde_json::to_value(field).ok())
                .filter_map(|field| field.as_str().map(str::to_owned))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}
