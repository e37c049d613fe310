//! Paths: where a project, a home or a temporary folder lies says nothing, and
//! the name of what was looked for does.

use super::shape::{PartShape, has_digit, in_words, is_hex, shape, uuid};
use super::words::{WordKinds, kinds};

/// How much of `text` is an absolute path, which may begin with a drive. In
/// quotes, those of Windows may have spaces.
pub(super) fn path_len(text: &str, quoted: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let drive = match bytes {
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => 2,
        [b'~', b'/', ..] => 1,
        [b'/', ..] => 0,
        _ => return None,
    };
    let in_path = |b: u8| {
        b.is_ascii_alphanumeric()
            || !b.is_ascii()
            || b"/_.@+%~#-$=".contains(&b)
            || drive == 2 && (b == b'\\' || quoted && b == b' ')
    };
    let rest = &bytes[drive..];
    let len = drive + rest.iter().take_while(|b| in_path(**b)).count();
    let len = text[..len].trim_end_matches(['.', ' ', '-', '=']).len();
    // `// comment` and a division are no paths.
    let named = bytes
        .get(drive + 1)
        .is_some_and(|b| in_path(*b) && !b"/ =".contains(b));
    (named && len > drive + 1).then_some(len)
}

/// The last two parts of an absolute path, or what follows a folder for
/// temporary files. Short paths and those of the system stay as they are.
pub(super) fn short_path(path: &str, named: impl Fn(&str) -> String) -> String {
    let parts: Vec<&str> = path
        .split(['/', '\\'])
        .filter(|part| !part.is_empty() && !part.ends_with(':'))
        .collect();
    let [first, .., last] = parts.as_slice() else {
        let name = parts.first().copied().unwrap_or_default();
        return format!("/{}", named(name));
    };
    let ends = if path.ends_with(['/', '\\']) { "/" } else { "" };
    if let Some(of_package) = in_package(&parts, &named) {
        return format!("<dir>/{of_package}{ends}");
    }
    // Capybara numbers the pictures that it takes of what failed.
    let is_made = |last: &str| last.bytes().filter(u8::is_ascii_digit).count() > 7;
    if parts.contains(&"capybara")
        && (last.ends_with(".png") || last.ends_with(".html"))
        && (parts.contains(&"tmp") || is_made(last))
    {
        return "<dir>/<id>".to_owned();
    }
    let temporary = (0..parts.len())
        .rev()
        .find(|at| is_temporary(parts[*at]) || is_of_mac(&parts, *at));
    // Jenkins numbers the folder of each run.
    let below = temporary.map(|at| match &parts[at + 1..] {
        [run, rest @ ..] if is_of_jenkins(run) && !rest.is_empty() => rest,
        below => below,
    });
    let kept = match temporary.zip(below) {
        Some((at, below)) => match below {
            [] if is_of_tempfile(parts[at]) || is_of_mktemp(parts[at]) => "<id>".to_owned(),
            [] => "tmp".to_owned(),
            [only] if is_of_tempfile(only) || is_of_mktemp(only) => "<id>".to_owned(),
            [only] => made_up(only),
            // What systems make for a user by the number.
            ["user", number, only] if number.bytes().all(|b| b.is_ascii_digit()) => made_up(only),
            // pytest numbers its runs.
            [user, run] if user.starts_with("pytest-of-") && run.starts_with("pytest-") => {
                "<id>".to_owned()
            }
            [user, only] if user.starts_with("pytest-of-") => made_up(only),
            [user, run, _, only]
                if user.starts_with("pytest-of-") && run.starts_with("pytest-") =>
            {
                made_up(only)
            }
            [run, only] if is_of_run(run) => made_up(only),
            [run, folder, only] if is_of_run(run) && made_up(folder).contains("<id>") => {
                named(only)
            }
            // What lies right below was made for the run.
            [_, only] => named(only),
            [.., folder, _] => {
                let shown = named(folder);
                match folder.bytes().any(|b| b.is_ascii_digit()) || shown.contains("<id>") {
                    true => named(last),
                    false => format!("{shown}/{}", named(last)),
                }
            }
        },
        // Of whom a home is, or where it lies, says nothing.
        None if last.starts_with('.') && is_home(&parts) => named(last),
        None if parts.len() > 2 && !matches!(*first, "etc" | "proc" | "sys" | "dev") => {
            let folder = parts[parts.len() - 2];
            format!("{}/{}", named(checkout(folder)), named(last))
        }
        // Processes and what they have open.
        None if *first == "proc" => {
            let named = |part: &&str| match part.bytes().all(|b| b.is_ascii_digit()) {
                true => "<id>".to_owned(),
                false => named(part),
            };
            let all: Vec<String> = parts.iter().map(named).collect();
            return format!("/{}{ends}", all.join("/"));
        }
        // Which terminal it got.
        None if parts.starts_with(&["dev", "pts"]) => return "/dev/pts/<id>".to_owned(),
        None => {
            let all: Vec<String> = parts.iter().map(|part| named(part)).collect();
            return format!("/{}{ends}", all.join("/"));
        }
    };
    format!("<dir>/{kept}{ends}")
}

/// Whether a folder is the one that macOS gives to each user for temporary files:
/// `/var/folders/1f/58dfa112fc/T`.
fn is_of_mac(parts: &[&str], at: usize) -> bool {
    at > 3 && parts[at] == "T" && parts[at - 3] == "folders"
}

/// Whether a path leads through a folder for temporary files.
pub(super) fn is_of_temporary(path: &str) -> bool {
    let parts: Vec<&str> = path
        .split(['/', '\\'])
        .filter(|part| !part.is_empty() && !part.ends_with(':'))
        .collect();
    (0..parts.len()).any(|at| is_temporary(parts[at]) || is_of_mac(&parts, at))
}

/// Whether a folder is one that a run of a CI service has for its temporary files: an id,
/// or a number behind a word.
fn is_of_run(folder: &str) -> bool {
    const ID: usize = 8;
    // Longer ones are chance.
    const NUMBER: usize = 7;
    let is_id = folder.len() >= ID && has_digit(folder) && is_hex(folder.as_bytes());
    let numbered = folder.rsplit_once(['-', '_']);
    let is_numbered = numbered.is_some_and(|(word, number)| {
        let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
        is_word
            && (2..=NUMBER).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
    });
    is_id || is_numbered
}

/// Whether a folder is a word with a long number, as Jenkins makes one for each run:
/// `jenkins4827361029`.
fn is_of_jenkins(folder: &str) -> bool {
    const DIGITS: usize = 7;
    let word = folder.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_word = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    is_word && folder.len() - word.len() >= DIGITS
}

/// Whether a file lies right in what can be a user's home.
fn is_home(parts: &[&str]) -> bool {
    match parts {
        ["root", _] => true,
        ["etc" | "proc" | "sys" | "dev" | "app" | "usr" | "opt", ..] => false,
        [_, _, _] => true,
        _ => false,
    }
}

/// Whether a folder is for what is thrown away: `tmp`, or what CI servers put beside
/// a checkout, as `shop_PR-12@tmp`.
pub(super) fn is_temporary(folder: &str) -> bool {
    let ends = [".tmp", "@tmp", "-tmp", "_tmp"];
    let known = kinds(folder).is(WordKinds::TEMPORARY)
        || is_of_tempfile(folder)
        || is_of_mktemp(folder)
        || folder.strip_prefix("tmp-").is_some_and(is_of_run);
    known || ends.into_iter().any(|end| folder.ends_with(end))
}

/// Whether a name is one that `mktemp` made without a template: `tmp.k3V9qz`.
fn is_of_mktemp(name: &str) -> bool {
    let made = name.strip_prefix("tmp.");
    made.is_some_and(|made| {
        let is_filled = made.bytes().all(|b| b.is_ascii_alphanumeric());
        is_filled && (6..=12).contains(&made.len())
    })
}

/// Whether a name is one that Python's `tempfile` made: eight characters behind `tmp`
/// that are no word.
pub(super) fn is_of_tempfile(name: &str) -> bool {
    let made = name.strip_prefix("tmp");
    made.is_some_and(|made| {
        let odd = has_digit(made) || 2 * in_words(made.as_bytes()) < made.len();
        odd && is_of_its_alphabet(made)
    })
}

/// Whether `tempfile` put this behind a prefix of somebody's choice, which tells less:
/// there has to be a digit in it, and no long word.
pub(super) fn is_filled_by_tempfile(made: &str) -> bool {
    has_digit(made) && 2 * in_words(made.as_bytes()) <= made.len() && is_of_its_alphabet(made)
}

fn is_of_its_alphabet(made: &str) -> bool {
    const LENGTH: usize = 8;
    let of_chance = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    made.len() == LENGTH && made.bytes().all(of_chance)
}

/// A file of a package, by that: of many packages it is `dist/index.js`.
fn in_package(parts: &[&str], named: impl Fn(&str) -> String) -> Option<String> {
    let folder = |part: &&str| matches!(*part, "node_modules" | "site-packages" | "dist-packages");
    let at = parts.iter().rposition(folder)? + 1;
    let scope = parts.get(at).is_some_and(|part| part.starts_with('@'));
    let at = if scope { at + 1 } else { at };
    let rest = parts.get(at..).filter(|rest| rest.len() > 2)?;
    let shown = [rest[0], rest[rest.len() - 2], rest[rest.len() - 1]];
    let shown = if rest.len() == 3 { rest } else { &shown[..] };
    let shown: Vec<_> = shown.iter().map(|part| named(part)).collect();
    Some(shown.join("/"))
}

/// A folder without what a CI server adds to tell its copies apart, as in
/// `shop_PR-128@2`.
fn checkout(folder: &str) -> &str {
    let copy = folder.split_once('@').map_or(folder, |(name, number)| {
        if number.bytes().all(|b| b.is_ascii_digit()) {
            name
        } else {
            folder
        }
    });
    let branch = copy.find("_PR-").or_else(|| copy.find("-PR-"));
    branch.map_or(copy, |at| &copy[..at])
}

/// Whether what is left of a name is of an alphabet of ids: of letters of both cases, or
/// with digits among them.
fn is_of_alphabet(rest: &str) -> bool {
    let capital = rest.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let mixed = capital && rest.bytes().any(|b| b.is_ascii_lowercase());
    (5..=24).contains(&rest.len()) && (mixed || has_digit(rest))
}

/// What stands before the six characters with which `mkdtemp` fills a name up, where
/// nothing parts the two.
fn before_mkdtemp(stem: &str) -> Option<&str> {
    const FILLED: usize = 6;
    let (prefix, made) = stem.split_at_checked(stem.len().checked_sub(FILLED)?)?;
    let is_word = prefix.len() > 2 && prefix.bytes().all(|b| b.is_ascii_lowercase());
    // `exportV2Beta` was chosen.
    let is_version = made.starts_with('V') && made[1..].starts_with(|c: char| c.is_ascii_digit());
    let is_made = made.bytes().all(|b| b.is_ascii_alphanumeric())
        && made.bytes().skip(1).any(|b| b.is_ascii_uppercase())
        && !is_version
        && (has_digit(made) || 2 * in_words(made.as_bytes()) < FILLED);
    (is_word && is_made).then_some(prefix)
}

/// The name of what lies right below a temporary folder, which is mostly made
/// up by a program: of `shop-aB3dE9.csv`, `shop-<id>.csv`.
fn made_up(name: &str) -> String {
    const EXTENSION: usize = 5;
    if uuid(name.as_bytes()).is_some() {
        return format!("<id>{}", &name[36..]);
    }
    let is_extension = |text: &str| {
        (1..=EXTENSION).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase())
    };
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => {
            (stem, &name[stem.len()..])
        }
        Some(_) | None => (name, ""),
    };
    let bare = stem.trim_start_matches('.');
    if bare.len() >= 7 && bare.starts_with("tmp") {
        return format!("<id>{extension}");
    }
    if let Some(prefix) = before_mkdtemp(stem) {
        return format!("{prefix}<id>{extension}");
    }
    if let Some(at) = stem.match_indices('-').map(|(at, _)| at + 1).find(|at| {
        let id = stem.as_bytes().get(*at..).unwrap_or_default();
        uuid(id).is_some()
    }) {
        return format!("{}<id>{}", &stem[..at], &name[at + 36..]);
    }
    let filled = stem
        .rsplit_once('-')
        .filter(|(name, made)| !name.is_empty() && !has_digit(name) && is_filled_by_tempfile(made));
    if let Some((name, _)) = filled {
        return format!("{name}-<id>{extension}");
    }
    let mut out = String::new();
    let mut read = 0;
    for (index, part) in stem.split_inclusive(['-', '_', '.']).enumerate() {
        // Behind an id, the alphabet of ids has hyphens and underscores too.
        let rest = &stem[read..];
        read += part.len();
        if out.ends_with("<id>-") && is_of_alphabet(rest) {
            out.pop();
            return out + extension;
        }
        let word = part.trim_end_matches(['-', '_', '.']);
        if word.is_empty() {
            out.push_str(part);
            continue;
        }
        let has = |is: fn(&u8) -> bool| word.as_bytes().iter().skip(1).any(is);
        let odd = word.len() >= 5 && 2 * in_words(word.as_bytes()) < word.len();
        // `shop-aB3dE9`, as `mkdtemp` fills it up.
        let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        let filled = word.len() >= 5 && (mixed || has(u8::is_ascii_digit));
        match shape(word) {
            PartShape::Numbered(at) if index == 0 && !odd => {
                out.push_str(&word[..at]);
                out.push_str("<id>");
            }
            PartShape::Number | PartShape::Random | PartShape::Numbered(_) => out.push_str("<id>"),
            PartShape::Word if index > 0 && (odd || filled) || odd && has(u8::is_ascii_digit) => {
                out.push_str("<id>");
            }
            PartShape::Word => out.push_str(word),
        }
        out.push_str(&part[word.len()..]);
    }
    out + extension
}
