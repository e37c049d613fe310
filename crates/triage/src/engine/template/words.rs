//! What words say of what stands beside them, out of `tables/words.yaml`.

use crate::engine::tables::{built, table};
use foldhash::quality::RandomState;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::ops::{BitOr, BitOrAssign};
use std::sync::LazyLock;

/// What is known of a word: a set of [`KINDS`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WordKinds(u32);

impl WordKinds {
    pub(super) const COUNTER: Self = Self(1);
    pub(super) const ID: Self = Self(1 << 1);
    pub(super) const MACHINE: Self = Self(1 << 2);
    pub(super) const CODE: Self = Self(1 << 3);
    pub(super) const VERSION: Self = Self(1 << 4);
    pub(super) const LIMIT: Self = Self(1 << 5);
    pub(super) const RELATION: Self = Self(1 << 6);
    pub(super) const COMPARISON: Self = Self(1 << 7);
    pub(super) const UNIT: Self = Self(1 << 8);
    pub(super) const MEASURE: Self = Self(1 << 9);
    pub(super) const PORT: Self = Self(1 << 10);
    pub(super) const PLACE: Self = Self(1 << 11);
    pub(super) const METHOD: Self = Self(1 << 12);
    pub(super) const FILLER: Self = Self(1 << 13);
    pub(super) const NAME: Self = Self(1 << 14);
    pub(super) const SOURCE: Self = Self(1 << 15);
    pub(super) const TEMPORARY: Self = Self(1 << 16);
    pub(super) const SERVICE: Self = Self(1 << 17);
    pub(super) const GENERATED: Self = Self(1 << 18);
    pub(super) const KEY: Self = Self(1 << 19);
    pub(super) const RECORD: Self = Self(1 << 20);
    pub(super) const LEVEL: Self = Self(1 << 21);
    pub(super) const STORE: Self = Self(1 << 22);
    pub(super) const QUALITY: Self = Self(1 << 23);
    pub(super) const SURNAME: Self = Self(1 << 24);
    pub(super) const MADE: Self = Self(1 << 25);
    pub(super) const HOST: Self = Self(1 << 26);
    pub(super) const OF_HOST: Self = Self(1 << 27);
    pub(super) const DOCUMENT: Self = Self(1 << 28);
    pub(super) const LAPTOP: Self = Self(1 << 29);

    /// Whether it is one of these kinds.
    pub(super) fn is(self, kinds: Self) -> bool {
        self.0 & kinds.0 != 0
    }
}

impl BitOr for WordKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for WordKinds {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The lists of the table, each with what it makes of its words.
const KINDS: [(&str, WordKinds); 30] = [
    ("counters", WordKinds::COUNTER),
    ("records", WordKinds::RECORD),
    ("ids", WordKinds::ID),
    ("machines", WordKinds::MACHINE),
    ("codes", WordKinds::CODE),
    ("versions", WordKinds::VERSION),
    ("limits", WordKinds::LIMIT),
    ("relations", WordKinds::RELATION),
    ("levels", WordKinds::LEVEL),
    ("comparisons", WordKinds::COMPARISON),
    ("units", WordKinds::UNIT),
    ("measures", WordKinds::MEASURE),
    ("ports", WordKinds::PORT),
    ("places", WordKinds::PLACE),
    ("keys", WordKinds::KEY),
    ("methods", WordKinds::METHOD),
    ("fillers", WordKinds::FILLER),
    ("names", WordKinds::NAME),
    ("sources", WordKinds::SOURCE),
    ("temporary", WordKinds::TEMPORARY),
    ("services", WordKinds::SERVICE),
    ("generated", WordKinds::GENERATED),
    ("stores", WordKinds::STORE),
    ("qualities", WordKinds::QUALITY),
    ("surnames", WordKinds::SURNAME),
    ("made", WordKinds::MADE),
    ("hosts", WordKinds::HOST),
    ("of_hosts", WordKinds::OF_HOST),
    ("documents", WordKinds::DOCUMENT),
    ("laptops", WordKinds::LAPTOP),
];

/// The table, ready to be asked.
struct WordTable {
    kinds: HashMap<String, WordKinds, RandomState>,
    /// Of each letter, the letters that follow it in words, as bits.
    pairs: [u32; 26],
    generated: Vec<String>,
    counted_by: Vec<String>,
    /// Of each first letter, the lengths of words that begin with it, as bits:
    /// most words of a text are told from all of the table by that.
    lengths: [u32; 256],
}

static TABLE: LazyLock<WordTable> = LazyLock::new(|| {
    let lists: BTreeMap<String, Value> = table(built!("words"));
    let mut known = WordTable {
        kinds: HashMap::default(),
        pairs: [0; 26],
        generated: Vec::new(),
        counted_by: texts(&lists["counted_by"])
            .into_iter()
            .map(str::to_owned)
            .collect(),
        lengths: [0; 256],
    };
    for (list, kind) in KINDS {
        for word in texts(&lists[list]) {
            if kind == WordKinds::GENERATED {
                known.generated.push(word.to_owned());
            } else {
                let first = word.as_bytes().first().copied().unwrap_or_default();
                known.lengths[usize::from(first)] |= 1 << word.len().min(31);
                *known.kinds.entry(word.to_owned()).or_default() |= kind;
            }
        }
    }
    for (letter, follow) in lists["pairs"].as_object().into_iter().flatten() {
        let of = |c: u8| usize::from(c.wrapping_sub(b'a')).min(25);
        let follow = follow.as_str().unwrap_or_default().bytes();
        let bits = follow.fold(0, |bits, c| bits | 1 << of(c));
        known.pairs[letter.bytes().next().map_or(0, of)] = bits;
    }
    known
});

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items
        .flat_map(|item| item.as_str().map_or_else(|| texts(item), |text| vec![text]))
        .collect()
}

/// Longer words are none of the table.
const LONGEST: usize = 24;

/// What is known of a word, whatever its case; of a name of several words in
/// one, as `requestId`, what is known of the last.
pub(super) fn kinds(word: &str) -> WordKinds {
    let all = exactly(word);
    if all != WordKinds::default() {
        return all;
    }
    let bytes = word.as_bytes();
    let begins = (1..bytes.len())
        .rev()
        .find(|at| bytes[*at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase());
    // The name of an exception is no error code, and the id of an element that
    // a test looks for is chosen by people.
    let last = begins.map_or("Error", |at| &word[at..]);
    let chosen = last == "Id" && begins.is_some_and(|at| word[..at].ends_with("est"));
    // `OrderSpec` is a test.
    if chosen || matches!(last, "Error" | "Spec") {
        all
    } else {
        exactly(last)
    }
}

fn exactly(word: &str) -> WordKinds {
    let first = word.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
    if TABLE.lengths[usize::from(first)] & 1 << word.len().min(31) == 0 {
        return WordKinds::default();
    }
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else {
        return WordKinds::default();
    };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    let found = std::str::from_utf8(lower).ok();
    found
        .and_then(|word| TABLE.kinds.get(word))
        .copied()
        .unwrap_or_default()
}

/// Whether a text goes on behind a number with words by which a tool counts what
/// differs from run to run.
pub(super) fn is_counted_by(text: &str) -> bool {
    let Some(words) = text.strip_prefix(' ') else {
        return false;
    };
    let mut known = TABLE.counted_by.iter();
    known.any(|known| words.starts_with(known.as_str()))
}

/// Where the name of a generated class begins to be made up.
pub(super) fn made_up_from(name: &str) -> Option<usize> {
    // Few names have such a mark, and to look for each takes its time.
    let first = |mark: &&String| name.bytes().any(|b| mark.as_bytes().first() == Some(&b));
    let marks = TABLE.generated.iter().filter(first);
    marks.filter_map(|mark| name.find(mark.as_str())).min()
}

/// How many letters follow another as they do in no word.
pub(super) fn odd_pairs(letters: &[u8]) -> usize {
    let place = |c: u8| {
        let c = c.to_ascii_lowercase();
        c.is_ascii_lowercase().then(|| usize::from(c - b'a'))
    };
    letters
        .windows(2)
        .filter(|pair| match (place(pair[0]), place(pair[1])) {
            (Some(one), Some(next)) => TABLE.pairs[one] & 1 << next == 0,
            // Letters of other alphabets are nobody's chance.
            _ => false,
        })
        .count()
}

/// Whether letters look like a word.
pub(super) fn is_wordlike(letters: &[u8]) -> bool {
    let odd = odd_pairs(letters);
    let is_vowel = |b: &u8| b"aeiouyAEIOUY".contains(b) || !b.is_ascii();
    letters.len() >= 3 && letters.iter().any(is_vowel) && odd <= letters.len() / 6
}
