//! An entry with a URL, and the same entry through `jelly proxy --url`.
//!
//! Main functions: [`wrapped_url`] and [`unwrapped_url`]. The URL moves into the
//! arguments as it is written. Headers stay where they are, with their values:
//! their member becomes the environment, in which each has the name of a
//! variable, and the arguments say which header that is. So no secret stands in a
//! command line. In JSON alone.

use super::clients::{Client, ClientFormat, Syntax, quoted};
use super::document::{Data, Member, Node};
use super::splices::{offset, scalar, spliced};
use std::ops::Range;
use std::path::Path;

/// The argument by which such an entry is known: the name of the member that had
/// the URL, and the `type` that the entry had, follow.
const MARK: &str = "--wrapped=url:";
/// Before a header's name, the variable that has its value.
const HEADER: &str = "--header-env";

/// What the proxy is told besides.
pub(super) struct UrlWrap<'a> {
    pub jelly: &'a str,
    /// Behind `proxy`.
    pub flags: Vec<String>,
}

/// A member, where it stands.
struct Spliced<'t> {
    text: &'t str,
    key: Range<usize>,
    value: Range<usize>,
}

impl<'t> Spliced<'t> {
    /// With its value, where that is one text or number.
    fn of(text: &'t str, member: &Member) -> Option<Self> {
        let key = scalar(text, offset(text, member.place)?, true)?;
        let value = scalar(text, offset(text, member.value.place)?, true)?;
        Some(Self { text, key, value })
    }

    /// What stands between the name and the value.
    fn colon(&self) -> &'t str {
        &self.text[self.key.end..self.value.start]
    }

    fn all(&self) -> Range<usize> {
        self.key.start..self.value.end
    }
}

/// What the words of a command say of a URL that was wrapped.
pub(super) struct WrappedUrl<'w> {
    pub url: &'w str,
    member: &'w str,
    kind: &'w str,
    /// Names of headers, with their variables.
    headers: Vec<(&'w str, &'w str)>,
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
            member,
            kind,
            headers,
        })
    }
}

fn is_json(format: &ClientFormat) -> bool {
    match format.syntax {
        Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => true,
        Syntax::Toml | Syntax::Yaml => false,
    }
}

/// The last member of one of these names, which is the one that counts.
fn member_of<'n>(node: &'n Node, names: &[&str]) -> Option<&'n Member> {
    names
        .iter()
        .find_map(|name| node.members().iter().rfind(|member| member.name == *name))
}

/// The text with the entry at `server` going through jelly.
pub(super) fn wrapped_url(
    text: &str,
    format: &ClientFormat,
    server: &Node,
    wrap: &UrlWrap<'_>,
) -> Option<String> {
    if !is_json(format) {
        return None;
    }
    let names = format.members;
    let url = member_of(server, names.url)?;
    let at = Spliced::of(text, url)?;
    let mut changes = Vec::new();
    let kind = member_of(server, &["type"]);
    let mut was = "";
    if let Some(kind) = kind {
        was = kind.value.text()?;
        let local = match format.client {
            Client::OpenCode => "local",
            _ => "stdio",
        };
        changes.push((Spliced::of(text, kind)?.value, quoted(local)));
    }
    let mut words = vec!["proxy".to_owned(), format!("{MARK}{}:{was}", url.name)];
    words.extend(wrap.flags.iter().cloned());
    let headers = member_of(server, &[names.headers]);
    if let Some(headers) = headers {
        if member_of(server, &[names.env]).is_some() {
            return None;
        }
        let key = scalar(text, offset(text, headers.place)?, true)?;
        changes.push((key, quoted(names.env)));
        for (index, header) in headers.value.members().iter().enumerate() {
            let variable = variable_of(&header.name, index);
            let key = scalar(text, offset(text, header.place)?, true)?;
            changes.push((key, quoted(&variable)));
            words.extend([HEADER.to_owned(), format!("{}={variable}", header.name)]);
        }
    }
    words.push("--url".to_owned());
    let mut items: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    items.push(text[at.value.clone()].to_owned());
    let command = names.command.first()?;
    let colon = at.colon();
    let entry = match format.client {
        Client::OpenCode => {
            let items = format!("{}, {}", quoted(wrap.jelly), items.join(", "));
            format!("{}{colon}[{items}]", quoted(command))
        }
        _ => format!(
            "{}{colon}{}, {}{colon}[{}]",
            quoted(command),
            quoted(wrap.jelly),
            quoted(names.args),
            items.join(", ")
        ),
    };
    changes.push((at.all(), entry));
    changes.sort_by_key(|(range, _)| range.start);
    Some(spliced(text, changes))
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

/// The text with the entry as it was; none where it is not written as
/// [`wrapped_url`] writes it, or has been given more since.
pub(super) fn unwrapped_url(
    text: &str,
    format: &ClientFormat,
    server: &Node,
    was: &WrappedUrl<'_>,
) -> Option<String> {
    if !is_json(format) {
        return None;
    }
    let names = format.members;
    let command = member_of(server, names.command)?;
    let list = match &command.value.data {
        Data::List(_) => &command.value,
        _ => &member_of(server, &[names.args])?.value,
    };
    let url = list.elements().last()?;
    let raw = scalar(text, offset(text, url.place)?, true)?;
    let raw = text[raw].to_owned();
    let key = scalar(text, offset(text, command.place)?, true)?;
    let value = offset(text, command.value.place)?;
    let colon = &text[key.end..value];
    let mut changes = Vec::new();
    let entry = format!("{}{colon}{raw}", quoted(was.member));
    if matches!(command.value.data, Data::List(_)) {
        let end = list_end(text, &command.value)?;
        changes.push((key.start..end, entry));
    } else {
        let end = scalar(text, value, true)?.end;
        changes.push((key.start..end, entry));
        let args = member_of(server, &[names.args])?;
        changes.push((with_its_comma(text, args)?, String::new()));
    }
    if let Some(kind) = member_of(server, &["type"]) {
        match was.kind {
            // A client has given it one.
            "" => changes.push((with_its_comma(text, kind)?, String::new())),
            was => changes.push((Spliced::of(text, kind)?.value, quoted(was))),
        }
    }
    if let Some(env) = member_of(server, &[names.env]) {
        let key = scalar(text, offset(text, env.place)?, true)?;
        changes.push((key, quoted(names.headers)));
        for variable in env.value.members() {
            let mut headers = was.headers.iter();
            let (header, _) = headers.find(|(_, known)| *known == variable.name)?;
            let key = scalar(text, offset(text, variable.place)?, true)?;
            changes.push((key, quoted(header)));
        }
    }
    changes.sort_by_key(|(range, _)| range.start);
    Some(spliced(text, changes))
}

/// The end of a list of texts, behind its bracket.
fn list_end(text: &str, list: &Node) -> Option<usize> {
    let last = list.elements().last()?;
    let last = scalar(text, offset(text, last.place)?, true)?.end;
    let bracket = text[last..].find(']')?;
    Some(last + bracket + 1)
}

/// A member with the comma that parts it from the others.
fn with_its_comma(text: &str, member: &Member) -> Option<Range<usize>> {
    let start = offset(text, member.place)?;
    let end = match &member.value.data {
        Data::List(_) => list_end(text, &member.value)?,
        _ => scalar(text, offset(text, member.value.place)?, true)?.end,
    };
    let before = text[..start].trim_end();
    if before.ends_with(',') {
        return Some(before.len() - 1..end);
    }
    let rest = text[end..].trim_start();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    Some(start..text.len() - rest.len())
}
