//! What a run must not show.

use super::settings::inherited_secrets;
use jelly_base::text::redact::Redactor;
use jelly_plan::Plan;
use std::collections::BTreeMap;

/// All secrets of a run: those that the plan calls so, and the values of
/// environment variables whose names say it. The latter need not be named in
/// the plan: servers inherit the environment and may print it, and a hook may
/// put one into the plan later. Last, what the plan spells out.
pub fn secrets(plan: &Plan, env: &BTreeMap<String, String>) -> Redactor {
    secrets_from(plan, env, 0)
}

/// The same, of those that have so many bytes at least, and of what is learnt
/// later too.
pub fn secrets_from(plan: &Plan, env: &BTreeMap<String, String>, min: usize) -> Redactor {
    let inherited = inherited_secrets(env);
    let redactor = Redactor::of_at_least(min);
    redactor.learn(plan.hidden(env));
    redactor.learn(inherited);
    redactor.learn(
        plan.literal_secrets
            .iter()
            .map(|(name, value)| (name, value)),
    );
    redactor
}
