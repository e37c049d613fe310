//! An entry that goes through `jelly proxy --url`, as it was before: whatever its
//! client has written into it since.
//!
//! Main function: [`unwrapped_url`]. What [`super::wrap_url`] moved goes back to its
//! place. What came since stays, but for what a server with a URL can't have, which
//! is said.

use super::clients::{Client, ClientFormat};
use super::document::{Data, Member, Node, parse};
use super::entry::{Entry, Place};
use super::splices::{TextList, is_flow, member_range, named_alike, offset, spliced};
use super::wrap::member_at;
use super::wrap_url::{Edits, HANDED_ON, ServerText, WrappedUrl};
use super::written::quoted;

/// Where the entry is.
#[derive(Clone, Copy)]
struct EntryPlace<'e> {
    format: &'static ClientFormat,
    place: Place,
    name: &'e str,
}

impl EntryPlace<'_> {
    /// The entry in a text that may have changed behind its name.
    fn node(self, text: &str) -> Option<Node> {
        let root = parse(text, self.format.syntax).ok().flatten()?;
        Some(member_at(&root, self.place, self.name)?.value.clone())
    }
}

/// The text with the entry as it was, and what of it could not stay, as a sentence
/// without its full stop.
///
/// # Errors
/// Why it can't be undone, as a fragment.
pub(super) fn unwrapped_url(
    text: &str,
    format: &'static ClientFormat,
    entry: &Entry,
    was: &WrappedUrl<'_>,
) -> Result<(String, Option<String>), &'static str> {
    let entry = EntryPlace {
        format,
        place: entry.place,
        name: &entry.name,
    };
    let headers = entry.node(text).and_then(|server| {
        let headers = server.member(format.members.headers)?;
        Some(!headers.members().is_empty())
    });
    if headers == Some(true) {
        return Err("it has headers of its own besides those that jelly keeps for it");
    }
    // Codex refuses a server with a URL that has anything of a process.
    let keeps = format.client != Client::Codex;
    let mut dropped = Vec::new();
    let (mut text, own) = without_own_variables(text, entry, was)?;
    if !keeps {
        dropped.extend(own.iter().map(|(name, _)| format!("the variable {name}")));
        let server = entry.node(&text).ok_or(UNREADABLE)?;
        if server.member(format.members.cwd).is_some() {
            let at = ServerText::of(&text, format, &server);
            let cwd = at.member(&[format.members.cwd]).ok_or(UNREADABLE)?;
            let range = member_range(&text, cwd, at.in_flow).ok_or(UNREADABLE)?;
            text.replace_range(range, "");
            dropped.push(format!("`{}`", format.members.cwd));
        }
    }
    let server = entry.node(&text).ok_or(UNREADABLE)?;
    text = restored(&text, format, &server, was).ok_or("it is not written as `wrap` writes it")?;
    if keeps && !own.is_empty() {
        text = with_variables(&text, entry, &own).ok_or(UNREADABLE)?;
    }
    let note = match dropped.is_empty() {
        true => None,
        false => Some(format!(
            "{} was for jelly alone, and is gone: {} takes it with no URL",
            dropped.join(" and "),
            format.name
        )),
    };
    Ok((text, note))
}

const UNREADABLE: &str = "it can't be told apart as it is written now";

/// Names of variables, with their values.
type Variables = Vec<(String, String)>;

/// The text without the variables of the entry that hold no header, and these,
/// where headers stand beside them.
fn without_own_variables(
    text: &str,
    entry: EntryPlace<'_>,
    was: &WrappedUrl<'_>,
) -> Result<(String, Variables), &'static str> {
    let format = entry.format;
    let (mut text, mut own) = (text.to_owned(), Vec::new());
    let is_header = |name: &str| was.headers.iter().any(|(_, known)| *known == name);
    loop {
        let server = entry.node(&text).ok_or(UNREADABLE)?;
        let Some(env) = server.member(format.members.env) else {
            return Ok((text, own));
        };
        let mut variables = env.members().iter();
        let Some(found) = variables.find(|variable| !is_header(&variable.name)) else {
            return Ok((text, own));
        };
        if !env.members().iter().any(|member| is_header(&member.name)) {
            return match format.client {
                Client::Codex => Err(
                    "it has variables of its own now, which Codex takes with no URL: take `env` \
                     out first",
                ),
                // They can stay where they are.
                _ => Ok((text, own)),
            };
        }
        let value = found.value.text().ok_or(UNREADABLE)?.to_owned();
        let in_flow = is_flow(&text, format.syntax, env);
        let range = member_range(&text, found, in_flow).ok_or(UNREADABLE)?;
        own.push((found.name.clone(), value));
        text.replace_range(range, "");
    }
}

/// The text with these variables in the entry, beside its headers.
fn with_variables(text: &str, entry: EntryPlace<'_>, own: &Variables) -> Option<String> {
    let format = entry.format;
    let server = entry.node(text)?;
    let at = ServerText::of(text, format, &server);
    let variables = own
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    let table = format.table(variables);
    if let Some(env) = at.member(&[format.members.env]) {
        // An empty one was there already.
        let start = offset(text, env.value.place)?;
        let end = start + text[start..].find('}')? + 1;
        let is_empty = text[start..end].trim_matches(['{', '}']).trim().is_empty();
        return is_empty.then(|| spliced(text, vec![(start..end, table)]));
    }
    let headers = at.member(&[format.members.headers])?;
    let start = offset(text, headers.place)?;
    let member = format.member(format.members.env, &table);
    let separator = at.separator(start)?;
    Some(spliced(
        text,
        vec![(start..start, format!("{member}{separator}"))],
    ))
}

/// The text with all that was moved in its place again.
fn restored(
    text: &str,
    format: &ClientFormat,
    server: &Node,
    was: &WrappedUrl<'_>,
) -> Option<String> {
    let names = format.members;
    let at = ServerText::of(text, format, server);
    let command = at.member(names.command)?;
    let is_together = matches!(command.value.data, Data::List(_));
    let list = match is_together {
        true => &command.value,
        false => &at.member(&[names.args])?.value,
    };
    let list = TextList::of(text, list)?;
    let flag = list
        .elements()
        .iter()
        .position(|word| word.text() == Some("--url"))?;
    let raw = list.scalar(list.elements().get(flag + 1)?)?;
    let (command_key, colon) = (at.key(command)?, at.colon(command)?);
    let named = |name: &str| named_alike(&text[command_key.clone()], name);
    let mut entry = format!("{}{colon}{}", named(was.member), &text[raw]);
    let mut changes: Edits = Vec::new();
    // What its client has left out since, as what goes without saying.
    let mut before = |name: &str, value: &str| {
        let separator = at.separator(command_key.start)?;
        let member = format!("{}{colon}{}", named(name), quoted(value));
        entry = format!("{member}{separator}{entry}");
        Some(())
    };
    match (at.member(&["type"]), was.kind) {
        (None, "") => {}
        (None, kind) => before("type", kind)?,
        // A client has given it one.
        (Some(kind), "") => changes.push((member_range(text, kind, at.in_flow)?, String::new())),
        (Some(kind), was) => changes.push(at.rewritten(kind, was)?),
    }
    if let Some(bearer) = was.bearer {
        match at.member(&[HANDED_ON]) {
            None => before(names.bearer_variable?, bearer)?,
            Some(handed_on) => changes.extend(bearer_again(at, format, handed_on, bearer)?),
        }
    }
    if is_together {
        changes.push((command_key.start..list.end()?, entry));
    } else {
        changes.push((command_key.start..at.value(command)?.end, entry));
        let args = at.member(&[names.args])?;
        changes.push((member_range(text, args, at.in_flow)?, String::new()));
    }
    let env = at.member(&[names.env]);
    let is_header = |name: &str| was.headers.iter().find(|(_, known)| *known == name);
    let has_headers = |env: &&Member| {
        let mut variables = env.value.members().iter();
        variables.any(|variable| is_header(&variable.name).is_some())
    };
    if let Some(env) = env.filter(has_headers) {
        changes.push(at.renamed(env, names.headers)?);
        for variable in env.value.members() {
            let (header, _) = is_header(&variable.name)?;
            changes.push(at.renamed(variable, header)?);
        }
        if let Some(headers) = at.member(&[names.headers]) {
            changes.push(at.renamed(headers, names.env)?);
        }
    }
    Some(spliced(text, changes))
}

/// The member with the variable that holds the token, in place of the list by which
/// it was handed on, whatever else that hands on now.
fn bearer_again(
    at: ServerText<'_>,
    format: &ClientFormat,
    handed_on: &Member,
    bearer: &str,
) -> Option<Edits> {
    let list = TextList::of(at.text, &handed_on.value)?;
    let variable = list
        .elements()
        .iter()
        .find(|word| word.text() == Some(bearer));
    let raw = match variable.and_then(|variable| list.scalar(variable)) {
        Some(range) => at.text[range].to_owned(),
        None => quoted(bearer),
    };
    Some(vec![
        at.renamed(handed_on, format.members.bearer_variable?)?,
        (offset(at.text, handed_on.value.place)?..list.end()?, raw),
    ])
}
