//! A snapshot is one file, which holds one answer. A name that different requests
//! share would have each `accept` overwrite the answer of the other.

use super::cases::UnreadCase;
use super::path::Path;
use super::reader::Reader;
use super::snapshot_names::{SnapshotSource, SnapshotUse};
use crate::Step;
use crate::syntax::Entry;

impl<'t> Reader<'t> {
    pub(super) fn note_snapshot(&mut self, entry: &Entry<'t>, path: Path<'_>) {
        let Some(name) = entry.value.as_str() else {
            return;
        };
        let used = SnapshotUse {
            name: name.to_owned(),
            span: entry.value.span,
            at: self.at(entry.key_span),
            field: path.to_doc(),
        };
        self.snapshots.open.push(used);
    }

    /// Holds what was named since the last call against what was named before: by this
    /// step, or by none.
    pub(super) fn settle_snapshots(&mut self, step: Option<&Step>, case: Option<&UnreadCase>) {
        for used in std::mem::take(&mut self.snapshots.open) {
            let source = step.map(|step| SnapshotSource::of(step, &used));
            let Some((first, owner)) = self.snapshots.owners.get(&used.name) else {
                let name = used.name.clone();
                self.snapshots.owners.insert(name, (used, source));
                continue;
            };
            let is_same = match (&source, owner) {
                (Some(source), Some(owner)) => {
                    source.asked.is_some() && source.asked == owner.asked
                }
                // What stands outside of the steps is read once for each.
                (None, None) => used.at == first.at,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if is_same {
                continue;
            }
            let name = &used.name;
            let by_case = case.filter(|_| used.at == first.at);
            let message = match (by_case, owner) {
                (Some(_), _) => format!("the cases of this step share the snapshot `{name}`"),
                (None, Some(owner)) => {
                    format!("`{name}` is the snapshot of step `{}` already", owner.step)
                }
                (None, None) => format!("`{name}` is the snapshot of another expectation already"),
            };
            let advice = match by_case.map(|case| case.vars.keys().next()) {
                Some(Some(var)) => {
                    format!("name it by a variable of the case, as in `{name}-${{{var}}}`")
                }
                Some(None) => "make a step of each case, with a name of its own".to_owned(),
                None => {
                    "give this one another name; only the very same request may share it".to_owned()
                }
            };
            let also = match by_case {
                Some(case) => Some((case.span, "this case is answered in its own way")),
                None if first.at.file == used.at.file => Some((first.span, "the first one")),
                None => None,
            };
            let problem = self.problem(used.span, Path::ROOT, message);
            // The reader may be in another file by now.
            problem.location = used.at;
            problem.field = used.field;
            problem.hint(format!("it is one file, which holds one answer: {advice}"));
            if let Some((span, what)) = also {
                problem.also(span.range(), what);
            }
        }
    }
}
