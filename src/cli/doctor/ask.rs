//! What VS Code would ask its user for: taken from the environment, asked on a
//! terminal, or left at its default.

use super::super::ask::{Question, ask, may_ask};
use super::super::settings::World;
use jelly_base::text::redact::Redactor;
use jelly_setup::doctor::{Config, Input, Surroundings, fill, variable_of};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// Answers by the file that asks: two files may mean two things by one id.
pub type Answers = BTreeMap<PathBuf, BTreeMap<String, String>>;

/// What [`answers_of`] finds for each of the files.
pub async fn answers(
    configs: &[Config],
    dry_run: bool,
    world: &World,
    redactor: &Redactor,
) -> Answers {
    let mut all = Answers::new();
    for config in configs {
        let answers = answers_of(config, dry_run, world, redactor).await;
        all.insert(config.path.clone(), answers);
    }
    all
}

/// The values of all inputs that servers use, by id; those that nobody gave
/// are left out. Passwords are known to the redactor.
pub async fn answers_of(
    config: &Config,
    dry_run: bool,
    world: &World,
    redactor: &Redactor,
) -> BTreeMap<String, String> {
    let may_ask = may_ask(world) && !dry_run;
    let mut answers = BTreeMap::new();
    let used = blanks_of(config);
    let is_used = |input: &&Input| used.contains(&blank(&input.id));
    for input in config.inputs.iter().filter(is_used) {
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

fn blank(id: &str) -> String {
    format!("${{input:{id}}}")
}

/// Whether a server that is not disabled has the blank of this input.
pub fn is_used(config: &Config, input: &Input) -> bool {
    blanks_of(config).contains(&blank(&input.id))
}

/// All blanks of servers that are not disabled.
fn blanks_of(config: &Config) -> HashSet<String> {
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
        .flat_map(|spot| fill(&spot.text, &around).left)
        .collect()
}
