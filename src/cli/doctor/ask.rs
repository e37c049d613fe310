//! What VS Code would ask its user for: taken from the environment, asked on a
//! terminal, or left at its default.

use super::super::ask::{Question, ask, may_ask};
use super::super::settings::World;
use super::examine::shown_argv;
use super::find::FoundConfigs;
use jelly_base::text::one_line;
use jelly_base::text::redact::Redactor;
use jelly_setup::doctor::{
    Config, Input, Reached, Surroundings, fill_as_client, secrets_of, variable_of,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

/// Bytes of a server's command in a question.
const SHOWN: usize = 300;

/// Answers by the file that asks: two files may mean two things by one id.
pub type Answers = BTreeMap<PathBuf, BTreeMap<String, String>>;

/// What [`answers_of`] finds for each of the files, of whose servers those in
/// `unstarted` need none.
pub async fn answers(
    configs: &[Config],
    unstarted: &BTreeSet<PathBuf>,
    world: &World,
    redactor: &Redactor,
) -> Answers {
    let mut all = Answers::new();
    for config in configs {
        let dry_run = unstarted.contains(&config.path);
        let answers = answers_of(config, dry_run, world, redactor).await;
        all.insert(config.path.clone(), answers);
    }
    all
}

/// Of the files that the project brings along, those whose servers nobody
/// agrees to start. Where nobody is there to be asked, that is all of them.
pub async fn refused(found: &FoundConfigs, world: &World) -> BTreeSet<PathBuf> {
    let mut refused = BTreeSet::new();
    for config in &found.configs {
        let active: Vec<_> = config.entries.iter().filter(|e| !e.disabled).collect();
        if active.is_empty() || !found.brought_along.contains(&config.path) {
            continue;
        }
        let agreed = may_ask(world) && {
            let redactor = Redactor::none();
            redactor.learn(active.iter().flat_map(|entry| secrets_of(entry)));
            let mut prompt = format!("{} in this folder names", config.path.display());
            for entry in active {
                let words = match &entry.reached {
                    Some(Reached::Url { url, .. }) => vec![url.text.clone()],
                    Some(Reached::Command { .. }) | None => shown_argv(entry, None, &redactor),
                };
                let line = format!("{}: {}", entry.name, words.join(" "));
                prompt.push_str(&format!("\n  {}", one_line(&redactor.redact(&line), SHOWN)));
            }
            prompt.push_str("\nStart, or connect to, what is named there?");
            let question = Question {
                prompt: &prompt,
                options: &["yes".to_owned(), "no".to_owned()],
                default: Some("no"),
                secret: false,
            };
            ask(&question).await.as_deref() == Some("yes")
        };
        if !agreed {
            refused.insert(config.path.clone());
        }
    }
    refused
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
    for input in used_inputs(config) {
        if answers.contains_key(&input.id) {
            continue;
        }
        let told = world.env.get(&variable_of(&input.id)).cloned();
        let answer = match told.filter(|value| !value.is_empty()) {
            Some(value) => Some(value),
            None if may_ask => {
                let question = Question {
                    prompt: input.description.as_deref().unwrap_or(&input.id),
                    options: &input.options,
                    default: input.default.as_deref(),
                    secret: input.password,
                };
                ask(&question).await
            }
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

/// The inputs that stand in a server that is not disabled.
pub fn used_inputs(config: &Config) -> impl Iterator<Item = &Input> {
    // A blank is only one where it is read as such.
    let nothing = BTreeMap::new();
    let around = Surroundings {
        env: &nothing,
        inputs: &nothing,
        project: &config.path,
        home: None,
    };
    let blanks: HashSet<String> = config
        .entries
        .iter()
        .filter(|entry| !entry.disabled)
        .flat_map(|entry| entry.spots())
        .flat_map(|spot| fill_as_client(spot, &around).left)
        .collect();
    let inputs = config.inputs.iter();
    inputs.filter(move |input| blanks.contains(&format!("${{input:{}}}", input.id)))
}
