//! What VS Code would ask its user for: taken from the environment, asked on a
//! terminal, or left at its default.

use super::super::ask::{Question, ask, may_ask};
use super::super::settings::World;
use crate::doctor::{Config, Input, Surroundings, fill, variable_of};
use crate::text::redact::Redactor;
use std::collections::BTreeMap;

/// The values of all inputs that servers use, by id; those that nobody gave
/// are left out. Passwords are known to the redactor.
pub async fn answers(
    configs: &[Config],
    dry_run: bool,
    world: &World,
    redactor: &Redactor,
) -> BTreeMap<String, String> {
    let may_ask = may_ask(world) && !dry_run;
    let mut answers = BTreeMap::new();
    for config in configs {
        for input in config.inputs.iter().filter(|input| is_used(config, input)) {
            if answers.contains_key(&input.id) {
                continue;
            }
            let told = world.env.get(&variable_of(&input.id)).cloned();
            let answer = match told.filter(|value| !value.is_empty()) {
                Some(value) => Some(value),
                None if may_ask => ask(&question(input)).await,
                None => input.default.clone().filter(|value| !value.is_empty()),
            };
            if let Some(answer) = answer {
                if input.password {
                    redactor.learn([(&input.id, &answer)]);
                }
                answers.insert(input.id.clone(), answer);
            }
        }
    }
    answers
}

/// What its user is asked.
pub fn question(input: &Input) -> Question<'_> {
    Question {
        prompt: input.description.as_deref().unwrap_or(&input.id),
        options: &input.options,
        default: input.default.as_deref(),
        secret: input.password,
    }
}

/// Whether a server that is not disabled has the blank of this input.
pub fn is_used(config: &Config, input: &Input) -> bool {
    let blank = format!("${{input:{}}}", input.id);
    // A blank is only one where it is read as such.
    let nothing = BTreeMap::new();
    let around = Surroundings {
        env: &nothing,
        inputs: &nothing,
        project: &config.path,
        home: None,
    };
    config
        .entries
        .iter()
        .filter(|entry| !entry.disabled)
        .flat_map(|entry| entry.spots())
        .any(|spot| fill(&spot.text, &around).left.contains(&blank))
}
