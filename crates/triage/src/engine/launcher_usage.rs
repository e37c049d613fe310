//! Whether the program that starts a server refused an argument, so that the server itself was
//! never started: `uvx -y`, `docker run --rmm`.
//!
//! Main function: [`refusing_launcher`].

use super::tables::{built, table};
use jelly_base::model::Failure;
use jelly_base::text::WordList;
use jelly_base::text::holds_whole;
use jelly_base::text::launchers::carried;
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

/// A launcher that says in its own words that it does not know an argument of its own.
struct Refusal {
    /// As it is asked for help.
    launcher: String,
    /// It is what was started: a server may start one itself, which says the same of what the
    /// server gives it.
    is_what_starts: bool,
}

/// The program that starts the server, and says in its own words that it takes an argument
/// for its own and does not know it; as it is asked for help.
pub(super) fn refusing_launcher(failure: &Failure) -> Option<String> {
    let refusal = refusal(failure).filter(|refusal| refusal.is_what_starts)?;
    Some(refusal.launcher)
}

/// The same of a program that the server started itself.
pub(super) fn refusing_inside(failure: &Failure) -> Option<String> {
    let refusal = refusal(failure).filter(|refusal| !refusal.is_what_starts)?;
    Some(refusal.launcher)
}

fn refusal(failure: &Failure) -> Option<Refusal> {
    let Failure {
        stderr,
        stdout,
        stdout_noise,
        ..
    } = failure;
    // npm writes it on stdout.
    let noise = (!stdout_noise.is_empty()).then(|| stdout_noise.join("\n"));
    let said = [stderr, stdout, &noise];
    let launcher = said.into_iter().flatten().find_map(|said| {
        let found = USAGES.iter().find_map(|usage| usage.captures(said))?;
        Some(match found.name("launcher")?.as_str() {
            "Java" => "java".to_owned(),
            launcher => launcher.to_owned(),
        })
    })?;
    Some(Refusal {
        is_what_starts: is_what_starts(failure, &launcher),
        launcher,
    })
}

/// Whether this launcher is the program that was started, as far as that is known.
fn is_what_starts(failure: &Failure, launcher: &str) -> bool {
    const SHELLS: [&str; 5] = ["bash", "dash", "fish", "sh", "zsh"];
    // What runs a server's own file, which may start others.
    const INTERPRETERS: WordList =
        WordList("bun deno dotnet go java lua node perl php python ruby tsx ts-node");
    // One package has both.
    const PAIRS: [[&str; 2]; 4] = [
        ["docker", "podman"],
        ["npm", "npx"],
        ["uv", "uvx"],
        ["pip", "pipx"],
    ];
    let base = |program: &str| -> String {
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        let name = name.trim_end_matches(".exe").to_ascii_lowercase();
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
            .to_owned()
    };
    let argv = &failure.argv;
    let Some(started) = argv.get(carried(argv)).map(|program| base(program)) else {
        return true;
    };
    let launcher = base(launcher.split(' ').next().unwrap_or(launcher));
    let is_it = |word: &str| {
        let word = base(word);
        let is_pair = |pair: &[&str; 2]| pair.contains(&&*word) && pair.contains(&&*launcher);
        word == launcher || PAIRS.iter().any(is_pair)
    };
    // What keeps secrets, versions or environments starts what stands behind `--`. A server's
    // own arguments may stand there, too: a command has more than one word.
    let behind_dashes = || {
        let dashes = argv.iter().position(|word| word == "--");
        let behind = dashes.and_then(|dashes| argv.get(dashes + 1..));
        let command = behind.filter(|words| words.len() > 1 && !INTERPRETERS.has(&started));
        command.is_some_and(|words| is_it(&words[carried(words)]))
    };
    // Whatever carries it: the word that it refuses stands behind its name.
    let refuses_own = || {
        let named = argv.iter().position(|word| is_it(word));
        let behind = named.and_then(|named| argv.get(named + 1..));
        let said = [&failure.stderr, &failure.stdout];
        let is_refused = |word: &String| {
            let is_long = word.len() > 2 && word.starts_with('-');
            is_long
                && said
                    .iter()
                    .copied()
                    .flatten()
                    .any(|said| holds_whole(said, word))
        };
        !INTERPRETERS.has(&started) && behind.is_some_and(|words| words.iter().any(is_refused))
    };
    // The line or the script of a shell may start it in any place.
    refuses_own() || SHELLS.contains(&&*started) || is_it(&started) || behind_dashes()
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
    fn what_a_server_starts_is_not_what_starts_it() {
        let said = "unknown flag: --rmm\n\nSee 'docker run --help'.";
        let of = |argv: &[&str]| {
            refusing_launcher(&Failure {
                argv: argv.iter().map(|word| (*word).to_owned()).collect(),
                stderr: Some(said.to_owned()),
                ..Failure::default()
            })
        };
        assert_eq!(of(&["npx", "-y", "mcp-sandbox"]), None);
        let docker = Some("docker run".to_owned());
        assert_eq!(of(&["/usr/bin/docker", "run", "--rmm", "x"]), docker);
        assert_eq!(of(&["sh", "-c", "docker run --rmm x"]), docker);
        for line in [
            "sudo docker run --rmm x",
            "setsid --wait /usr/bin/docker run --rmm x",
            "nice --adjustment=5 docker run --rmm x",
            "nice -n 5 docker run --rmm x",
            "op run --env-file .env -- docker run --rmm x",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(of(&words), docker, "{line}");
        }
        for line in [
            "sbx -b docker",
            "sbx --backend docker",
            "sudo sbx docker",
            "sbx -- docker",
            "node s.js -- docker run",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(of(&words), None, "{line}");
        }
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
