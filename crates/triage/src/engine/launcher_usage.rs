//! Whether the program that starts a server refused an argument, so that the server itself was
//! never started: `uvx -y`, `docker run --rmm`.
//!
//! Main function: [`refusing_launcher`].

use super::tables::{built, table};
use jelly_base::model::Failure;
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// `tables/launcher_usages.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LauncherUsages {
    usages: Vec<String>,
}

static USAGES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let known: LauncherUsages = table(built!("launcher_usages"));
    let compiled = known.usages.iter();
    #[expect(
        clippy::expect_used,
        reason = "the table is part of the program, and a test compiles each pattern"
    )]
    compiled
        .map(|usage| Regex::new(&format!("(?m:{usage})")).expect("the pattern compiles"))
        .collect()
});

/// The program that starts the server, and says in its own words that it takes an argument
/// for its own and does not know it; as it is asked for help.
pub(super) fn refusing_launcher(failure: &Failure) -> Option<String> {
    let Failure {
        stderr,
        stdout,
        stdout_noise,
        ..
    } = failure;
    // npm writes it on stdout.
    let noise = (!stdout_noise.is_empty()).then(|| stdout_noise.join("\n"));
    let said = [stderr, stdout, &noise];
    said.into_iter().flatten().find_map(|said| {
        let found = USAGES.iter().find_map(|usage| usage.captures(said))?;
        Some(match found.name("launcher")?.as_str() {
            "Java" => "java".to_owned(),
            launcher => launcher.to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::refusing_launcher;
    use jelly_base::model::Failure;

    fn of(stderr: &str) -> Option<String> {
        refusing_launcher(&Failure {
            stderr: Some(stderr.to_owned()),
            ..Failure::default()
        })
    }

    #[test]
    fn a_launcher_is_known_by_its_own_words() {
        for (said, launcher) in [
            ("/usr/bin/node: bad option: --inspct", "/usr/bin/node"),
            (
                "error: x\n\nUsage: uv tool run [OPTIONS] [COMMAND]",
                "uv tool run",
            ),
            ("error: x\n\nUsage: uv [OPTIONS] <COMMAND>", "uv"),
            (
                "unknown flag: --rmm\nSee 'docker run --help'.",
                "docker run",
            ),
            ("Error: Could not create the Java Virtual Machine.", "java"),
        ] {
            assert_eq!(of(said).as_deref(), Some(launcher), "{said}");
        }
        for said in [
            "",
            "depot: bad option: --shelf",
            "error: x\n\nUsage: uvx-depot [OPTIONS]",
            "usage: python-depot [option] ... [shelf]",
            "Usage: uv depot [OPTIONS]",
        ] {
            assert_eq!(of(said), None, "{said}");
        }
    }
}
