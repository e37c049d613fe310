//! What is hidden line by line: of comments, and of a text that is no document.

use super::{HEADERS, REFERENCES, Search, is_masked};
use jelly_base::text::redact::{
    secrets_by_form, secrets_in_args, secrets_in_argv, secrets_in_text, secrets_in_variable,
    shell_lines,
};
use std::ops::Range;

impl Search<'_> {
    /// Hides these slices of the text, which were found in it.
    fn slices<'f>(&mut self, found: impl IntoIterator<Item = &'f str>, line: Range<usize>) {
        for value in found {
            let mut is_told = false;
            for (at, _) in self.text[line.clone()].match_indices(value) {
                let start = line.start + at;
                let part = start..start + value.len();
                if !self.is_name(part.clone()) {
                    self.hidden.insert((part.start, part.end));
                    is_told = true;
                }
            }
            if is_told {
                self.values.insert(value.to_owned());
            }
        }
    }

    /// Entries that were made comments hold what they held.
    pub(super) fn comments(&mut self) {
        let text = self.text;
        let mut at = 0;
        while let Some(sign) = text[at..].find('#') {
            let start = at + sign;
            at = start + 1;
            let before = text[..start].chars().next_back();
            let next = self
                .scalars
                .partition_point(|(from, _)| *from as usize <= start);
            let inside = next > 0 && self.scalars[next - 1].1 as usize > start;
            if inside || before.is_some_and(|c| !c.is_whitespace()) {
                continue;
            }
            let end = text[start..].find('\n').map_or(text.len(), |n| start + n);
            self.line(start..end);
            at = end;
        }
    }

    /// Hides what one line holds that is no part of a tree.
    fn line(&mut self, line: Range<usize>) {
        if is_masked(&self.text[line.clone()]) {
            return;
        }
        let text = self.text()[line.clone()].trim_start_matches(['#', ' ', '\t']);
        let mut found = secrets_in_text(text);
        found.extend(secrets_by_form(text));
        let borders = |c: char| c.is_whitespace() || ",{}[]\"'".contains(c);
        for (colon, _) in text.match_indices(':') {
            let name = text[..colon].trim_end_matches(['"', '\'']);
            let name = name.rsplit(borders).next().unwrap_or_default();
            let value = text[colon + 1..].split([',', '}']).next();
            found.extend(secrets_in_variable(name, value.unwrap_or_default()));
        }
        self.slices(found.iter().map(|found| found.value), line);
    }

    /// A text that is no document, line by line: what follows `headers` on its
    /// line and is indented below it, and what looks secret.
    pub(super) fn lines(&mut self) {
        let text = self.text;
        let mut headers: Option<usize> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let place = at..at + line.len();
            at = place.end;
            let indent = line.len() - line.trim_start().len();
            if line.trim().is_empty() || is_masked(line) {
                continue;
            }
            if headers.is_some_and(|outer| indent <= outer) {
                headers = None;
            }
            let value = match line.to_ascii_lowercase().find(HEADERS) {
                Some(name) => {
                    headers.get_or_insert(indent);
                    Some(name + HEADERS.len())
                }
                None if headers.is_some() => Some(indent),
                None => None,
            };
            if let Some(from) = value {
                let after = line[from..]
                    .find(':')
                    .map_or(from, |colon| from + colon + 1);
                self.lines_of(place.start + after..place.end);
            }
            self.line(place);
        }
        self.commands();
    }

    /// Hides what is secret in the words of commands: in a text that is no document, all
    /// between two keys may be one.
    fn commands(&mut self) {
        let text = self.text;
        let borders = |c: char| c.is_whitespace() || ",[]\"'`".contains(c);
        let mut words: Vec<(usize, &str)> = Vec::new();
        let mut at = 0;
        for word in text.split_inclusive(borders) {
            let bare = word.trim_end_matches(borders);
            if bare.ends_with(':') {
                self.command(&std::mem::take(&mut words));
            } else if !matches!(bare, "" | "-" | "{" | "}") {
                // What a reference names is no secret; that there is one keeps the order.
                let opens = REFERENCES.into_iter().filter_map(|open| bare.find(open));
                let end = opens.min().map_or(bare.len(), |open| open + 2);
                // A map may begin with it.
                let opened = bare.starts_with('{') && !bare.starts_with("{{");
                words.push((at + usize::from(opened), &bare[usize::from(opened)..end]));
            }
            at += word.len();
        }
        self.command(&words);
    }

    /// Words of one command, with their places.
    fn command(&mut self, words: &[(usize, &str)]) {
        let argv: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
        self.shell_line(words, &argv);
        for found in secrets_in_argv(&argv) {
            let Some((start, _)) = words.get(found.word) else {
                continue;
            };
            // A reference hides nothing.
            let opens = REFERENCES
                .into_iter()
                .filter_map(|open| found.value.find(open));
            let value = &found.value[..opens.min().unwrap_or(found.value.len())];
            if value.len() > 1 {
                let at = start + words[found.word].1.find(value).unwrap_or_default();
                self.hidden.insert((at, at + value.len()));
                self.values.insert(value.to_owned());
            }
        }
    }

    /// Hides what is secret in the line of a shell that these words are of: its quotes hold
    /// more than one of them. Where the program is, is not known here.
    fn shell_line(&mut self, words: &[(usize, &str)], argv: &[&str]) {
        let first = |shell| shell_lines(shell, argv).iter().position(|is_line| *is_line);
        let first = ["sh", "pwsh"].into_iter().filter_map(first).min();
        if let Some(first) = first
            && let (Some((start, _)), Some((last, word))) = (words.get(first), words.last())
        {
            let line = &self.text[*start..last + word.len()];
            for found in secrets_in_args("sh -c", &[line]) {
                let at = start + found.range().start;
                self.lines_of(at..at + found.value.len());
                self.values.insert(found.value.to_owned());
            }
        }
    }
}
