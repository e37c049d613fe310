//! Through which file of the product an outage was met: who says nothing but that nobody
//! listens is known by the others that asked through the same one.

use super::lacks::{Subject, SubjectKind};
use super::mentions::Mentions;
use crate::engine::product_frame;
use jelly_base::model::{Failure, FailureView};
use jelly_base::model::{Outage, outage};
use jelly_base::text::LazyPattern;
use std::collections::HashMap;

/// The file of the product from which a client was called that was not answered.
pub(super) fn client_called(failure: &Failure, root_cause: &str) -> Option<Subject> {
    if outage(root_cause) != Some(Outage::Away) {
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
