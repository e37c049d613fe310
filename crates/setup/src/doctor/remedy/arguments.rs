//! What mends a server that lacks an argument, or was given one that it does
//! not take.

use super::prescribe::{Doctor, Remedy, blank, found};
use regex::Regex;

/// What parsers of command lines call the options of a program, which is no
/// argument.
const METAWORDS: &[&str] = &["options", "option", "args", "flags", "command", "arguments"];

impl Doctor<'_> {
    pub(super) fn argument(&self) -> Remedy {
        if self.rule.ends_with("install-not-allowed") {
            let words = self.with_flags(&["-y"]);
            let at = self.at_args();
            return Remedy::of(vec![format!("Write at {at}:"), self.started.args(&words)])
                .instead_of(&["Write `-y`"]);
        }
        // In square brackets too, since something is missing.
        let usage = [
            r"(?i)usage:[^\n]*?(?P<it><[^<>\n]{1,60}>)",
            r"(?i)usage:[^\n]*?\[(?P<it>[a-z][a-z-]{2,40})\]",
        ];
        let said = [
            r"(?i)arguments are required: (?P<it>[\w-]+)",
            r"(?i)\bmissing (?:option|argument|parameter):? ['\x22`](?P<it>[\w-]+)",
            r"(?i)\b(?P<it>--[a-z][\w-]+) (?:is|are) required\b",
            r"(?i)\b(?:provide|specify|pass|supply|give) (?:an? |the )?(?P<it>[\w -]{3,40}?) (?:as|via|by|in|on|with)\b",
            r"(?i)\bno (?P<it>[\w -]{3,40}?) (?:was |were )?(?:provided|specified|given)\b",
            r"(?i)\b(?:specify|provide|pass|give|use|set) (?:at least |exactly )?(?:one of:? )?(?P<it>--[a-z][^\n.;]{2,60}\w)",
            r"(?i)\beither an? (?P<it>[\w-]{3,40})",
        ];
        // An example with a value in its place.
        let example = [r"(?im)(?:^|\s)(?P<it>--[a-z][\w-]*=)['\x22]?[<\w]"];
        let what = found(&said[..3], &self.told)
            .or_else(|| argument_in(&usage, self.stderr))
            .or_else(|| found(&said[3..], &self.told))
            .or_else(|| found(&example, &self.all_said()));
        let mut words = self.started.words();
        let either: Vec<&str> = what
            .iter()
            .filter(|what| what.starts_with("--") && what.contains(' '))
            .flat_map(|what| what.split([' ', ',', '/', '|']))
            .filter(|word| word.starts_with("--"))
            .collect();
        if either.len() > 1 {
            let mut lines = vec![format!("Write one of these at {}:", self.at_args())];
            lines.extend(either.iter().map(|flag| {
                let new = [(*flag).to_owned(), blank(flag.trim_start_matches('-'))];
                self.started
                    .args(&words.iter().cloned().chain(new).collect::<Vec<_>>())
            }));
            return Remedy::of(lines).instead_of(&["Add it to", "Give it a directory", "$ "]);
        }
        match &what {
            Some(flag) if flag.starts_with("--") && flag.ends_with('=') => {
                let name = flag.trim_matches(['-', '=']);
                words.push(format!("{flag}{}", blank(name)));
            }
            Some(flag) if flag.starts_with("--") && !flag.contains(' ') => {
                words.push(flag.clone());
                words.push(blank(flag.trim_start_matches('-')));
            }
            Some(what) => words.push(blank(what)),
            None => words.push(blank("argument")),
        }
        let lines = vec![
            format!("Write at {}:", self.at_args()),
            self.started.args(&words),
        ];
        if what.is_some() {
            Remedy::of(lines).instead_of(&["Add it to", "Give it a directory", "$ "])
        } else {
            Remedy::of(lines).instead_of(&["Add it to"])
        }
    }

    /// An argument that the server does not take.
    pub(super) fn refused(&self) -> Remedy {
        let wanted = found(
            &[r"(?i)\brequires? (?:the )?(?P<it>--[a-z][\w-]+) (?:flag|option|argument)"],
            &self.told,
        );
        let mut words = self.started.words();
        let at = self.at_args();
        if let Some(flag) = wanted.filter(|flag| !words.contains(flag)) {
            words.push(flag);
            return Remedy::of(vec![format!("Write at {at}:"), self.started.args(&words)]);
        }
        if let Some(rest) = self.without_unknown() {
            let what = format!("It does not know what is left out here; write at {at}:");
            return Remedy::of(vec![what, self.started.args(&rest)]);
        }
        let named = |text: &str| {
            let at = text.len() > 1 && self.told.contains(text);
            at && !matches!(text, "run" | "stdio")
        };
        let Some(index) = self.started.args.iter().rposition(|arg| named(&arg.text)) else {
            return Remedy::none();
        };
        if index < self.program_end() {
            return Remedy::none();
        }
        let place = self.at(self.started.args[index].place);
        if self.started.args[index].text.starts_with('-') {
            let flag = words.remove(index);
            // A number behind a flag is its value.
            let is_value = |word: &String| !flag.contains('=') && word.parse::<u64>().is_ok();
            if words.get(index).is_some_and(is_value) {
                words.remove(index);
            }
            let what = format!("It does not take this as it stands; leave it out, at {place}:");
            return Remedy::of(vec![what, self.started.args(&words)]);
        }
        let before = index
            .checked_sub(1)
            .map(|before| &*self.started.args[before].text);
        let name = before.filter(|before| before.starts_with("--"));
        let name = name.map_or("another value", |flag| flag.trim_start_matches('-'));
        let what = format!("Write a value that it takes, at {place}:");
        Remedy::of(vec![what, self.with(index, &blank(name))])
    }

    /// The arguments without those that it lists as unknown.
    fn without_unknown(&self) -> Option<Vec<String>> {
        let listed = found(
            &[
                r"(?i)\bunrecognized arguments?:? (?P<it>[^\n]+)",
                r"(?i)\bunexpected extra arguments? \((?P<it>[^)\n]+)\)",
                r"(?i)\bno such option:? ['\x22`]?(?P<it>--?[\w-]+)",
                r"(?i)\b(?:unknown|unrecognized|unexpected) (?:option|flag|argument)s?:? ['\x22`]?(?P<it>--?[\w-]+)",
            ],
            &self.told,
        )?;
        let listed: Vec<&str> = listed.split_whitespace().collect();
        let mut kept = Vec::new();
        let mut left_out = false;
        for (index, word) in self.started.words().into_iter().enumerate() {
            let flag = word.split('=').next().unwrap_or_default();
            let is_listed =
                listed.contains(&&*word) || word.starts_with('-') && listed.contains(&flag);
            // A value that is listed nowhere belongs to the flag before it.
            let is_value = left_out
                && !word.starts_with('-')
                && listed.len() == 1
                && self.started.args[index - 1].text.starts_with("--")
                && !self.started.args[index - 1].text.contains('=');
            left_out = index >= self.program_end() && (is_listed || is_value);
            if !left_out {
                kept.push(word);
            }
        }
        (kept.len() < self.started.args.len()).then_some(kept)
    }
}

/// The first argument that a usage names.
fn argument_in(patterns: &[&str], text: &str) -> Option<String> {
    let is_one = |name: &str| {
        let folded = name.trim_matches(['<', '>']).to_ascii_lowercase();
        !METAWORDS.contains(&&*folded)
    };
    patterns.iter().find_map(|pattern| {
        let pattern = Regex::new(pattern).ok()?;
        let mut names = pattern
            .captures_iter(text)
            .filter_map(|found| Some(found.name("it")?.as_str().to_owned()));
        names.find(|name| is_one(name))
    })
}
