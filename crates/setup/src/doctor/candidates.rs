//! Other words for an entry that starts a server of HTTP where its client
//! speaks stdio.
//!
//! Main function: [`stdio_candidates`]. It only proposes; who starts servers
//! finds out which of them answers.

use super::entry::{Entry, Reached};
use super::launcher::{is_script_runner, name_of, up_to_program};
use jelly_base::text::{HttpPart, address_words, http_parts, http_variables};

/// Arguments and variables with which an entry may speak stdio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// All arguments, in order.
    pub args: Vec<Word>,
    /// Variables to set beside the entry's own, or to leave out.
    pub env: Vec<(String, Option<String>)>,
    /// Whether the entry itself names the mode that this one leaves.
    pub leaves_mode: bool,
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

    /// Whether the arguments are those of the entry, which has this many, so
    /// that only variables differ.
    #[must_use]
    pub fn keeps_args(&self, count: usize) -> bool {
        let own = (0..count).map(Word::Own);
        own.eq(self.args.iter().cloned())
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
    let start = up_to_program(&command.text, &texts).min(texts.len());
    let own = Own { texts, start };
    let parts = http_parts(&own.texts[start..]);
    let named = http_variables(env.iter().map(|(name, spot)| (&**name, &*spot.text)));
    let leaves_mode = !parts.is_empty() || !named.is_empty();
    if !leaves_mode && !is_sure {
        return Vec::new();
    }
    let variables: Vec<(String, Option<String>)> = named
        .iter()
        .map(|(name, is_mode)| ((*name).to_owned(), is_mode.then(|| STDIO.to_owned())))
        .collect();
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |args: Vec<Word>, env: &[(String, Option<String>)]| {
        let candidate = Candidate {
            args,
            env: env.to_vec(),
            leaves_mode,
        };
        let is_own = candidate.keeps_args(own.texts.len()) && candidate.env.is_empty();
        if !is_own && !found.contains(&candidate) {
            found.push(candidate);
        }
    };
    let left_out = own.without(&parts, false);
    add(own.without(&parts, true), &variables);
    add(left_out.clone(), &variables);
    // What a script runner is given besides is its own and not the script's.
    let is_runner = is_script_runner(name_of(&command.text));
    if !is_sure || is_runner {
        return found;
    }
    for words in [&["--stdio"][..], &["--transport", STDIO], &[STDIO]] {
        if !words.iter().all(|word| own.texts[start..].contains(word)) {
            let new = words.iter().map(|word| Word::New((*word).to_owned()));
            add(left_out.iter().cloned().chain(new).collect(), &variables);
        }
    }
    if variables.is_empty() {
        for name in ["MCP_TRANSPORT", "TRANSPORT"] {
            add(
                left_out.clone(),
                &[(name.to_owned(), Some(STDIO.to_owned()))],
            );
        }
    }
    found
}

const STDIO: &str = "stdio";

/// The entry's arguments, and where those of its program begin.
struct Own<'a> {
    texts: Vec<&'a str>,
    start: usize,
}

impl Own<'_> {
    /// The arguments without where a server of HTTP listens, and with stdio or
    /// nothing in place of its mode.
    fn without(&self, parts: &[HttpPart], is_replaced: bool) -> Vec<Word> {
        let (own, start) = (&self.texts[self.start..], self.start);
        let mut words: Vec<Option<Word>> = (0..self.texts.len())
            .map(|index| Some(Word::Own(index)))
            .collect();
        for range in address_words(own) {
            words[range.start + start..range.end + start].fill(None);
        }
        let stdio = |text: &str| is_replaced.then(|| Word::New(text.to_owned()));
        for part in parts {
            match part {
                HttpPart::Switch(range) => {
                    words[range.start + start..range.end + start].fill(None);
                }
                HttpPart::Value(index) => {
                    words[index + start] = stdio(STDIO);
                    // A flag without its value is none.
                    let before = index.checked_sub(1).filter(|at| own[*at].starts_with('-'));
                    if let Some(flag) = before.filter(|_| !is_replaced) {
                        words[flag + start] = None;
                    }
                }
                HttpPart::Joined(index, flag) => {
                    words[index + start] = stdio(&format!("{flag}={STDIO}"));
                }
            }
        }
        words.into_iter().flatten().collect()
    }
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
                let env = candidate.env.iter().map(|(n, v)| match v {
                    Some(value) => format!("{n}={value} "),
                    None => format!("-{n} "),
                });
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
        let env = [("MCP_TRANSPORT", "sse"), ("KEY", "http"), ("USE_HTTP", "1")];
        assert_eq!(
            lines("node x.js", &env, false),
            ["MCP_TRANSPORT=stdio -USE_HTTP x.js"]
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
