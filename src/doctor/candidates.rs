//! Other words for an entry that starts a server of HTTP where its client
//! speaks stdio.
//!
//! Main function: [`stdio_candidates`]. It only proposes; who starts servers
//! finds out which of them answers.

use super::entry::{Entry, Reached};
use super::launcher::{name_of, up_to_program};

/// Arguments and variables with which an entry may speak stdio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// All arguments, in order.
    pub args: Vec<Word>,
    /// Variables to set beside the entry's own.
    pub env: Vec<(String, String)>,
}

/// One argument of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The entry's own, by its index; its text may hold blanks and secrets.
    Own(usize),
    New(String),
}

impl Candidate {
    /// The arguments, given the entry's own.
    #[must_use]
    pub fn words(&self, own: &[String]) -> Vec<String> {
        let text = |word: &Word| match word {
            Word::Own(index) => own.get(*index).cloned().unwrap_or_default(),
            Word::New(text) => text.clone(),
        };
        self.args.iter().map(text).collect()
    }

    /// Whether the arguments are those of the entry, so that only variables
    /// are new.
    #[must_use]
    pub fn keeps_args(&self, count: usize) -> bool {
        self.args.len() == count && (0..count).all(|index| self.args[index] == Word::Own(index))
    }
}

/// What is worth a try, the likeliest first; never another program or package.
///
/// `is_sure` says that the server is known to talk HTTP: then words that the
/// entry does not hint at are worth one, too.
#[must_use]
pub fn stdio_candidates(entry: &Entry, is_sure: bool) -> Vec<Candidate> {
    let Some(Reached::Command {
        command, args, env, ..
    }) = &entry.reached
    else {
        return Vec::new();
    };
    let texts: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
    let variables: Vec<(String, String)> = env
        .iter()
        .filter(|(name, spot)| names_mode(name) && is_mode(&spot.text))
        .map(|(name, _)| (name.clone(), STDIO.to_owned()))
        .collect();
    let start = up_to_program(&command.text, &texts).min(texts.len());
    let (replaced, left_out) = without_http(&texts, start);
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |args: Vec<Word>, env: Vec<(String, String)>| {
        let candidate = Candidate { args, env };
        let is_own = candidate.keeps_args(texts.len()) && candidate.env.is_empty();
        if !is_own && !found.contains(&candidate) {
            found.push(candidate);
        }
    };
    add(replaced, variables.clone());
    add(left_out.clone(), variables.clone());
    // What a script runner is given besides is its own and not the script's.
    let is_runner = matches!(name_of(&command.text), "npm" | "pnpm" | "yarn");
    if !is_sure || is_runner {
        return found;
    }
    for words in [&["--stdio"][..], &["--transport", STDIO], &[STDIO]] {
        if !words.iter().all(|word| texts[start..].contains(word)) {
            let new = words.iter().map(|word| Word::New((*word).to_owned()));
            add(
                left_out.iter().cloned().chain(new).collect(),
                variables.clone(),
            );
        }
    }
    if variables.is_empty() {
        for name in ["MCP_TRANSPORT", "TRANSPORT"] {
            let variable = (name.to_owned(), STDIO.to_owned());
            add(left_out.clone(), vec![variable]);
        }
    }
    found
}

const STDIO: &str = "stdio";

/// Options that say where a server of HTTP listens.
const ENDPOINT: &[&str] = &[
    "--port",
    "--http-port",
    "--sse-port",
    "--server-port",
    "--host",
    "--hostname",
    "--http-host",
    "--bind",
    "--listen",
    "--address",
];

/// Whether a word names a transport other than stdio.
fn is_mode(word: &str) -> bool {
    let folded = word.to_ascii_lowercase().replace(['-', '_'], "");
    matches!(
        &*folded,
        "streamablehttp" | "http" | "sse" | "streamable" | "httpstream" | "shttp"
    )
}

/// Whether an option or a variable says which transport is spoken.
fn names_mode(name: &str) -> bool {
    let folded = name.to_ascii_lowercase();
    let says = ["transport", "mode", "protocol"];
    name == "-t" || says.iter().any(|part| folded.contains(part))
}

/// The arguments from `start` on with stdio in place of another transport, and
/// with nothing in its place; both without where a server of HTTP listens.
fn without_http(texts: &[&str], start: usize) -> (Vec<Word>, Vec<Word>) {
    let mut replaced: Vec<Word> = (0..start).map(Word::Own).collect();
    let mut left_out = replaced.clone();
    let mut index = start;
    while index < texts.len() {
        let (text, next) = (texts[index], texts.get(index + 1).copied());
        let own = [Word::Own(index)];
        let stdio = Word::New(STDIO.to_owned());
        let is_flag = text.starts_with('-');
        let taken = match (text.split_once('='), next) {
            (Some((flag, value)), _) if is_flag && names_mode(flag) && is_mode(value) => {
                replaced.push(Word::New(format!("{flag}={STDIO}")));
                1
            }
            (None, Some(value)) if is_flag && names_mode(text) && is_mode(value) => {
                replaced.extend([Word::Own(index), stdio]);
                2
            }
            (None, _) if is_flag && is_mode(text.trim_start_matches('-')) => 1,
            (None, _) if !is_flag && is_mode(text) => {
                replaced.push(stdio);
                1
            }
            (Some((flag, _)), _) if ENDPOINT.contains(&flag) => 1,
            (None, Some(value)) if takes_endpoint(text, value) => 2,
            (None, Some(value)) if is_flag && !value.starts_with('-') => {
                // Its value, and no word of its own.
                replaced.extend([Word::Own(index), Word::Own(index + 1)]);
                left_out.extend([Word::Own(index), Word::Own(index + 1)]);
                2
            }
            (Some(_) | None, _) => {
                replaced.extend(own.clone());
                left_out.extend(own);
                1
            }
        };
        index += taken;
    }
    (replaced, left_out)
}

fn takes_endpoint(flag: &str, value: &str) -> bool {
    ENDPOINT.contains(&flag) && !value.starts_with('-')
        || matches!(flag, "-p" | "-P") && value.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::stdio_candidates;
    use crate::doctor::read;
    use serde_json::json;
    use std::path::Path;

    fn lines(line: &str, env: &[(&str, &str)], is_sure: bool) -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let env: serde_json::Map<String, serde_json::Value> = env
            .iter()
            .map(|(n, v)| ((*n).to_owned(), json!(v)))
            .collect();
        let text = json!({"mcpServers": {"a": {
            "command": words[0], "args": words[1..], "env": env,
        }}});
        let config = read(Path::new("mcp.json"), &text.to_string(), Path::new("/")).unwrap();
        let own: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        stdio_candidates(&config.entries[0], is_sure)
            .iter()
            .map(|candidate| {
                let env = candidate.env.iter().map(|(n, v)| format!("{n}={v} "));
                env.collect::<String>() + &candidate.words(&own).join(" ")
            })
            .collect()
    }

    #[test]
    fn a_transport_that_is_named_is_replaced_and_left_out_with_its_address() {
        for (line, expected) in [
            (
                "uvx srv streamable-http --port 39111",
                &["srv stdio", "srv"][..],
            ),
            (
                "uvx srv --transport http --host 0.0.0.0 --port 8000 --db a.db",
                &["srv --transport stdio --db a.db", "srv --db a.db"],
            ),
            (
                "npx -y srv --transport=sse --port=1",
                &["-y srv --transport=stdio", "-y srv"],
            ),
            ("npx -y srv --http -p 80", &["-y srv"]),
            // A number that is no port, and a mode that is a name.
            ("node x.js -p name --name sse", &[]),
            ("docker run -i -p 80:80 img", &[]),
            ("node x.js", &[]),
        ] {
            assert_eq!(lines(line, &[], false), expected, "{line}");
        }
        let env = [("MCP_TRANSPORT", "sse"), ("KEY", "http")];
        assert_eq!(
            lines("node x.js", &env, true)[0],
            "MCP_TRANSPORT=stdio x.js"
        );
    }

    #[test]
    fn of_a_server_that_talks_http_unhinted_words_are_tried() {
        assert_eq!(
            lines("npx -y srv", &[], true),
            [
                "-y srv --stdio",
                "-y srv --transport stdio",
                "-y srv stdio",
                "MCP_TRANSPORT=stdio -y srv",
                "TRANSPORT=stdio -y srv",
            ]
        );
        assert!(lines("npm start", &[], true).is_empty());
    }
}
