//! How a document is made smaller, for all that has a size to keep to: what is
//! taken away first, and how that is counted.
//!
//! Main types: [`KeptSize`] and [`Level`], how much is kept, and [`LeftOut`],
//! what was not.

use jelly_base::text::WordList;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The bytes of a value as JSON.
pub fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// What a page does not show.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// Entries on later pages, and those that no page shows, by list.
    pub entries: BTreeMap<String, usize>,
    pub text_bytes: usize,
}

impl LeftOut {
    /// Adds what else was left out.
    pub fn merge(&mut self, other: Self) {
        self.text_bytes += other.text_bytes;
        for (list, count) in other.entries {
            *self.entries.entry(list).or_default() += count;
        }
    }

    /// As a page says it; nothing where nothing was left out.
    pub fn json(&self) -> Option<Value> {
        let mut left = Map::new();
        // Of many lists, the sum is enough.
        if self.entries.len() > 5 {
            left.insert(
                "entries".to_owned(),
                json!(self.entries.values().sum::<usize>()),
            );
        } else {
            let counts = self.entries.iter();
            left.extend(counts.map(|(list, count)| (list.clone(), json!(count))));
        }
        if self.text_bytes > 0 {
            left.insert("text_bytes".to_owned(), json!(self.text_bytes));
        }
        (!left.is_empty()).then_some(Value::Object(left))
    }
}

/// How much is taken away before anything goes to another page.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// The longest text, the longest list.
    pub texts: usize,
    pub lists: usize,
    /// Members are left out that say nothing.
    pub drops_empty: bool,
    /// Members are left out that few ask for.
    pub drops_spare: bool,
}

impl Level {
    pub fn apply(self, value: &mut Value, left: &mut LeftOut) {
        if self.drops_empty {
            drop_members(value, self.drops_spare, left);
        }
        let kept = KeptSize {
            texts: self.texts,
            lists: self.lists,
        };
        kept.apply(value, &[], left);
    }
}

/// The longest text and the longest list that are kept.
#[derive(Debug, Clone, Copy)]
pub struct KeptSize {
    pub texts: usize,
    pub lists: usize,
}

impl KeptSize {
    /// Shortens all of a value; lists of the names `whole` keep their entries.
    pub fn apply(self, value: &mut Value, whole: &[&str], left: &mut LeftOut) {
        self.shorten(value, "", whole, left);
    }

    fn shorten(self, value: &mut Value, key: &str, whole: &[&str], left: &mut LeftOut) {
        match value {
            Value::String(text) if self.is_kept(text, key) => {}
            Value::String(text) => {
                let mut end = self.texts;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let gone = text.len() - end;
                left.text_bytes += gone;
                text.truncate(end);
                text.push_str(" […]");
            }
            Value::Array(list) => {
                let before = list.len();
                if !whole.contains(&key) {
                    list.retain(|entry| !entry.as_str().is_some_and(|text| self.is_too_long(text)));
                    list.truncate(self.lists);
                }
                if list.len() < before {
                    *left.entries.entry(key.to_owned()).or_default() += before - list.len();
                }
                for entry in list {
                    self.shorten(entry, key, whole, left);
                }
            }
            Value::Object(object) => {
                for (key, value) in object.iter_mut() {
                    self.shorten(value, key, whole, left);
                }
            }
            _ => {}
        }
    }

    fn is_kept(self, text: &str, key: &str) -> bool {
        let is_identity = IDENTITIES.contains(&key) && text.len() <= LONGEST_IDENTITY;
        let is_command = self.texts >= 60 && is_command(text) && !self.is_too_long(text);
        text.len() <= self.texts + MARK || is_identity || is_command
    }

    /// A command that does not fit is left out: half a command is worse than
    /// none.
    fn is_too_long(self, text: &str) -> bool {
        is_command(text) && text.len() > self.texts.max(300)
    }
}

fn is_command(text: &str) -> bool {
    text.starts_with("$ ")
}

/// From nothing to what still says something.
pub const LEVELS: [Level; 5] = [
    Level {
        texts: usize::MAX / 2,
        lists: usize::MAX,
        drops_empty: false,
        drops_spare: false,
    },
    Level {
        texts: 1000,
        lists: 20,
        drops_empty: true,
        drops_spare: false,
    },
    Level {
        texts: 300,
        lists: 8,
        drops_empty: true,
        drops_spare: true,
    },
    Level {
        texts: 160,
        lists: 6,
        drops_empty: true,
        drops_spare: true,
    },
    Level {
        texts: 100,
        lists: 4,
        drops_empty: true,
        drops_spare: true,
    },
];

/// What nobody decides by; all of it is in the report, and on a larger page.
const SPARE: WordList = WordList(
    "adapter argv budgets consequences cwd elements flaky notes offers seed sha256 stdout_noise \
     suspect test_fingerprint tried victims",
);

/// Leaves out members that are null or empty, and those that are spare.
fn drop_members(value: &mut Value, spare: bool, left: &mut LeftOut) {
    match value {
        Value::Array(list) => list
            .iter_mut()
            .for_each(|entry| drop_members(entry, spare, left)),
        Value::Object(object) => {
            let mut gone = 0;
            object.retain(|key, value| {
                let is_spare = spare && SPARE.has(key);
                gone += usize::from(is_spare);
                !is_spare && !value.is_null() && *value != "" && *value != json!([])
            });
            if gone > 0 {
                *left.entries.entry("fields".to_owned()).or_default() += gone;
            }
            object
                .values_mut()
                .for_each(|value| drop_members(value, spare, left));
        }
        _ => {}
    }
}

/// Texts and lists that are kept, step by step.
const STEPS: [(usize, usize); 7] = [
    (2000, 40),
    (1000, 20),
    (500, 10),
    (250, 6),
    (120, 4),
    (60, 2),
    (24, 1),
];

/// Makes a value fit into so many bytes, as far as that is possible.
pub fn shorten(value: &mut Value, most: usize, left: &mut LeftOut) {
    for (texts, lists) in STEPS {
        if size(value) <= most {
            return;
        }
        KeptSize { texts, lists }.apply(value, &[], left);
    }
    // An object of very many members; what is not named first goes.
    if let Value::Object(object) = value {
        while size(&Value::Object(object.clone())) > most && object.len() > 8 {
            let keep = object.len() / 2;
            let gone: Vec<String> = object.keys().skip(keep.max(8)).cloned().collect();
            *left.entries.entry("fields".to_owned()).or_default() += gone.len();
            gone.iter().for_each(|key| drop(object.shift_remove(key)));
        }
    }
}

const MARK: usize = 8;

/// What would stand for nothing when it is cut.
const IDENTITIES: [&str; 8] = [
    "at",
    "fingerprint",
    "plan",
    "report_dir",
    "root_cause",
    "rule",
    "run_id",
    "test_fingerprint",
];
/// None is longer, but for what somebody has made so.
const LONGEST_IDENTITY: usize = 300;

#[cfg(test)]
mod tests {
    use super::{KeptSize, LeftOut};
    use serde_json::json;

    #[test]
    fn texts_are_cut_commands_are_whole_or_gone_and_identities_stay() {
        let kept = KeptSize {
            texts: 100,
            lists: 2,
        };
        let (long, command) = ("ä".repeat(200), format!("$ run {}", "x".repeat(200)));
        let longer = format!("$ run {}", "x".repeat(400));
        let mut value = json!({
            "message": long,
            "fix": [command, longer, "a", "b"],
            "failures": [1, 2, 3],
            "fingerprint": "f".repeat(200),
        });
        let mut left = LeftOut::default();
        kept.apply(&mut value, &["failures"], &mut left);
        let message = value["message"].as_str().unwrap();
        assert!(
            message.ends_with(" […]") && message.len() < 110,
            "{message}"
        );
        assert_eq!(left.text_bytes, 300);
        // The one that is too long, and one of those that were too many.
        assert_eq!(value["fix"], json!([command, "a"]));
        assert_eq!(left.entries["fix"], 2);
        assert_eq!(value["failures"], json!([1, 2, 3]));
        assert_eq!(value["fingerprint"].as_str().unwrap().len(), 200);
    }
}
