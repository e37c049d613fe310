//! Servers of a client's configuration, and `jelly proxy` in front of them.
//!
//! Main functions: [`wrap`] and [`unwrap`]. Each changes as few bytes as it
//! takes: the program's place is taken by jelly, and what the program was moves
//! into the arguments as it was written, behind `--`. So nothing has to be kept
//! elsewhere, where a client that writes the file anew would lose it.

use super::clients::ClientFormat;
use super::document::{Data, Member, Node, parse};
use super::entry::{Config, Entry, Place, Reached};
use super::members::command_holder;
use super::read::{ConfigError, read};
use super::slow_start::own_limit;
use super::splices::{TextList, is_flow, member_range, offset, scalar, spliced};
use super::unwrap_url::unwrapped_url;
use super::url_members::{of_url_alone, unknown_members};
use super::wrap_url::{UrlWrap, WrappedUrl, wrapped_url};
use super::written::quoted;
use jelly_base::text::without_mark;
use std::ops::Range;
use std::path::Path;

/// The argument by which an entry is known that was wrapped here.
const MARK: &str = "--wrapped";
/// The same of an entry that had no arguments.
const BARE_MARK: &str = "--wrapped=bare";

/// Seconds that a client is let wait at most for the first answer.
const LONGEST_START: u64 = 50;

/// A configuration after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrapped {
    pub text: String,
    /// What came of each entry, in the order of the file.
    pub entries: Vec<(String, Turn)>,
}

/// What came of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    Changed,
    /// With what is to be known of it, as a sentence without its full stop.
    ChangedWith(String),
    /// It is so already.
    Already,
    /// Why it is left as it is, as a fragment.
    Left(String),
}

/// Where a configuration lies, and what is put into it.
#[derive(Debug, Clone, Copy)]
pub struct WrapPlace<'a> {
    pub path: &'a Path,
    /// Of files that keep servers by project, which one is meant.
    pub project: &'a Path,
    /// Absolute, as clients start programs from anywhere.
    pub jelly: &'a str,
}

/// Puts the proxy in front of the servers that `wanted` names.
///
/// # Errors
/// The text is no configuration.
pub fn wrap(
    place: WrapPlace<'_>,
    text: &str,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Rewrapped, ConfigError> {
    each(place, text, wanted, &|text, before, entry| {
        let (after, note) = wrapped(place, text, before, entry)?;
        // What can't be taken back is not done.
        let restored = config_of(place, &after).ok().and_then(|config| {
            let same = same_entry(before, &config, entry)?;
            unwrapped(place, &after, &config, same).ok()
        });
        match restored {
            Some((restored, None)) if restored == text => Ok((after, note)),
            Some(_) | None => Err(Hold::Left(
                "the way in which it is written could not be restored later".to_owned(),
            )),
        }
    })
}

/// Takes the proxy away again from the servers that `wanted` names, where it
/// was put there by [`wrap`].
///
/// # Errors
/// The text is no configuration.
pub fn unwrap(
    place: WrapPlace<'_>,
    text: &str,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Rewrapped, ConfigError> {
    each(place, text, wanted, &|text, config, entry| {
        unwrapped(place, text, config, entry)
    })
}

/// What a wrapped command starts: the words behind the proxy's `--`.
#[must_use]
pub fn wrapped_words<S: AsRef<str>>(argv: &[S]) -> Option<&[S]> {
    let [program, proxy, rest @ ..] = argv else {
        return None;
    };
    let name = Path::new(program.as_ref()).file_name()?;
    let end = rest.iter().position(|word| word.as_ref() == "--")?;
    let marked = rest[..end].iter().any(|word| is_mark(word.as_ref()));
    let is_jelly = name.to_str().is_some_and(|name| name.starts_with("jelly"));
    let own = is_jelly && proxy.as_ref() == "proxy" && marked;
    let inner = &rest[end + 1..];
    (own && !inner.is_empty()).then_some(inner)
}

fn is_mark(word: &str) -> bool {
    word == MARK || word == BARE_MARK
}

/// Why an entry is not changed.
enum Hold {
    Already,
    Left(String),
}

/// The text after a change, and what is to be known of that.
type Changed = (String, Option<String>);

type WrapChange<'f> = &'f dyn Fn(&str, &Config, &Entry) -> Result<Changed, Hold>;

/// Changes entry by entry: each change moves what follows it.
fn each(
    place: WrapPlace<'_>,
    text: &str,
    wanted: &dyn Fn(&str) -> bool,
    change: WrapChange<'_>,
) -> Result<Rewrapped, ConfigError> {
    let bare = without_mark(text);
    let mark = &text[..text.len() - bare.len()];
    let first = config_of(place, bare)?;
    let (mut text, mut entries) = (bare.to_owned(), Vec::new());
    for (index, known) in first.entries.iter().enumerate() {
        if !wanted(&known.name) {
            continue;
        }
        let config = config_of(place, &text)?;
        let Some(entry) = config.entries.get(index) else {
            continue;
        };
        let turn = match change(&text, &config, entry) {
            Ok((after, note)) => {
                text = after;
                note.map_or(Turn::Changed, Turn::ChangedWith)
            }
            Err(Hold::Already) => Turn::Already,
            Err(Hold::Left(why)) => Turn::Left(why),
        };
        entries.push((known.name.clone(), turn));
    }
    Ok(Rewrapped {
        text: format!("{mark}{text}"),
        entries,
    })
}

fn config_of(place: WrapPlace<'_>, text: &str) -> Result<Config, ConfigError> {
    read(place.path, text, place.project)
}

/// The entry in another state of the file: they keep their order, and one name may
/// stand in several projects.
fn same_entry<'c>(before: &Config, after: &'c Config, entry: &Entry) -> Option<&'c Entry> {
    let same = after.entries.get(index_of(before, entry)?)?;
    (same.name == entry.name).then_some(same)
}

fn index_of(config: &Config, entry: &Entry) -> Option<usize> {
    let mut entries = config.entries.iter();
    entries.position(|other| other.place == entry.place && other.name == entry.name)
}

/// The words of an entry that goes through the proxy to a URL.
fn words_of_url(entry: &Entry) -> Option<(String, Vec<String>)> {
    let words = words(entry)?;
    let url = WrappedUrl::of(&words)?.url.to_owned();
    Some((url, words.into_iter().map(str::to_owned).collect()))
}

/// Whether an entry goes through the proxy to this URL, and the variables with
/// its headers are there.
fn goes_to_url(entry: &Entry, url: &str) -> bool {
    let (Some(Reached::Command { env, .. }), Some(words)) = (&entry.reached, words(entry)) else {
        return false;
    };
    let has = |variable: &str| env.iter().any(|(name, _)| name == variable);
    WrappedUrl::of(&words)
        .is_some_and(|was| was.url == url && was.headers.iter().all(|(_, variable)| has(variable)))
}

/// An entry with a URL.
fn wrapped_by_url(
    place: WrapPlace<'_>,
    text: &str,
    config: &Config,
    entry: &Entry,
    url: &str,
) -> Result<Changed, Hold> {
    let left = |why: &str| Hold::Left(why.to_owned());
    let scheme = url.split("://").next().unwrap_or_default();
    if !url.contains('$') && !["http", "https"].contains(&scheme) {
        return Err(left("jelly proxy reaches servers by http and https alone"));
    }
    let format = config.client.format();
    let root = root(text, format).ok_or_else(|| left("it can't be read again"))?;
    let server = member_at(&root, entry.place, &entry.name)
        .ok_or_else(|| left("its place in the file was not found"))?;
    if server.value.member("headersHelper").is_some() {
        return Err(left(
            "a program of the client's makes its headers (`headersHelper`), which jelly proxy does \
             not run",
        ));
    }
    if let Some(why) = of_url_alone(&server.value, url) {
        return Err(Hold::Left(why));
    }
    let wrap = UrlWrap {
        jelly: place.jelly,
        flags: flags(format, &server.value, &entry.name),
    };
    let after = wrapped_url(text, format, &server.value, &wrap)
        .map_err(|why| Hold::Left(format!("it is reached by a URL, and {why}")))?;
    let meant = config_of(place, &after).ok().filter(|after| {
        let same = same_entry(config, after, entry);
        same.is_some_and(|same| goes_to_url(same, url)) && others_are_the_same(config, after, entry)
    });
    match meant {
        Some(_) => Ok((after, unknown_members(format, &server.value))),
        None => Err(left(
            "its URL and its headers can't be told apart as they are written",
        )),
    }
}

fn unwrapped_by_url(
    place: WrapPlace<'_>,
    text: &str,
    config: &Config,
    entry: &Entry,
    words: &[String],
) -> Result<Changed, Hold> {
    let left = |why: &str| Hold::Left(why.to_owned());
    let format = config.client.format();
    let was = WrappedUrl::of(words).ok_or(Hold::Already)?;
    let (after, note) = unwrapped_url(text, format, entry, &was).map_err(left)?;
    let meant = config_of(place, &after).ok().filter(|after| {
        let reached = same_entry(config, after, entry).and_then(|entry| entry.reached.as_ref());
        let is_url = matches!(reached, Some(Reached::Url { url, .. }) if url.text == was.url);
        is_url && others_are_the_same(config, after, entry)
    });
    match meant {
        Some(_) => Ok((after, note)),
        None => Err(left("it can't be told apart as it is written now")),
    }
}

/// What the proxy is told of the client.
fn flags(format: &ClientFormat, server: &Node, name: &str) -> Vec<String> {
    let mut flags = Vec::new();
    // A name that the client would fill in is none.
    if !name.contains(['$', '{']) && !name.starts_with('-') {
        flags.extend(["--name".to_owned(), name.to_owned()]);
    }
    let limit = startup_limit(format, server);
    let limit = match limit % 1000 {
        0 => format!("{}s", limit / 1000),
        _ => format!("{limit}ms"),
    };
    flags.extend(["--startup-timeout".to_owned(), limit]);
    flags
}

fn words(entry: &Entry) -> Option<Vec<&str>> {
    match &entry.reached {
        Some(Reached::Command { command, args, .. }) => {
            let args = args.iter().map(|arg| arg.text.as_str());
            Some(std::iter::once(command.text.as_str()).chain(args).collect())
        }
        Some(Reached::Url { .. }) | None => None,
    }
}

fn wrapped(
    place: WrapPlace<'_>,
    text: &str,
    config: &Config,
    entry: &Entry,
) -> Result<Changed, Hold> {
    let left = |why: &str| Hold::Left(why.to_owned());
    let before = match (&entry.reached, words(entry)) {
        (_, Some(words)) => words,
        (Some(Reached::Url { url, .. }), None) => {
            return wrapped_by_url(place, text, config, entry, &url.text);
        }
        (_, None) => return Err(left("its entry says no command")),
    };
    if wrapped_words(&before).is_some() || WrappedUrl::of(&before).is_some() {
        return Err(Hold::Already);
    }
    if let [program, "proxy", ..] = before.as_slice()
        && Path::new(program)
            .file_name()
            .is_some_and(|name| name == "jelly")
    {
        return Err(left(
            "it is a proxy of jelly's already, which `wrap` did not make",
        ));
    }
    changed_entry(
        (place, text, config, entry),
        |at| at.wrapped(place.jelly, &entry.name),
        |after| {
            let is_ours = after.first().copied() == Some(place.jelly);
            is_ours && wrapped_words(after) == Some(before.as_slice())
        },
        "its command is not written in one line",
    )
    .map(|after| (after, None))
}

fn unwrapped(
    place: WrapPlace<'_>,
    text: &str,
    config: &Config,
    entry: &Entry,
) -> Result<Changed, Hold> {
    if let Some((_, words)) = words_of_url(entry) {
        return unwrapped_by_url(place, text, config, entry, &words);
    }
    let words_before = words(entry).ok_or(Hold::Already)?;
    let inner = wrapped_words(&words_before).ok_or(Hold::Already)?;
    changed_entry(
        (place, text, config, entry),
        |at| at.unwrapped(),
        |after| after == inner,
        "its arguments are not written as `wrap` writes them",
    )
    .map(|after| (after, None))
}

/// The text with an entry changed, where the entry then says what is `meant`
/// and every other one what it said.
fn changed_entry(
    (place, text, config, entry): (WrapPlace<'_>, &str, &Config, &Entry),
    change: impl FnOnce(&Located<'_>) -> Option<String>,
    meant: impl FnOnce(&[&str]) -> bool,
    unwritable: &str,
) -> Result<String, Hold> {
    let left = |why: &str| Hold::Left(why.to_owned());
    let format = config.client.format();
    let root = root(text, format).ok_or_else(|| left("it can't be read again"))?;
    let at = Located::find(&root, text, format, entry)
        .ok_or_else(|| left("its place in the file was not found"))?;
    let after = change(&at).ok_or_else(|| left(unwritable))?;
    let is_meant = config_of(place, &after).is_ok_and(|after| {
        let same = same_entry(config, &after, entry).and_then(words);
        same.is_some_and(|same| meant(&same)) && others_are_the_same(config, &after, entry)
    });
    match is_meant {
        true => Ok(after),
        false => Err(left(
            "its command and arguments can't be separated as they are written",
        )),
    }
}

/// Whether every other entry says what it said.
fn others_are_the_same(before: &Config, after: &Config, changed: &Entry) -> bool {
    let changed = index_of(before, changed);
    let said = |config: &Config| -> Vec<(String, Vec<String>)> {
        let entries = config.entries.iter().enumerate();
        let others = entries.filter(|(index, _)| Some(*index) != changed);
        let texts = |(_, entry): (usize, &Entry)| {
            let spots = entry.spots().map(|spot| spot.text.clone());
            (entry.name.clone(), spots.collect())
        };
        others.map(texts).collect()
    };
    before.entries.len() == after.entries.len() && said(before) == said(after)
}

fn root(text: &str, format: &ClientFormat) -> Option<Node> {
    parse(text, format.syntax).ok().flatten()
}

/// An entry's command and arguments, where they stand.
struct Located<'t> {
    text: &'t str,
    format: &'static ClientFormat,
    /// What has the command and the arguments as members.
    holder: &'t Node,
    command: &'t Node,
    args: Option<&'t Member>,
}

impl<'t> Located<'t> {
    fn find(
        root: &'t Node,
        text: &'t str,
        format: &'static ClientFormat,
        entry: &Entry,
    ) -> Option<Self> {
        let member = member_at(root, entry.place, &entry.name)?;
        let (holder, key) = command_holder(format, &member.value);
        let args = holder
            .members()
            .iter()
            .rfind(|m| m.name == format.members.args);
        Some(Self {
            text,
            format,
            holder,
            command: holder.member(key)?,
            args: args.filter(|args| !matches!(args.value.data, Data::Null)),
        })
    }

    fn wrapped(&self, jelly: &str, name: &str) -> Option<String> {
        let has_args = self.args.is_some() || self.is_together();
        let mut words = vec![
            "proxy".to_owned(),
            if has_args { MARK } else { BARE_MARK }.to_owned(),
        ];
        words.extend(flags(self.format, self.holder, name));
        words.push("--".to_owned());
        let mut items: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        if self.is_together() {
            items.insert(0, quoted(jelly));
            let list = TextList::of(self.text, self.command)?;
            return Some(spliced(self.text, vec![list.insert(&items)?]));
        }
        let command = self.range(self.command)?;
        items.push(self.text[command.clone()].to_owned());
        let insertion = match self.args {
            Some(args) => TextList::of(self.text, &args.value)?.insert(&items)?,
            None => self.new_args(&command, &items),
        };
        Some(spliced(
            self.text,
            vec![(command, quoted(jelly)), insertion],
        ))
    }

    fn unwrapped(&self) -> Option<String> {
        let list_node = if self.is_together() {
            self.command
        } else {
            &self.args?.value
        };
        let list = TextList::of(self.text, list_node)?;
        let texts: Vec<&str> = list_node.elements().iter().filter_map(Node::text).collect();
        let end = texts.iter().position(|text| *text == "--")?;
        if self.is_together() {
            return Some(spliced(self.text, vec![list.remove_first(end + 1)?]));
        }
        let was_bare = texts[..end].contains(&BARE_MARK);
        let original = list_node.elements().get(end + 1)?;
        let original = self.text[list.scalar(original)?].to_owned();
        let removal = match was_bare && texts.len() == end + 2 {
            true => {
                let args = member_range(self.text, self.args?, self.is_flow())?;
                (args, String::new())
            }
            false => list.remove_first(end + 2)?,
        };
        let command = self.range(self.command)?;
        Some(spliced(self.text, vec![(command, original), removal]))
    }

    /// Whether one list holds the program and its arguments.
    fn is_together(&self) -> bool {
        matches!(self.command.data, Data::List(_))
    }

    fn is_flow(&self) -> bool {
        is_flow(self.text, self.format.syntax, self.holder)
    }

    fn range(&self, node: &Node) -> Option<Range<usize>> {
        let in_flow = self.is_flow();
        scalar(self.text, offset(self.text, node.place)?, in_flow)
    }

    /// A member with arguments, behind the command.
    fn new_args(&self, command: &Range<usize>, items: &[String]) -> (Range<usize>, String) {
        let name = self.format.members.args;
        let member = self.format.member(name, &format!("[{}]", items.join(", ")));
        if self.is_flow() {
            return (command.end..command.end, format!(", {member}"));
        }
        // On a line of its own, so that a comment stays where it is.
        let rest = &self.text[command.end..];
        let line = rest
            .find('\n')
            .map_or(self.text.len(), |feed| command.end + feed);
        let has_return = self.text[..line].ends_with('\r');
        let (at, feed) = match has_return {
            true => (line - 1, "\r\n"),
            false => (line, "\n"),
        };
        let line_start = self.text[..command.start]
            .rfind('\n')
            .map_or(0, |feed| feed + 1);
        let head = &self.text[line_start..command.start];
        let indent = &head[..head.len() - head.trim_start().len()];
        (at..at, format!("{feed}{indent}{member}"))
    }
}

/// How long the proxy lets the client wait: less than the client does, so that
/// the proxy's answer comes first, and not longer than a person does.
fn startup_limit(format: &ClientFormat, server: &Node) -> u64 {
    let limit = format.startup_limit;
    let own = own_limit(&limit, server).map(|own| own.millis);
    let millis = own.unwrap_or(limit.seconds * 1000);
    let within = (millis * 4 / 5).clamp(100, LONGEST_START * 1000);
    // Whole seconds are what people write, where they have some.
    match within >= 2000 {
        true => within / 1000 * 1000,
        false => within,
    }
}

/// The member of this name that stands at a place, wherever it is.
pub(super) fn member_at<'n>(node: &'n Node, place: Place, name: &str) -> Option<&'n Member> {
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        for member in node.members() {
            if member.place == place && member.name == name {
                return Some(member);
            }
            todo.push(&member.value);
        }
    }
    None
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
