//! `equals_path`: two places of one answer held against each other.

use super::bound::copied;
use super::judge::{Judge, Mismatch};
use super::phrase::subject;
use super::selected::selected;
use jelly_base::model::AssertionTarget;
use jelly_base::text::same;
use jelly_plan::{JsonExpect, Predicate};
use serde_json::Value;
use serde_json_path::JsonPath;

impl Judge<'_> {
    /// Holds what stands at one path of `value` against what stands at another
    /// one. Where there is nothing, it is said at which.
    pub(super) fn compare_paths(
        &mut self,
        target: AssertionTarget,
        json: &JsonExpect,
        predicate: &Predicate,
        value: &Value,
    ) {
        let raw = predicate.operand.as_str().unwrap_or_default();
        // The loader has refused what is no path.
        let Ok(other) = JsonPath::parse(raw) else {
            return;
        };
        let (actual, wanted) = (selected(&json.path, value), selected(&other, value));
        let Some(wanted) = wanted else {
            let path = Some(json.raw_path.as_str());
            let own = match actual {
                Some(_) => String::new(),
                None => format!(", nor at {}", subject(target, path)),
            };
            let message = format!(
                "expected {} to equal what stands at {raw}, and nothing stands there{own}",
                subject(target, path)
            );
            let is_there = actual.is_some();
            let actual = actual.map(|actual| copied(&actual, self.cleaner));
            let compared = (Value::Null, actual.unwrap_or_default());
            let kind = predicate.operator.name();
            let mut mismatch = Mismatch::new(kind, target, compared, message, predicate.at);
            // What is near its own path, whoever looks for that tells.
            if is_there {
                mismatch.tell_nearest(raw, value, self.cleaner);
            }
            self.add(mismatch.at_path(path));
            return;
        };
        if actual
            .as_deref()
            .is_some_and(|actual| same(actual, &wanted))
        {
            return;
        }
        let shown = format!("{raw}, {}", self.cleaner.quote_value(&wanted));
        let before = self.findings.mismatches.len();
        let path = Some(json.raw_path.as_str());
        let bounded = copied(&wanted, self.cleaner);
        self.add_compared(
            (target, path),
            predicate,
            (wanted.into_owned(), shown),
            actual.as_deref(),
        );
        for mismatch in self.since(before) {
            mismatch.assertion.expected = bounded.clone();
        }
    }
}
