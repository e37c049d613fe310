//! Well-known commands that start servers, and how each is installed.
//!
//! Source: each project's own page on installation, as of November 2026.

use super::advice::Values;

/// Commands, and what brings them.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &["uvx", "uv"],
        "`{}` comes with uv: `python3 -m pip install uv`, or https://docs.astral.sh/uv/.",
    ),
    (
        &["npx", "npm", "node"],
        "`{}` comes with Node.js: https://nodejs.org/en/download.",
    ),
    (
        &["bunx", "bun"],
        "`{}` comes with Bun: `npm install --global bun`, or https://bun.sh.",
    ),
    (
        &["pnpm", "pnpx"],
        "`{}` comes with pnpm: `npm install --global pnpm`.",
    ),
    (
        &["yarn"],
        "`{}` is installed by `npm install --global yarn`.",
    ),
    (
        &["deno"],
        "`{}` comes with Deno: `npm install --global deno`, or https://deno.com.",
    ),
    (
        &["pipx"],
        "`{}` is installed by `python3 -m pip install pipx`.",
    ),
    (
        &["docker"],
        "`{}` comes with Docker: https://docs.docker.com/get-started/get-docker/.",
    ),
    (
        &["dnx", "dotnet"],
        "`{}` comes with the .NET SDK (`dnx` from version 10): https://dotnet.microsoft.com/download.",
    ),
    (
        &["python"],
        "Many systems call it `python3`: write that where `{}` stands.",
    ),
];

/// Adds `install`, a sentence on how the command that is missing is installed,
/// where that is well known.
pub(super) fn launchers(root_cause: &str, values: &mut Values) {
    if root_cause != "command_not_found" {
        return;
    }
    let Some(command) = values.get("name").or_else(|| values.get("argv0")) else {
        return;
    };
    let known = KNOWN
        .iter()
        .find(|(commands, _)| commands.contains(&command.as_str()));
    if let Some((_, how)) = known {
        values.insert("install".to_owned(), how.replace("{}", command));
    }
}

#[cfg(test)]
mod tests {
    use super::{Values, launchers};

    #[test]
    fn a_well_known_launcher_is_said_how_to_install() {
        let mut values = Values::from([("argv0".to_owned(), "uvx".to_owned())]);
        launchers("command_not_found", &mut values);
        assert!(values["install"].starts_with("`uvx` comes with uv"));
        let mut values = Values::from([("argv0".to_owned(), "own".to_owned())]);
        launchers("command_not_found", &mut values);
        assert!(!values.contains_key("install"));
    }
}
