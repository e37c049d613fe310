//! An entry with a URL, and the same entry through `jelly proxy --url`.
//!
//! Main function: [`wrapped_url`]. The URL moves into the
//! arguments as it is written. Headers stay where they are, with their values:
//! their member becomes the environment, in which each has the name of a
//! variable, and the arguments say which header that is. So no secret stands in a
//! command line.

use super::clients::{Client, ClientFormat};
use super::document::{Member, Node};
use super::secrets::HEADER_VARIABLE_FLAG;
use super::splices::{is_flow, key, named_alike, offset, scalar, spliced};
use super::written::quoted;
use std::ops::Range;
use std::path::Path;

/// The argument by which such an entry is known: the name of the member that had
/// the URL, and the `type` that the entry had, follow.
const MARK: &str = "--wrapped=url:";
/// Before a header's name, the variable that has its value.
const HEADER: &str = HEADER_VARIABLE_FLAG;
/// Before the variable that has a bearer token.
const BEARER: &str = "--bearer-env";

/// The member of Codex that lists variables which a server is given.
pub(super) const HANDED_ON: &str = "env_vars";

/// What the proxy is told besides.
pub(super) struct UrlWrap<'a> {
    pub jelly: &'a str,
    /// Behind `proxy`.
    pub flags: Vec<String>,
}

/// Why an entry can't be wrapped, as a fragment about it.
type Unwrappable = &'static str;

const UNWRITABLE: Unwrappable = "is written so that it could not be restored later";

pub(super) type Edits = Vec<(Range<usize>, String)>;

/// What the words of a command say of a URL that was wrapped.
pub(super) struct WrappedUrl<'w> {
    pub url: &'w str,
    /// Names of headers, with their variables.
    pub headers: Vec<(&'w str, &'w str)>,
    pub member: &'w str,
    pub kind: &'w str,
    /// The variable with the bearer token.
    pub bearer: Option<&'w str>,
}

impl<'w> WrappedUrl<'w> {
    pub(super) fn of<S: AsRef<str>>(argv: &'w [S]) -> Option<Self> {
        let [program, proxy, rest @ ..] = argv else {
            return None;
        };
        let name = Path::new(program.as_ref()).file_name()?.to_str()?;
        let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
        let mark = rest.iter().find_map(|word| word.strip_prefix(MARK))?;
        let (member, kind) = mark.split_once(':')?;
        let after = |flag: &'static str| {
            let pairs = rest.iter().zip(rest.iter().skip(1));
            pairs
                .filter(move |(word, _)| **word == flag)
                .map(|(_, value)| *value)
        };
        let url = after("--url").next()?;
        let headers = after(HEADER)
            .filter_map(|pair| pair.split_once('='))
            .collect();
        (name.starts_with("jelly") && proxy.as_ref() == "proxy").then_some(Self {
            url,
            headers,
            member,
            kind,
            bearer: after(BEARER).next(),
        })
    }
}

/// A server's members, where they stand in the text.
#[derive(Clone, Copy)]
pub(super) struct ServerText<'t> {
    pub text: &'t str,
    server: &'t Node,
    pub in_flow: bool,
}

impl<'t> ServerText<'t> {
    pub(super) fn of(text: &'t str, format: &ClientFormat, server: &'t Node) -> Self {
        Self {
            text,
            server,
            in_flow: is_flow(text, format.syntax, server),
        }
    }

    /// The last member of one of these names, which is the one that counts.
    pub(super) fn member(self, names: &[&str]) -> Option<&'t Member> {
        let of_name = |name: &&str| self.server.members().iter().rfind(|m| m.name == **name);
        names.iter().find_map(of_name)
    }

    pub(super) fn key(self, member: &Member) -> Option<Range<usize>> {
        key(self.text, offset(self.text, member.place)?)
    }

    /// Of a member with one text or number.
    pub(super) fn value(self, member: &Member) -> Option<Range<usize>> {
        scalar(
            self.text,
            offset(self.text, member.value.place)?,
            self.in_flow,
        )
    }

    /// The name of a member, changed for another.
    pub(super) fn renamed(self, member: &Member, name: &str) -> Option<(Range<usize>, String)> {
        let key = self.key(member)?;
        let renamed = named_alike(&self.text[key.clone()], name);
        Some((key, renamed))
    }

    /// The text of a member, changed for another.
    pub(super) fn rewritten(self, member: &Member, value: &str) -> Option<(Range<usize>, String)> {
        let range = self.value(member)?;
        let rewritten = named_alike(&self.text[range.clone()], value);
        Some((range, rewritten))
    }

    /// What stands between the name of a member and its value.
    pub(super) fn colon(self, member: &Member) -> Option<&'t str> {
        let colon = &self.text[self.key(member)?.end..offset(self.text, member.value.place)?];
        (self.in_flow || !colon.contains('\n')).then_some(colon)
    }

    /// What parts a member that stands at `start` from one before it.
    pub(super) fn separator(self, start: usize) -> Option<String> {
        if self.in_flow {
            return Some(", ".to_owned());
        }
        let line = self.text[..start].rfind('\n').map_or(0, |feed| feed + 1);
        let indent = &self.text[line..start];
        let feed = match self.text[..line].ends_with("\r\n") {
            true => "\r\n",
            false => "\n",
        };
        (indent.trim().is_empty()).then(|| format!("{feed}{indent}"))
    }
}

/// The text with the entry at `server` going through jelly.
///
/// # Errors
/// Why it can't.
pub(super) fn wrapped_url(
    text: &str,
    format: &ClientFormat,
    server: &Node,
    wrap: &UrlWrap<'_>,
) -> Result<String, Unwrappable> {
    let at = ServerText::of(text, format, server);
    let (header_words, mut changes) = wrapped_headers(at, format)?;
    let changed = || {
        let names = format.members;
        let url = at.member(names.url)?;
        let mut was = "";
        if let Some(kind) = at.member(&["type"]) {
            was = kind.value.text()?;
            let local = match format.client {
                Client::OpenCode => "local",
                _ => "stdio",
            };
            changes.push(at.rewritten(kind, local)?);
        }
        let mut words = vec!["proxy".to_owned(), format!("{MARK}{}:{was}", url.name)];
        words.extend(wrap.flags.iter().cloned());
        words.extend(header_words);
        words.push("--url".to_owned());
        let mut items: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let (url_key, url_value) = (at.key(url)?, at.value(url)?);
        items.push(text[url_value.clone()].to_owned());
        let colon = at.colon(url)?;
        let named = |name: &str| named_alike(&text[url_key.clone()], name);
        let command = named(names.command.first()?);
        let (jelly, items) = (quoted(wrap.jelly), items.join(", "));
        let entry = match format.keeps_words_together() {
            true => format!("{command}{colon}[{jelly}, {items}]"),
            false => {
                // A comment behind the URL stays behind the command.
                let args = format!("{}{colon}[{items}]", named(names.args));
                let command = format!("{command}{colon}{jelly}");
                let between = at.separator(url_key.start)?;
                match at.in_flow {
                    true => format!("{command}{between}{args}"),
                    false => format!("{args}{between}{command}"),
                }
            }
        };
        changes.push((url_key.start..url_value.end, entry));
        Some(spliced(text, changes))
    };
    changed().ok_or(UNWRITABLE)
}

/// The headers as variables: what the proxy is told of them, and the edits.
fn wrapped_headers(
    at: ServerText<'_>,
    format: &ClientFormat,
) -> Result<(Vec<String>, Edits), Unwrappable> {
    let names = format.members;
    let (mut words, mut changes) = (Vec::new(), Vec::new());
    let has = |key: Option<&str>| key.and_then(|key| at.member(&[key]));
    if has(names.header_variables).is_some() {
        return Err("has headers whose values are the client's variables");
    }
    if let Some(bearer) = has(names.bearer_variable) {
        if at.member(&[HANDED_ON]).is_some() {
            return Err("has variables of its own already");
        }
        let range = at.value(bearer).ok_or(UNWRITABLE)?;
        let list = format!("[{}]", &at.text[range.clone()]);
        changes.push(at.renamed(bearer, HANDED_ON).ok_or(UNWRITABLE)?);
        changes.push((range, list));
        let variable = bearer.value.text().ok_or(UNWRITABLE)?;
        words.extend([BEARER.to_owned(), variable.to_owned()]);
    }
    let Some(headers) = at.member(&[names.headers]) else {
        return Ok((words, changes));
    };
    let given = headers.value.members();
    if given.is_empty() {
        return match format.client {
            Client::Codex => Err("its headers are empty, which a server with a command can't have"),
            _ => Ok((words, changes)),
        };
    }
    let filled_in = |header: &Member| header.value.text().is_some_and(|text| text.contains('$'));
    if format.client == Client::Goose && given.iter().any(filled_in) {
        return Err("its headers have variables, which Goose fills in there alone");
    }
    match at.member(&[names.env]) {
        Some(env) if !env.value.members().is_empty() => {
            return Err("has variables of its own already");
        }
        // They change places.
        Some(env) => changes.push(at.renamed(env, names.headers).ok_or(UNWRITABLE)?),
        None => {}
    }
    changes.push(at.renamed(headers, names.env).ok_or(UNWRITABLE)?);
    for (index, header) in given.iter().enumerate() {
        let variable = variable_of(&header.name, index);
        changes.push(at.renamed(header, &variable).ok_or(UNWRITABLE)?);
        words.extend([HEADER.to_owned(), format!("{}={variable}", header.name)]);
    }
    Ok((words, changes))
}

/// A variable for a header, whose name says whether its value is secret.
fn variable_of(header: &str, index: usize) -> String {
    let upper = header.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
        _ => '_',
    });
    let name: String = upper.collect();
    format!("JELLY_HEADER_{}_{name}", index + 1)
}
