//! What mends a server that lacks an argument, or was given one that it does
//! not take.

use super::prescribe::{Doctor, blank, found};
use super::steps::Remedy;
use crate::doctor::entry::Place;
use jelly_base::text::{LazyPattern, close_names};

/// What parsers of command lines call the options of a program, which is no
/// argument.
const METAWORDS: &[&str] = &["options", "option", "args", "flags", "command", "arguments"];

/// Arguments of which some are left out.
struct LeftOut {
    rest: Vec<String>,
    /// What is left out as the value of a flag before it, and where it would stand.
    value: Option<(usize, String)>,
}

impl Doctor<'_> {
    pub(super) fn argument(&self) -> Remedy {
        static EXAMPLE: [LazyPattern; 1] = [LazyPattern::new(
            r"(?im)(?:^|\s)(?P<it>--[a-z][\w-]*=)['\x22]?[<\w]",
        )];
        static SAID: [LazyPattern; 7] = [
            LazyPattern::new(r"(?i)arguments are required: (?P<it>[\w-]+)"),
            LazyPattern::new(
                r"(?i)\bmissing (?:option|argument|parameter):? ['\x22`](?P<it>[\w-]+)",
            ),
            LazyPattern::new(r"(?i)\b(?P<it>--[a-z][\w-]+) (?:is|are) required\b"),
            LazyPattern::new(
                r"(?i)\b(?:provide|specify|pass|supply|give) (?:an? |the )?(?P<it>[\w -]{3,40}?) (?:as|via|by|in|on|with)\b",
            ),
            LazyPattern::new(
                r"(?i)\bno (?P<it>[\w -]{3,40}?) (?:was |were )?(?:provided|specified|given)\b",
            ),
            LazyPattern::new(
                r"(?i)\b(?:specify|provide|pass|give|use|set) (?:at least |exactly )?(?:one of:? )?(?P<it>--[a-z][^\n.;]{2,60}\w)",
            ),
            LazyPattern::new(r"(?i)\beither an? (?P<it>[\w-]{3,40})"),
        ];
        static USAGE: [LazyPattern; 2] = [
            LazyPattern::new(r"(?i)usage:[^\n]*?(?P<it><[^<>\n]{1,60}>)"),
            LazyPattern::new(r"(?i)usage:[^\n]*?\[(?P<it>[a-z][a-z-]{2,40})\]"),
        ];
        const ADDS: &[&str] = &["add-argument", "give-directory", "check-plan", "show-help"];
        let started = self.started;
        let write = |words: &[String]| Remedy::new().write("Write", started.args(words));
        if self.rule.ends_with("install-not-allowed") {
            let mut words = started.with_flags(&["-y"]);
            // One behind the package is an argument of the server.
            let mut is_first = true;
            words.retain(|word| {
                let is_yes = matches!(&**word, "-y" | "--yes");
                !is_yes || std::mem::take(&mut is_first)
            });
            return write(&words).instead_of(&["allow-install"]);
        }
        // In square brackets too, since something is missing.
        // An example with a value in its place.
        let what = found(&SAID[..3], &self.told)
            .or_else(|| flag_of_usage(self.stderr, &started.words()))
            .or_else(|| argument_in(&USAGE, self.stderr))
            .or_else(|| found(&SAID[3..], &self.told))
            .or_else(|| found(&EXAMPLE, &self.all_said()));
        let flag_blank = |flag: &str| blank(flag.trim_start_matches('-'));
        let either: Vec<&str> = what
            .iter()
            .filter(|what| what.starts_with("--") && what.contains(' '))
            .flat_map(|what| what.split([' ', ',', '/', '|']))
            .filter(|word| word.starts_with("--"))
            .collect();
        if let [_, _, ..] = &either[..] {
            let one = |flag: &&str| started.args(&started.words_and(&[flag, &flag_blank(flag)]));
            let first = one(&either[0]);
            let remedy = Remedy::new().write("Write one of these", first);
            let others = either[1..].iter().map(one);
            return others
                .fold(remedy, |remedy, other| remedy.paste(other.members))
                .instead_of(ADDS);
        }
        let Some(what) = what else {
            let words = started.words_and(&[&blank("argument")]);
            return write(&words).instead_of(&["add-argument"]);
        };
        let words = match &*what {
            flag if flag.starts_with("--") && flag.ends_with('=') => {
                let name = flag.trim_matches(['-', '=']);
                started.words_and(&[&format!("{flag}{}", blank(name))])
            }
            flag if flag.starts_with("--") && !flag.contains(' ') => {
                started.words_and(&[flag, &flag_blank(flag)])
            }
            what => started.words_and(&[&blank(what)]),
        };
        write(&words).instead_of(ADDS)
    }

    /// A flag that the server says it requires.
    pub(super) fn lacking_flag(&self) -> Remedy {
        static REQUIRED: [LazyPattern; 1] = [LazyPattern::new(
            r"(?i)\brequires? (?:the )?(?P<it>--[a-z][\w-]+) (?:flag|option|argument)",
        )];
        let wanted = found(&REQUIRED, &self.told);
        let mut words = self.started.words();
        match wanted.filter(|flag| !words.contains(flag)) {
            Some(flag) => {
                words.push(flag);
                let change = self.started.args(&words).at(self.at_args());
                Remedy::new().write("Write", change)
            }
            None => Remedy::new(),
        }
    }

    /// An argument that the server does not take.
    pub(super) fn refused(&self) -> Remedy {
        let lacking = self.lacking_flag();
        if !lacking.is_empty() {
            return lacking;
        }
        let (started, at) = (self.started, self.at_args());
        let mut words = started.words();
        let write = |what: &str, place: Place, words: &[String]| {
            Remedy::new().write(what, started.args(words).at(place))
        };
        if let Some((index, meant)) = self.mistyped() {
            let what = format!("It does not know `{}`; write", words[index]);
            words[index] = meant;
            return write(&what, self.at_arg(index), &words);
        }
        // What a program inside refuses stands in none of its own arguments.
        if self.rule == "config/started-program-refused" {
            return Remedy::new();
        }
        if let Some(LeftOut { rest, value }) = self.without_unknown() {
            let what = "It does not know what is left out here; write";
            let remedy = write(what, at, &rest);
            // Nobody else knows whether it stood for itself.
            let Some((index, value)) = value else {
                return remedy;
            };
            let mut kept = rest;
            let what = format!("Or, where `{value}` stands for itself, keep it:");
            kept.insert(index, value);
            return remedy.say(what).paste(started.args(&kept).members);
        }
        let named = |text: &str| {
            let at = text.len() > 1 && self.told.contains(text);
            at && !matches!(text, "run" | "stdio")
        };
        let index = started.args.iter().rposition(|arg| named(&arg.text));
        let Some(index) = index.filter(|index| *index >= started.program_end()) else {
            return Remedy::new();
        };
        let place = self.at_arg(index);
        if started.args[index].text.starts_with('-') {
            let flag = words.remove(index);
            // A number behind a flag is its value.
            let is_value = |word: &String| !flag.contains('=') && word.parse::<u64>().is_ok();
            if words.get(index).is_some_and(is_value) {
                words.remove(index);
            }
            let what = "It does not take this as it stands; leave it out,";
            return write(what, place, &words);
        }
        let before = index
            .checked_sub(1)
            .map(|before| &*started.args[before].text);
        let name = before.filter(|before| before.starts_with("--"));
        let name = name.map_or("another value", |flag| flag.trim_start_matches('-'));
        let what = "Write a value that it takes,";
        Remedy::new().write(what, started.with(index, &blank(name)))
    }

    /// What it lists as unknown.
    fn unknown(&self) -> Option<String> {
        static UNKNOWN: [LazyPattern; 4] = [
            LazyPattern::new(r"(?i)\bunrecognized arguments?:? (?P<it>[^\n]+)"),
            LazyPattern::new(r"(?i)\bunexpected extra arguments? \((?P<it>[^)\n]+)\)"),
            LazyPattern::new(r"(?i)\bno such option:? ['\x22`]?(?P<it>--?[\w-]+)"),
            LazyPattern::new(
                r"(?i)\b(?:unknown|unrecognized|unexpected) (?:option|flag|argument)s?:? ['\x22`]?(?P<it>--?[\w-]+)",
            ),
        ];
        found(&UNKNOWN, &self.told)
    }

    /// The place of a flag that it does not know, with what was meant: one that
    /// it names itself.
    fn mistyped(&self) -> Option<(usize, String)> {
        static PROPOSES: LazyPattern =
            LazyPattern::ascii(r"(?i)\b(?:mean|meant|similar|possible|available|usage)\b");
        let unknown = self.unknown()?;
        let flag = unknown.split([' ', '=']).next()?;
        let named = |text: &&str| text.starts_with("--") && text.len() > 3 && *text != flag;
        // What else is logged may be of anybody's options.
        let proposes = |line: &&str| PROPOSES.is_match(line);
        let proposed: Vec<&str> = self.stderr.lines().filter(proposes).collect();
        let said = format!("{}\n{}", self.told, proposed.join("\n"));
        let others = said.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
        let meant = close_names(flag, others.filter(named)).into_iter().next()?;
        let words = self.started.words();
        let index = words
            .iter()
            .position(|word| word.split('=').next() == Some(flag))?;
        let value = &words[index][flag.len()..];
        (flag.starts_with("--") && index >= self.started.program_end())
            .then(|| (index, format!("{meant}{value}")))
    }

    /// The arguments without those that it lists as unknown.
    fn without_unknown(&self) -> Option<LeftOut> {
        let listed = self.unknown()?;
        let listed: Vec<&str> = listed.split_whitespace().collect();
        let mut kept = Vec::new();
        let mut value = None;
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
            left_out = index >= self.started.program_end() && (is_listed || is_value);
            match left_out {
                true if is_value => value = Some((kept.len(), word)),
                true => {}
                false => kept.push(word),
            }
        }
        (kept.len() < self.started.args.len()).then_some(LeftOut { rest: kept, value })
    }
}

/// The first flag with a value that a usage asks for, of those that are not there yet.
fn flag_of_usage(text: &str, words: &[String]) -> Option<String> {
    static ASKED: LazyPattern =
        LazyPattern::new(r"\[[^\]\n]*\]|(?P<it>--[A-Za-z][\w-]+)[ =]<[^<>\n]{1,60}>|<");
    let lower = text.to_ascii_lowercase();
    let usage = text.get(lower.find("usage:")?..)?.lines().next()?;
    // What may be left out, and what a flag in front of it takes, is none.
    let asked = ASKED
        .captures_iter(usage)
        .filter(|found| !found[0].starts_with('['));
    for found in asked {
        let flag = found.name("it")?.as_str();
        let is_there = |word: &String| word.split('=').next() == Some(flag);
        if !words.iter().any(is_there) {
            return Some(flag.to_owned());
        }
    }
    None
}

/// The first argument that a usage names.
fn argument_in(patterns: &[LazyPattern], text: &str) -> Option<String> {
    let is_one = |name: &str| {
        let folded = name.trim_matches(['<', '>']).to_ascii_lowercase();
        !METAWORDS.contains(&&*folded)
    };
    patterns.iter().find_map(|pattern| {
        let mut names = pattern
            .captures_iter(text)
            .filter_map(|found| Some(found.name("it")?.as_str().to_owned()));
        names.find(|name| is_one(name))
    })
}

#[cfg(test)]
mod tests {
    use super::flag_of_usage;

    #[test]
    fn a_usage_asks_for_the_first_flag_that_is_not_there() {
        let flag = |text: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            flag_of_usage(text, &words)
        };
        let usage = "error\nUsage: srv [--port <n>] --db <path> --key=<key>\nmore --x <y>";
        assert_eq!(flag(usage, &[]).as_deref(), Some("--db"));
        assert_eq!(flag(usage, &["--db", "a"]).as_deref(), Some("--key"));
        assert_eq!(flag(usage, &["--db=a", "--key", "b"]), None);
        // What stands alone is asked for by itself.
        assert_eq!(flag("usage: srv <folder> --db <path>", &[]), None);
        assert_eq!(flag("no word of it: --db <path>", &[]), None);
    }
}
