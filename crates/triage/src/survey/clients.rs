//! Through which file of the product an outage was met: who says nothing but that nobody
//! listens is known by the others that asked through the same one.

use super::lacks::{Subject, SubjectKind};
use super::mentions::Mentions;
use super::service::service_in;
use crate::engine::product_frame;
use jelly_base::model::{Failure, FailureView};
use jelly_base::model::{Outage, outage};
use jelly_base::text::{LazyPattern, address};
use std::collections::HashMap;

/// The file of the product from which a client was called that was not answered.
pub(super) fn client_called(failure: &Failure, root_cause: &str) -> Option<Subject> {
    if !matches!(outage(root_cause), Some(Outage::Away | Outage::Ailing)) {
        return None;
    }
    if let Some(named) = named_connection(failure) {
        return Some(Subject::new(SubjectKind::Client, named));
    }
    let frame = product_frame(failure)?;
    // The JVM tells the method of a class.
    let file = match frame.contains(['/', '\\']) {
        true => &*frame,
        false => frame.rsplit_once('.').map_or(&*frame, |(class, _)| class),
    };
    Some(Subject::new(SubjectKind::Client, file))
}

/// The service whose client library gave up, where the stack of who was not answered names it:
/// some say no more than that the connection is closed.
pub(super) fn library_asked(failure: &Failure, root_cause: &str) -> Option<Subject> {
    static LIBRARY: LazyPattern = LazyPattern::ascii(
        r"[/\\](?:node_modules|site-packages|dist-packages|gems|vendor)[/\\](?P<name>@?[\w.-]+(?:[/\\][\w.-]+)?)",
    );
    const FRAMES: usize = 32;
    if outage(root_cause) != Some(Outage::Away) {
        return None;
    }
    let text = failure.text.as_deref()?;
    let mut named = LIBRARY.captures_iter(text).take(FRAMES);
    named.find_map(|found| {
        let name = found.name("name")?.as_str().to_ascii_lowercase();
        Some(Subject::new(SubjectKind::Service, service_in(&name)?))
    })
}

/// The server that answered with an error, as axios shows the request that it made: what it
/// says tells the status alone.
pub(super) fn server_asked(failure: &Failure, root_cause: &str) -> Option<Subject> {
    static SHOWN: LazyPattern = LazyPattern::ascii(
        r#"(?P<key>\b(?:baseURL|url))['"]?: ?['"](?P<url>https?://[^'"\n]{1,400})['"]"#,
    );
    if outage(root_cause) != Some(Outage::Ailing) {
        return None;
    }
    let text = failure.text.as_deref()?;
    let (_, shown) = text.split_once("AxiosError")?;
    let line_of = |at: usize| shown[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = |line: usize| {
        let rest = &shown[line..];
        rest.len() - rest.trim_start_matches(' ').len()
    };
    let config = shown.find("config: {").map(line_of);
    let named = |key: &str| {
        // One of another object, such as a proxy, stands on the line of that, or further in.
        let is_own = |at: usize| {
            let line = line_of(at);
            let before = shown[line..at].replace("config: {", "");
            let is_further_in =
                config.is_some_and(|of| of != line && indent(line) > indent(of) + 2);
            !before.contains('{') && !is_further_in
        };
        let mut found = SHOWN.captures_iter(shown).filter(|found| {
            let at = found.name("key").filter(|it| it.as_str() == key);
            at.is_some_and(|at| is_own(at.start()))
        });
        let url = found.next()?.name("url")?;
        address(url.as_str())
    };
    // A whole `url` is not put behind the base.
    let server = named("url").or_else(|| named("baseURL"))?;
    Some(Subject::new(SubjectKind::Asked, &server))
}

/// The service of the library through which a failure asked.
pub(super) fn service_asked(
    view: &FailureView<'_>,
    mentions: &HashMap<String, Mentions>,
) -> Option<&'static str> {
    let told = mentions.get(view.report)?.of(view);
    let mut services = told.filter(|one| one.kind == SubjectKind::Service);
    let first = services.next()?;
    services.next().is_none().then(|| service_in(&first.name))?
}

/// The name by which Laravel knows the database that it asked.
fn named_connection(failure: &Failure) -> Option<&str> {
    static NAMED: LazyPattern = LazyPattern::new(r"\(Connection: ([\w.-]+), ");
    let texts = [&failure.message, &failure.text].into_iter().flatten();
    let mut texts = texts.filter(|text| text.contains("(Connection: "));
    let found = texts.find_map(|text| NAMED.captures(text))?;
    Some(found.get(1)?.as_str())
}

/// The same of a failure of a report.
pub(super) fn client<'m>(
    view: &FailureView<'_>,
    mentions: &'m HashMap<String, Mentions>,
) -> Option<&'m str> {
    let mut told = mentions.get(view.report)?.of(view);
    let client = told.find(|one| one.kind == SubjectKind::Client)?;
    Some(&client.name)
}
