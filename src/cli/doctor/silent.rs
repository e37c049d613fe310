//! Commands that show what a server does that never answers.

use super::sight::Machine;
use jelly_base::model::{Failure, Outcome};
use jelly_base::text::launchers::PYTHON_LAUNCHERS;
use jelly_base::text::redact::Redactor;
use jelly_setup::doctor::{Sight as _, by_hand};
use jelly_wire::Reach;
use std::path::Path;

/// How to see for oneself what a server says that never answers.
pub(super) fn hand(failure: &Failure, reach: &Reach, redactor: &Redactor) -> Option<String> {
    match (failure.outcome, reach) {
        (Some(Outcome::Timeout), Reach::Stdio(spec)) => {
            let method = failure.request.as_ref().map(|request| &*request.method);
            let method =
                method.filter(|method| !matches!(*method, "initialize" | "server/discover"));
            Some(by_hand(&spec.argv, &spec.env, &spec.cwd, method, redactor))
        }
        (_, _) => None,
    }
}

/// What has a server of Python that never answers print the line at which it
/// waits.
pub(super) fn where_it_waits(
    failure: &Failure,
    reach: &Reach,
    redactor: &Redactor,
    machine: &Machine<'_>,
) -> Option<String> {
    let Reach::Stdio(spec) = reach else {
        return None;
    };
    let name = Path::new(spec.argv.first()?).file_name()?.to_str()?;
    let is_python = name.starts_with("python") || PYTHON_LAUNCHERS.has(name);
    let hung = failure.outcome == Some(Outcome::Timeout) && is_python;
    if !hung || machine.on_path("timeout").is_none() {
        return None;
    }
    let ended = ["timeout", "--signal=ABRT", "15"].map(str::to_owned);
    let argv: Vec<String> = ended.into_iter().chain(spec.argv.iter().cloned()).collect();
    let mut env = spec.env.clone();
    env.push(("PYTHONFAULTHANDLER".to_owned(), "1".to_owned()));
    Some(by_hand(&argv, &env, &spec.cwd, None, redactor))
}
