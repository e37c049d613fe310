//! Spring tries a context once, and says of all later tests only that it does so no more.

use jelly_base::model::FailureView;
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The tests that Spring gave up, with the one that shows why: of the same context by the
/// id that Spring prints, of the same class, or of the only one that their report knows.
pub(super) fn victims_of_contexts(views: &[FailureView<'_>]) -> Vec<(usize, usize)> {
    let mut loaded: HashMap<&str, usize> = HashMap::new();
    let mut of_class: HashMap<&str, usize> = HashMap::new();
    // Of each report the first, and whether another one is there.
    let mut of_report: HashMap<&str, (usize, bool)> = HashMap::new();
    let mut victims = Vec::new();
    for (index, view) in views.iter().enumerate() {
        if let Some(said) = says(view, "ApplicationContext failure threshold") {
            victims.push((index, id(said), tested(said)));
        } else if let Some(said) = says(view, "Failed to load ApplicationContext") {
            let first = id(said).map_or(index, |id| *loaded.entry(id).or_insert(index));
            if let Some(class) = tested(said) {
                of_class.entry(class).or_insert(first);
            }
            let known = of_report.entry(view.report).or_insert((first, false));
            known.1 |= known.0 != first;
        }
    }
    let cause = |index: usize, id: Option<&str>, class: Option<&str>| {
        let same = id.and_then(|id| loaded.get(id).copied());
        let same = same.or_else(|| of_class.get(class?).copied());
        let only = of_report.get(views[index].report);
        same.or_else(|| only.filter(|(_, others)| !others).map(|(first, _)| *first))
    };
    victims
        .into_iter()
        .filter_map(|(index, id, class)| Some((index, cause(index, id, class)?)))
        .collect()
}

/// The text of a failure that says these words of a context.
fn says<'v>(view: &FailureView<'v>, words: &str) -> Option<&'v str> {
    static CONTEXT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("ApplicationContext"));
    let evidence = view.evidence.map(|(_, text)| text);
    [view.message, evidence]
        .into_iter()
        .flatten()
        .find(|text| CONTEXT.find(text.as_bytes()).is_some() && text.contains(words))
}

/// `com.acme.DepotIT` of `[… testClass = com.acme.DepotIT, …]`.
fn tested(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("testClass = ")?;
    let end = rest.find([',', ']', ' '])?;
    (!rest.starts_with('…')).then(|| &rest[..end])
}

/// `1f2e3d4c` of `[WebMergedContextConfiguration@1f2e3d4c testClass = …`: contexts with
/// the same configuration share it.
fn id(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("MergedContextConfiguration@")?;
    let end = rest.find(|c: char| !c.is_ascii_hexdigit())?;
    (end > 0).then(|| &rest[..end])
}
