//! How well-known commands that start servers are installed; which package is
//! installed for a module of Python, and by what a browser is.

use super::advice::Values;
use super::tables::{built, table};
use jelly_base::model::{Failure, Phase};
use jelly_base::text::{LazyPattern, package_to_install, pypi_package};
use serde::Deserialize;

/// Commands of `tables/launchers.yaml`, and what brings them.
#[derive(Deserialize)]
struct Launcher {
    commands: Vec<String>,
    how: String,
}

/// Adds `install`, a sentence on how the command that is missing is installed,
/// where that is well known.
pub(super) fn launchers(failure: &Failure, root_cause: &str, values: &mut Values) {
    if root_cause != "command_not_found" {
        return;
    }
    // What was started said that another program is missing, if it was started.
    let is_own = failure.phase == Some(Phase::Config) || failure.spawn_error.is_some();
    let own = values.get("argv0").filter(|_| is_own);
    let Some(command) = values.get("name").or(own) else {
        return;
    };
    let known: Vec<Launcher> = table(built!("launchers"));
    if let Some(one) = known.iter().find(|one| one.commands.contains(command)) {
        values.insert("install".to_owned(), one.how.replace("{}", command));
    }
}

/// Adds `python_package`, what is to be installed for a module of Python that
/// is missing, where that is said or well known.
pub(super) fn python_package(failure: &Failure, root_cause: &str, values: &mut Values) {
    if root_cause != "missing_module" {
        return;
    }
    let texts = [&failure.stderr, &failure.message, &failure.text];
    let said = texts.map(|text| text.as_deref().unwrap_or_default());
    let said = said.join("\n");
    let known = || pypi_package(values.get("name")?, &said).map(str::to_owned);
    if let Some(package) = package_to_install(&said).or_else(known) {
        values.insert("python_package".to_owned(), package);
    }
}

/// How the drivers of browsers have one installed; only words that these commands have, since
/// what a server says is to be pasted.
static BROWSER_INSTALL: LazyPattern = LazyPattern::new(
    r"(?:(?:npx|bunx|uvx|uv run|yarn|yarn dlx|pnpm exec|pnpm dlx|python3? -m) )?(?:playwright|patchright|puppeteer browsers|@puppeteer/browsers) install(?: (?:--with-deps|--force|--only-shell|(?:chrome|chromium|firefox|webkit|msedge|chrome-beta|chromedriver|chrome-headless-shell|chromium-headless-shell)(?:@[\w.]+)?)\b)*",
);

/// Adds `install_command`, where what the server says names the command that installs the
/// browser that it lacks.
pub(super) fn browser_install(failure: &Failure, root_cause: &str, values: &mut Values) {
    if root_cause != "dependency_unavailable" {
        return;
    }
    let answer = failure.tool_result.as_ref().map(|result| &result.text);
    let refusal = failure.rpc_error.as_ref().map(|error| &error.message);
    let texts = [
        answer,
        refusal,
        failure.message.as_ref(),
        failure.stderr.as_ref(),
    ];
    let mut found = texts
        .into_iter()
        .flatten()
        .filter_map(|text| BROWSER_INSTALL.find(text));
    if let Some(command) = found.next() {
        values.insert("install_command".to_owned(), command.as_str().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Values, browser_install, launchers, python_package};
    use jelly_base::model::{Failure, Phase};

    #[test]
    fn the_command_that_installs_a_browser_is_taken_from_what_the_server_says() {
        for (said, command) in [
            (
                "1. you did not perform an installation (e.g. `npx puppeteer browsers install chrome`) or",
                Some("npx puppeteer browsers install chrome"),
            ),
            (
                "Run \"npx playwright install chrome\"",
                Some("npx playwright install chrome"),
            ),
            (
                "║ Please run the following command: ║\n║     npx playwright install           ║",
                Some("npx playwright install"),
            ),
            (
                "please run playwright install to download it; rm -rf /",
                Some("playwright install"),
            ),
            (
                "python -m playwright install --with-deps chromium",
                Some("python -m playwright install --with-deps chromium"),
            ),
            ("npx install chrome", None),
        ] {
            let failure = Failure {
                message: Some(said.to_owned()),
                ..Failure::default()
            };
            let mut values = Values::new();
            browser_install(&failure, "dependency_unavailable", &mut values);
            let found = values.get("install_command").map(String::as_str);
            assert_eq!(found, command, "{said}");
        }
    }

    #[test]
    fn a_well_known_launcher_is_said_how_to_install() {
        let failure = |phase| Failure {
            phase: Some(phase),
            ..Failure::default()
        };
        let of = |argv0: &str| Values::from([("argv0".to_owned(), argv0.to_owned())]);
        let mut values = of("uvx");
        launchers(&failure(Phase::Config), "command_not_found", &mut values);
        assert!(values["install"].starts_with("`uvx` comes with uv"));
        for (argv0, phase) in [("own", Phase::Config), ("uvx", Phase::Handshake)] {
            let mut values = of(argv0);
            launchers(&failure(phase), "command_not_found", &mut values);
            assert!(!values.contains_key("install"), "{argv0}");
        }
    }

    #[test]
    fn only_a_package_that_is_known_to_bring_a_module_is_installed() {
        for (name, said, package) in [
            ("jwt", "", Some("PyJWT")),
            (
                "google",
                "    import google.cloud.storage",
                Some("google-cloud-storage"),
            ),
            ("requests_nope_x", "    import requests_nope_x", None),
            (
                "typer",
                "typer is required: pip install 'mcp[cli]'",
                Some("mcp[cli]"),
            ),
        ] {
            let failure = Failure {
                stderr: Some(said.to_owned()),
                ..Failure::default()
            };
            let mut values = Values::from([("name".to_owned(), name.to_owned())]);
            python_package(&failure, "missing_module", &mut values);
            assert_eq!(values.get("python_package").map(String::as_str), package);
        }
    }
}
