//! What in a configuration is secret: by its name, by the flag before it, or
//! by its form.

use super::entry::{Entry, Reached, Spot};
use jelly_base::text::redact::{
    Found, secrets_in_args, secrets_in_header, secrets_in_line, secrets_in_text,
    secrets_in_variable,
};

/// Shorter values would hide words of a report that are nobody's secret.
const MIN_VALUE: usize = 4;

/// Of `jelly proxy`: what follows is `NAME=VARIABLE`.
pub(super) const HEADER_VARIABLE_FLAG: &str = "--header-env";

/// A secret, its name for people, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret<'a> {
    pub name: String,
    pub value: &'a str,
    pub spot: &'a Spot,
}

/// Names and values of what is secret in an entry as it is written, for a
/// redactor to learn.
#[must_use]
pub fn secrets_of(entry: &Entry) -> Vec<(String, String)> {
    in_entry(entry)
        .into_iter()
        .map(|secret| (secret.name, secret.value.to_owned()))
        .collect()
}

pub(super) fn in_entry(entry: &Entry) -> Vec<Secret<'_>> {
    match &entry.reached {
        Some(Reached::Command {
            command, args, env, ..
        }) => {
            let in_env = env.iter().flat_map(|(name, spot)| {
                located(secrets_in_variable(name, &spot.text), move |_| spot)
            });
            // Some write the whole line there.
            let in_command = located(secrets_in_line(&command.text), move |_| command);
            // What follows says which variable has the value of a header.
            let names_variable =
                |word: usize| word > 0 && args[word - 1].text == HEADER_VARIABLE_FLAG;
            let mut in_args = secrets_in_args(&command.text, args);
            in_args.retain(|found| !names_variable(found.word));
            let in_args = located(in_args, |word| &args[word]);
            in_env.chain(in_command).chain(in_args).collect()
        }
        Some(Reached::Url { url, headers }) => {
            let in_headers = headers.iter().flat_map(|(name, spot)| {
                located(secrets_in_header(name, &spot.text), move |_| spot)
            });
            in_headers
                .chain(located(secrets_in_text(&url.text), |_| url))
                .collect()
        }
        None => Vec::new(),
    }
}

/// What can be looked for elsewhere, each in its place.
fn located<'a>(
    found: Vec<Found<'a>>,
    spot: impl Fn(usize) -> &'a Spot,
) -> impl Iterator<Item = Secret<'a>> {
    let telling = found
        .into_iter()
        .filter(|found| found.is_telling(MIN_VALUE));
    telling.map(move |found| Secret {
        name: found.name.to_owned(),
        value: found.value,
        spot: spot(found.word),
    })
}

#[cfg(test)]
mod tests {
    use super::secrets_of;
    use crate::doctor::read;
    use std::path::Path;

    fn values(servers: &str) -> Vec<String> {
        let text = format!(r#"{{"mcpServers": {servers}}}"#);
        let config = read(Path::new("x.json"), &text, Path::new("/")).unwrap();
        let secrets = config.entries.iter().flat_map(secrets_of);
        secrets
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn secrets_are_known_wherever_they_are_put() {
        let found = values(
            r#"{
            "a": {"command": "npx -y x --token hunter2a"},
            "b": {"command": "docker", "args": ["run", "--env=API_KEY=hunter2b", "img:1.0"]},
            "c": {"command": "x", "args": ["--header=Authorization: Bearer hunter2c"]},
            "d": {"command": "x", "args": ["https://h/sse?x=1&api_key=hunter2d"]},
            "e": {"command": "x", "args": ["--accessToken", "hunter2e", "--key", "hunter2f"]},
            "f": {"url": "http://u:hunter2g@h/?sig=hunter2h", "headers": {"X-Auth": "hunter2i"}},
            "g": {"command": "API_KEY=hunter2j node /srv/app/index.js --x"},
            "h": {"command": "sh", "args": ["-c", "PASSWORD='hunter2k of words' python3 /srv/a.py"]},
            "i": {"command": "x", "env": {"PASSPHRASE": "hunter2l of words"}},
            "j": {"command": "x", "args": ["-c", "Password=hunter2m of words;Server=h"]},
            "k": {"command": "/bin/env bash", "args": ["-lc", "API_TOKEN=hunter2n python3 /srv/a.py"]}
        }"#,
        );
        assert_eq!(
            found,
            [
                "token=hunter2a",
                "API_KEY=hunter2b",
                "Authorization=hunter2c",
                "api_key=hunter2d",
                "accessToken=hunter2e",
                "key=hunter2f",
                "X-Auth=hunter2i",
                "the URL's password=hunter2g",
                "sig=hunter2h",
                "API_KEY=hunter2j",
                "PASSWORD=hunter2k of words",
                "PASSPHRASE=hunter2l of words",
                "Password=hunter2m of words;Server=h",
                "API_TOKEN=hunter2n"
            ]
        );
    }

    #[test]
    fn a_path_a_switch_and_a_number_are_no_secrets() {
        let found = values(
            r#"{"a": {"command": "x", "args": ["--token-file", "/run/token", "--max-tokens", "4096"],
                "env": {"GOOGLE_APPLICATION_CREDENTIALS": "/nope/cred.json", "TOKEN_ENABLED": "true",
                        "TOKEN": "abc", "PASSWORD": "1234", "SECRET": "secret"}}}"#,
        );
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn secrets_are_known_by_name_flag_and_form() {
        let text = r#"{"mcpServers": {
            "a": {"command": "x", "env": {
                "API_KEY": "value-one", "HOME_DIR": "/home/me", "OTHER": "ghp_0123456789abcdef",
                "DB": "postgres://me:value-two@host/db", "TOKEN": "${env:T}", "SECRET": "<YOUR_SECRET>"},
              "args": ["--token", "value-three", "--api-key=value-four", "--header",
                       "Authorization: Bearer value-five", "--token", "--flag", "plain"]},
            "b": {"url": "https://h/mcp?api_key=value-six&x=1",
                  "headers": {"Authorization": "Bearer value-seven", "X-Trace": "on"}}
        }}"#;
        let config = read(Path::new("x.json"), text, Path::new("/")).unwrap();
        let values: Vec<String> = config
            .entries
            .iter()
            .flat_map(secrets_of)
            .map(|(_, value)| value)
            .collect();
        assert_eq!(
            values,
            [
                "value-one",
                "ghp_0123456789abcdef",
                "value-two",
                "value-three",
                "value-four",
                "value-five",
                "value-seven",
                "value-six"
            ]
        );
    }
}
