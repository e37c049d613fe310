//! A document cut into pages of a size: what matters most comes first, long
//! texts are shortened, and what was left out is counted.
//!
//! The entries of some lists of a document, wherever they are nested, are dealt
//! out over pages in their order of importance; each page is again a document
//! of the same shape. All else is repeated on each page.
//!
//! Main function: [`page`].

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A list of a document that is dealt out.
#[derive(Debug, Clone, Copy)]
pub struct ListRule {
    /// Its keys from the top, as in `iterations.steps`.
    pub path: &'static str,
    /// Its last entry matters most, with all that is in it.
    pub last_first: bool,
}

/// From this key on, an entry of a list comes after the others of the list.
const GOOD: [(&str, &str); 5] = [
    ("state", "passed"),
    ("state", "skipped"),
    ("state", "ready"),
    ("state", "stopped"),
    ("state", "healthy"),
];

/// One page.
#[derive(Debug)]
pub struct Page {
    pub document: Map<String, Value>,
    /// Where the next page begins; none after the last.
    pub next: Option<usize>,
}

/// An entry that is dealt out.
struct Entry {
    /// The lists that it is in, from the top, each with its place there.
    place: Vec<(&'static str, usize)>,
    /// What is first, by this.
    rank: Vec<usize>,
    value: Value,
    /// What it lost already.
    shortened: LeftOut,
}

/// The page of `document` that begins with the entry `from`, in at most
/// `budget` bytes as JSON; `None` where there are not so many entries.
pub fn page(document: Value, lists: &[ListRule], from: usize, budget: usize) -> Option<Page> {
    let mut left = LeftOut::default();
    let Value::Object(mut head) = document else {
        return None;
    };
    let mut entries = Vec::new();
    deal_out(&mut head, "", lists, &Above::default(), &mut entries);
    entries.sort_by(|one, other| one.rank.cmp(&other.rank));
    if from > 0 && from >= entries.len() {
        return None;
    }
    fit(&mut head, &mut entries, from, budget, &mut left);
    // What stands on each page leaves room for some of the rest.
    let share = if entries.is_empty() {
        budget
    } else {
        budget / 2
    };
    let mut head = Value::Object(head);
    shorten(&mut head, share.saturating_sub(NOTES), &mut left);
    let mut room = budget.saturating_sub(NOTES + size(&head));
    let largest = room / 2;
    let mut on_page: Vec<usize> = Vec::new();
    let mut next = from;
    let mut shown: BTreeMap<Vec<(&str, usize)>, ()> = BTreeMap::new();
    while let Some(entry) = entries.get_mut(next) {
        let mut shortened = std::mem::take(&mut entry.shortened);
        shorten(&mut entry.value, largest, &mut shortened);
        let entry = &entries[next];
        // An entry brings along those that it is in.
        let around =
            (1..entry.place.len()).filter(|depth| !shown.contains_key(&entry.place[..*depth]));
        let around: Vec<usize> = around
            .filter_map(|depth| find(&entries, &entry.place[..depth]))
            .filter(|at| *at != next)
            .collect();
        let mut wanted =
            size(&entry.value) + 2 + entry.place.last().map_or(0, |(key, _)| key.len() + 8);
        for at in &around {
            shorten(&mut entries[*at].value, largest / 2, &mut shortened);
            wanted += size(&entries[*at].value) + 2;
        }
        if wanted > room && !on_page.is_empty() {
            break;
        }
        room = room.saturating_sub(wanted);
        left.merge(shortened);
        for at in around {
            shown.insert(entries[at].place.clone(), ());
            on_page.push(at);
        }
        shown.insert(entries[next].place.clone(), ());
        on_page.push(next);
        next += 1;
    }
    for entry in &entries[next.min(entries.len())..] {
        let path: Vec<&str> = entry.place.iter().map(|(key, _)| *key).collect();
        *left.entries.entry(path.join(".")).or_default() += 1;
    }
    let mut picked: Vec<&Entry> = on_page.iter().map(|at| &entries[*at]).collect();
    picked.sort_by(|one, other| one.place.cmp(&other.place));
    picked.dedup_by(|one, other| one.place == other.place);
    let Value::Object(mut document) = head else {
        return None;
    };
    for at in 0..picked.len() {
        put(&mut document, &picked, at);
    }
    if let Some(left) = left.json() {
        document.insert("left_out".to_owned(), left);
    }
    Some(Page {
        document,
        next: (next < entries.len()).then_some(next),
    })
}

/// Shortens long texts just as far as it takes to have all on one page; where
/// nothing does, to a length at which a text still says something.
fn fit(
    head: &mut Map<String, Value>,
    entries: &mut [Entry],
    from: usize,
    budget: usize,
    left: &mut LeftOut,
) {
    let rest = &entries[from.min(entries.len())..];
    let whole = |head: &Map<String, Value>, rest: &[Value]| {
        let head = serde_json::to_string(head).map_or(0, |text| text.len());
        head + NOTES + rest.iter().map(|value| size(value) + 12).sum::<usize>()
    };
    let levels: &[(usize, usize)] = match rest.len() {
        0..=MOST_TRIED => &[(usize::MAX / 2, usize::MAX), (500, 12), (250, 8), (120, 6)],
        _ => &[],
    };
    let fits = levels.iter().copied().find(|(texts, lists)| {
        let mut head = Value::Object(head.clone());
        let mut unseen = LeftOut::default();
        shorten_to(&mut head, "", *texts, *lists, &mut unseen);
        let rest: Vec<Value> = rest
            .iter()
            .map(|entry| {
                let mut value = entry.value.clone();
                shorten_to(&mut value, "", *texts, *lists, &mut unseen);
                value
            })
            .collect();
        head.as_object()
            .is_some_and(|head| whole(head, &rest) <= budget)
    });
    let (texts, lists) = match fits {
        Some(level) => level,
        // Of a large page, long texts are what was asked for.
        None => ((budget / 16).max(250), 12),
    };
    for value in head.values_mut() {
        shorten_to(value, "", texts, lists, left);
    }
    for entry in entries.iter_mut().skip(from) {
        let mut of_entry = LeftOut::default();
        shorten_to(&mut entry.value, "", texts, lists, &mut of_entry);
        entry.shortened = of_entry;
    }
}

/// Of more entries, it is not tried how they could all fit.
const MOST_TRIED: usize = 200;

/// Room for `left_out` and `next_cursor`.
const NOTES: usize = 240;

fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

fn find(entries: &[Entry], place: &[(&str, usize)]) -> Option<usize> {
    entries.iter().position(|entry| entry.place == place)
}

#[derive(Default, Clone)]
struct Above {
    place: Vec<(&'static str, usize)>,
    rank: Vec<usize>,
}

/// Takes the entries out of the lists; the lists stay, empty.
fn deal_out(
    object: &mut Map<String, Value>,
    path: &str,
    lists: &[ListRule],
    above: &Above,
    entries: &mut Vec<Entry>,
) {
    for (key, value) in object.iter_mut() {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let order = lists.iter().position(|rule| rule.path == path);
        match (order, value) {
            (Some(order), Value::Array(list)) => {
                let rule = lists[order];
                let key = rule.path.rsplit('.').next().unwrap_or(rule.path);
                let count = list.len();
                for (at, mut value) in std::mem::take(list).into_iter().enumerate() {
                    let turn = if rule.last_first { count - at } else { at };
                    let mut inside = above.clone();
                    inside.place.push((key, at));
                    let holds_lists = lists.iter().any(|other| {
                        let rest = other.path.strip_prefix(rule.path);
                        rest.is_some_and(|rest| rest.starts_with('.'))
                    });
                    let rank = if holds_lists {
                        inside.rank.push(turn);
                        let mut rank = inside.rank.clone();
                        rank.push(0);
                        rank
                    } else {
                        let good = GOOD.iter().any(|(key, good)| value[*key] == **good);
                        let mut rank = above.rank.clone();
                        rank.extend([1 + order + usize::from(good) * lists.len(), turn]);
                        rank
                    };
                    if let (true, Value::Object(nested)) = (holds_lists, &mut value) {
                        deal_out(nested, &path, lists, &inside, entries);
                    }
                    entries.push(Entry {
                        place: inside.place,
                        rank,
                        value,
                        shortened: LeftOut::default(),
                    });
                }
            }
            (None, Value::Object(nested)) => deal_out(nested, &path, lists, above, entries),
            (None | Some(_), _) => {}
        }
    }
}

/// Puts an entry back into its list, which is at the place where its parent
/// came to stand.
fn put(document: &mut Map<String, Value>, picked: &[&Entry], at: usize) {
    let entry = picked[at];
    let mut object = document;
    for depth in 0..entry.place.len() {
        let (key, _) = entry.place[depth];
        let Some(list) = list_in(object, key) else {
            return;
        };
        if depth + 1 == entry.place.len() {
            list.push(entry.value.clone());
            return;
        }
        // Parents stand before what is in them, and in order.
        match list.last_mut() {
            Some(Value::Object(parent)) => object = parent,
            Some(_) | None => return,
        }
    }
}

/// The list of this key, in the object or in one that is in it.
fn list_in<'o>(object: &'o mut Map<String, Value>, key: &str) -> Option<&'o mut Vec<Value>> {
    if matches!(object.get(key), Some(Value::Array(_))) {
        return object.get_mut(key).and_then(Value::as_array_mut);
    }
    object
        .values_mut()
        .filter_map(Value::as_object_mut)
        .find_map(|nested| list_in(nested, key))
}

/// What a page does not show.
#[derive(Debug, Default)]
struct LeftOut {
    /// Entries on later pages, and those that no page shows, by list.
    entries: BTreeMap<String, usize>,
    text_bytes: usize,
}

impl LeftOut {
    fn merge(&mut self, other: Self) {
        self.text_bytes += other.text_bytes;
        for (list, count) in other.entries {
            *self.entries.entry(list).or_default() += count;
        }
    }

    fn json(&self) -> Option<Value> {
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

/// The longest text and list that are kept, step by step.
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
fn shorten(value: &mut Value, most: usize, left: &mut LeftOut) {
    for (texts, lists) in STEPS {
        if size(value) <= most {
            return;
        }
        shorten_to(value, "", texts, lists, left);
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

fn shorten_to(value: &mut Value, key: &str, texts: usize, lists: usize, left: &mut LeftOut) {
    match value {
        // Half a command is worse than none.
        Value::String(text) if text.starts_with("$ ") && texts >= 60 && text.len() < 500 => {}
        Value::String(text) if text.len() > texts + MARK && !IDENTITIES.contains(&key) => {
            let mut end = texts;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let gone = text.len() - end;
            left.text_bytes += gone;
            text.truncate(end);
            text.push_str(" […]");
        }
        Value::Array(list) => {
            if list.len() > lists {
                *left.entries.entry(key.to_owned()).or_default() += list.len() - lists;
                list.truncate(lists);
            }
            for entry in list {
                shorten_to(entry, key, texts, lists, left);
            }
        }
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                shorten_to(value, key, texts, lists, left);
            }
        }
        _ => {}
    }
}

const MARK: usize = 8;

/// What would stand for nothing when it is cut, and is never long.
const IDENTITIES: [&str; 5] = [
    "fingerprint",
    "test_fingerprint",
    "rule",
    "run_id",
    "root_cause",
];

#[cfg(test)]
mod tests {
    use super::{ListRule, page, size};
    use serde_json::{Value, json};

    const LISTS: [ListRule; 4] = [
        ListRule {
            path: "iterations",
            last_first: true,
        },
        ListRule {
            path: "iterations.failures",
            last_first: false,
        },
        ListRule {
            path: "iterations.steps",
            last_first: false,
        },
        ListRule {
            path: "retry.commands",
            last_first: false,
        },
    ];

    fn run(iterations: usize, steps: usize) -> Value {
        let iteration = |index: usize| {
            let steps = (0..steps).map(|at| {
                let state = if at == 7 { "failed" } else { "passed" };
                json!({"id": format!("s{at}"), "state": state})
            });
            json!({
                "index": index,
                "steps": steps.collect::<Vec<_>>(),
                "failures": [{"step": "s7", "message": "m".repeat(300)}],
            })
        };
        let iterations: Vec<Value> = (1..=iterations).map(iteration).collect();
        json!({"run_id": "r", "iterations": iterations, "retry": {"commands": ["a", "b"]}})
    }

    /// All pages, one after the other.
    fn pages(document: &Value, budget: usize) -> Vec<Value> {
        let mut pages = Vec::new();
        let mut from = Some(0);
        while let Some(at) = from {
            let page = page(document.clone(), &LISTS, at, budget).unwrap();
            assert!(page.next.is_none_or(|next| next > at));
            from = page.next;
            pages.push(Value::Object(page.document));
        }
        pages
    }

    #[test]
    fn what_fits_is_one_page_as_it_was() {
        let document = run(2, 9);
        let pages = pages(&document, 100_000);
        assert_eq!(pages, [document]);
    }

    #[test]
    fn no_page_is_larger_than_asked_for_and_together_they_are_all() {
        let document = run(4, 40);
        for budget in [1000, 2000, 5000] {
            let pages = pages(&document, budget);
            assert!(pages.len() > 1);
            let mut steps = 0;
            for page in &pages {
                assert!(size(page) <= budget, "{} > {budget}", size(page));
                for iteration in page["iterations"].as_array().unwrap() {
                    assert!(iteration["index"].is_u64(), "{iteration}");
                    steps += iteration["steps"].as_array().unwrap().len();
                }
            }
            assert_eq!(steps, 160);
        }
    }

    #[test]
    fn the_last_iteration_is_first_with_what_failed_in_it() {
        let first = page(run(4, 40), &LISTS, 0, 1500).unwrap().document;
        let iterations = first["iterations"].as_array().unwrap();
        assert_eq!(iterations.len(), 1);
        assert_eq!(iterations[0]["index"], 4);
        assert_eq!(iterations[0]["failures"][0]["step"], "s7");
        assert!(
            iterations[0]["steps"]
                .as_array()
                .unwrap()
                .iter()
                .any(|step| step["id"] == "s7")
        );
        let left = &first["left_out"];
        assert_eq!(left["iterations"], 3);
        assert_eq!(left["iterations.failures"], 3);
        assert!(left["iterations.steps"].as_u64().unwrap() > 100);
    }

    #[test]
    fn a_long_text_is_shortened_and_counted() {
        let long = "ä".repeat(50_000);
        let document = json!({"failures": [{"message": long}], "title": long});
        let lists = [ListRule {
            path: "failures",
            last_first: false,
        }];
        let page = page(document, &lists, 0, 2000).unwrap();
        let shown = Value::Object(page.document);
        assert!(size(&shown) <= 2000);
        assert!(shown["left_out"]["text_bytes"].as_u64().unwrap() > 190_000);
        assert!(
            shown["failures"][0]["message"]
                .as_str()
                .unwrap()
                .ends_with("[…]")
        );
    }

    #[test]
    fn there_is_no_page_behind_the_last() {
        assert!(page(run(1, 1), &LISTS, 50, 2000).is_none());
        assert!(page(json!({}), &LISTS, 0, 2000).is_some());
    }
}
