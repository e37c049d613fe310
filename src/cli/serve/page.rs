//! A document cut into pages of a size: what matters most comes first, long
//! texts are shortened, and what was left out is counted.
//!
//! The entries of some lists of a document, wherever they are nested, are dealt
//! out over pages in their order of importance; each page is again a document
//! of the same shape. All else is repeated on each page.
//!
//! Main function: [`page`].

use crate::report::{LEVELS, LeftOut, Level, shorten, size};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A list of a document that is dealt out.
#[derive(Debug, Clone, Copy)]
pub struct ListRule {
    /// Its keys from the top, as in `iterations.steps`.
    pub path: &'static str,
    /// Its last entry matters most, with all that is in it.
    pub last_first: bool,
    /// Its entries that are not well take turns with those of the list behind it:
    /// the two say what there is to know of the same.
    pub with_next: bool,
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
    let mut shown: BTreeSet<Vec<(&str, usize)>> = BTreeSet::new();
    while let Some(entry) = entries.get_mut(next) {
        let mut shortened = std::mem::take(&mut entry.shortened);
        shorten(&mut entry.value, largest, &mut shortened);
        let entry = &entries[next];
        // An entry brings along those that it is in.
        let around = (1..entry.place.len()).filter(|depth| !shown.contains(&entry.place[..*depth]));
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
            shown.insert(entries[at].place.clone());
            on_page.push(at);
        }
        shown.insert(entries[next].place.clone());
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
    let tried = match rest.len() {
        0..=MOST_TRIED => LEVELS.len(),
        _ => 0,
    };
    let fits = LEVELS[..tried].iter().find(|level| {
        let mut head = Value::Object(head.clone());
        let mut unseen = LeftOut::default();
        level.apply(&mut head, &mut unseen);
        let rest: Vec<Value> = rest
            .iter()
            .map(|entry| {
                let mut value = entry.value.clone();
                level.apply(&mut value, &mut unseen);
                value
            })
            .collect();
        head.as_object()
            .is_some_and(|head| whole(head, &rest) <= budget)
    });
    // Of a large page, long texts are what was asked for.
    let otherwise = Level {
        texts: (budget / 16).max(250),
        ..LEVELS[2]
    };
    let level = fits.unwrap_or(&otherwise);
    for value in head.values_mut() {
        level.apply(value, left);
    }
    for entry in entries.iter_mut().skip(from) {
        let mut of_entry = LeftOut::default();
        level.apply(&mut entry.value, &mut of_entry);
        entry.shortened = of_entry;
    }
}

/// Of more entries, it is not tried how they could all fit.
const MOST_TRIED: usize = 200;

/// Room for `left_out` and `next_cursor`.
const NOTES: usize = 240;

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
                let parent: usize = above.place.iter().map(|(key, _)| key.len() + 1).sum();
                let key = &rule.path[parent..];
                let count = list.len();
                let mut unwell = 0;
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
                        let (class, turn) = match good {
                            true => (order + lists.len(), turn),
                            false => (order + usize::from(rule.with_next), unwell),
                        };
                        unwell += usize::from(!good);
                        rank.extend([1 + class, turn, order]);
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
        let Some(list) = list_at(object, key) else {
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

/// The list at this path, made where it was left out for being empty.
fn list_at<'o>(object: &'o mut Map<String, Value>, path: &str) -> Option<&'o mut Vec<Value>> {
    match path.split_once('.') {
        Some((key, rest)) => {
            let nested = object
                .entry(key)
                .or_insert_with(|| Value::Object(Map::new()));
            list_at(nested.as_object_mut()?, rest)
        }
        None => {
            let list = object
                .entry(path)
                .or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ListRule, page, size};
    use serde_json::{Value, json};

    const LISTS: [ListRule; 4] = [
        ListRule {
            path: "iterations",
            last_first: true,
            with_next: false,
        },
        ListRule {
            path: "iterations.steps",
            last_first: false,
            with_next: true,
        },
        ListRule {
            path: "iterations.failures",
            last_first: false,
            with_next: false,
        },
        ListRule {
            path: "retry.commands",
            last_first: false,
            with_next: false,
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
                    steps += iteration["steps"].as_array().map_or(0, Vec::len);
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
    fn where_all_fails_the_first_page_says_why() {
        let all = (0..60).map(|at| json!({"id": format!("s{at}"), "state": "failed"}));
        let whys = (0..60).map(|at| json!({"step": format!("s{at}"), "message": "m".repeat(300)}));
        let document = json!({"iterations": [{
            "index": 1,
            "steps": all.collect::<Vec<_>>(),
            "failures": whys.collect::<Vec<_>>(),
        }]});
        for page in pages(&document, 2000) {
            let of = |list: &str| page["iterations"][0][list].as_array().map_or(0, Vec::len);
            assert!(of("steps").abs_diff(of("failures")) <= 1, "{page}");
            assert!(of("failures") > 0, "{page}");
        }
    }

    #[test]
    fn a_long_text_is_shortened_and_counted() {
        let long = "ä".repeat(50_000);
        let document = json!({"failures": [{"message": long}], "title": long});
        let lists = [ListRule {
            path: "failures",
            last_first: false,
            with_next: false,
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
