//! What is said of a server that waits: for a person, for another server, or
//! for what only its code knows.

use super::entries::Started;
use super::prescribe::{Doctor, Remedy, blank, found};
use crate::doctor::entry::Spot;
use jelly_base::text::redact::show_url;
use jelly_base::text::{one_line, shell_word as word};

/// How much of its last words is said.
const SHOWN: usize = 200;

impl Doctor<'_> {
    /// It asks a person.
    pub(super) fn person(&self) -> Remedy {
        if self.rule.ends_with("breakpoint") {
            let off = ("PYTHONBREAKPOINT".to_owned(), "0".to_owned());
            return Remedy::of(vec![
                format!(
                    "Have Python pass over every `breakpoint()`; write in the entry at {}:",
                    self.at(self.context.entry.place)
                ),
                self.started.env_with(&[off]),
            ])
            .instead_of(&["`PYTHONBREAKPOINT"]);
        }
        let said = self.all_said();
        let variable = found(
            &[r"\b(?P<it>[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|USER|URL|HOST))\b"],
            &said,
        );
        let mut lines = Vec::new();
        if let Some(name) = variable {
            let at = self.at(self.context.entry.place);
            let value = blank(&format!("value of {name}"));
            lines.push(format!(
                "Give it the answer beforehand; write in the entry at {at}:"
            ));
            lines.push(self.started.env_with(&[(name, value)]));
        } else {
            lines.push(
                "Give it the answer beforehand; its help may name an argument or a variable for \
                 it:"
                .to_owned(),
            );
            lines.push(self.usage());
        }
        let command = std::iter::once(self.started.shown(&self.started.command.text));
        let line: Vec<String> = command
            .chain(self.started.words())
            .map(|arg| word(&arg))
            .collect();
        lines.push(
            "Or, if it asks only once (a login, a first setup), answer it by hand:".to_owned(),
        );
        lines.push(format!("$ {}", line.join(" ")));
        Remedy::of(lines).instead_of(&["Give it the value", "If it is asked", "$ "])
    }

    /// It never answers, for what its arguments tell of.
    pub(super) fn silence(&self) -> Remedy {
        if self.rule.contains("interpreter") {
            let at = self.at(self.context.entry.place);
            let mut words = self.started.words();
            words.push(blank("path of the server's script"));
            return Remedy::of(vec![
                format!("Write in the entry at {at}:"),
                self.started.args(&words),
            ])
            .instead_of(&["Start it by hand", "Give the server's script", "$ "]);
        }
        let mut lines = self
            .proven()
            .unwrap_or_else(|| self.without_http_mode(false));
        if let Some((url, probe)) = self.started.address() {
            lines.push(format!("It is told of {url}; see whether that answers:"));
            lines.push(format!("$ {probe}"));
        }
        Remedy::of(lines).instead_of(&["Start it by hand", "Give the server's script", "$ "])
    }

    /// What a server that never answered said last.
    pub(super) fn last_words(&self) -> Option<String> {
        let last = self
            .stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())?;
        Some(one_line(last, SHOWN))
    }
}

impl Started<'_> {
    /// An address of another server among its words, and what asks whether it
    /// answers.
    fn address(&self) -> Option<(String, String)> {
        let texts = self
            .args
            .iter()
            .chain(self.env.iter().map(|(_, spot)| spot));
        texts.filter_map(address_in).next()
    }
}

fn address_in(spot: &Spot) -> Option<(String, String)> {
    let start = spot.text.find("://")?;
    let scheme_at = spot.text[..start]
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '+')
        .map_or(0, |at| at + 1);
    let scheme = &spot.text[scheme_at..start];
    let rest = &spot.text[start + 3..];
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_port = authority.rsplit('@').next()?;
    if scheme.is_empty() || host_port.is_empty() || spot.text.contains("${") {
        return None;
    }
    let shown = show_url(&spot.text[scheme_at..]);
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
