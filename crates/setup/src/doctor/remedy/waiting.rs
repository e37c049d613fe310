//! What is said of a server that waits: for a person, for another server, or
//! for what only its code knows.

use super::entries::Started;
use super::prescribe::{Doctor, blank, found};
use super::steps::Remedy;
use jelly_base::text::redact::show_url;
use jelly_base::text::{LazyPattern, one_line, shell_word as word};

/// How much of its last words is said.
const SHOWN: usize = 200;

impl Doctor<'_> {
    /// It asks a person.
    pub(super) fn person(&self) -> Remedy {
        static VARIABLE: [LazyPattern; 1] = [LazyPattern::new(
            r"\b(?P<it>[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|USER|URL|HOST))\b",
        )];
        let started = self.started;
        if self.rule.ends_with("breakpoint") {
            let what = "Have Python pass over every `breakpoint()`; write in the entry";
            return Remedy::new()
                .write(what, started.env_with("PYTHONBREAKPOINT", "0"))
                .instead_of(&["pass-over-breakpoints"]);
        }
        let variable = found(&VARIABLE, &self.all_said());
        let remedy = match variable {
            Some(name) => Remedy::new().write(
                "Give it the answer beforehand; write in the entry",
                started.env_with(&name, &blank(&format!("value of {name}"))),
            ),
            None => Remedy::new()
                .say(
                    "Give it the answer beforehand; its help may name an argument or a variable \
                     for it:",
                )
                .run(self.usage()),
        };
        remedy
            .say("Or, if it asks only once (a login, a first setup), answer it by hand:")
            .run(started.line(&started.words()))
            .instead_of(&[
                "give-value-beforehand",
                "answer-once-by-hand",
                "run-by-hand",
            ])
    }

    /// It never answers, for what its arguments tell of.
    pub(super) fn silence(&self) -> Remedy {
        let mut remedy;
        if self.rule.contains("interpreter") {
            let script = blank("path of the server's script");
            let words = self.started.words_and(&[&script]);
            let what = "Write in the entry";
            remedy = Remedy::new().write(what, self.started.args(&words).at(self.at_entry()));
        } else {
            remedy = self
                .proven()
                .unwrap_or_else(|| self.without_http_mode(false));
            if let Some((url, probe)) = self.started.address() {
                remedy = remedy
                    .say(format!(
                        "It is configured for {url}; check whether that answers:"
                    ))
                    .run(probe);
            }
        }
        remedy.instead_of(&["see-what-it-waits-for", "give-script", "run-by-hand"])
    }

    /// What a server that never answered said last.
    pub(super) fn last_words(&self) -> Option<String> {
        let mut lines = self.stderr.lines().rev();
        let last = lines.find(|line| !line.trim().is_empty())?;
        Some(one_line(last, SHOWN))
    }
}

impl Started<'_> {
    /// An address of another server among its words, and what asks whether it
    /// answers.
    fn address(&self) -> Option<(String, String)> {
        let variables = self.env.iter().map(|(_, spot)| spot);
        let texts = self.args.iter().chain(variables);
        texts.map(|spot| &*spot.text).find_map(address_in)
    }
}

fn address_in(text: &str) -> Option<(String, String)> {
    let start = text.find("://")?;
    let scheme_at = text[..start]
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '+')
        .map_or(0, |at| at + 1);
    let scheme = &text[scheme_at..start];
    let authority = text[start + 3..].split(['/', '?', '#']).next()?;
    let host_port = authority.rsplit('@').next()?;
    if scheme.is_empty() || host_port.is_empty() || text.contains("${") {
        return None;
    }
    let shown = show_url(&text[scheme_at..]);
    if matches!(scheme, "http" | "https") {
        let probe = format!("curl -i --max-time 10 {}", word(&shown));
        return Some((shown, probe));
    }
    let (host, port) = host_port.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    let probe = format!(
        "nc -vz -w 10 {} {port}",
        word(host.trim_matches(['[', ']']))
    );
    Some((shown, probe))
}
