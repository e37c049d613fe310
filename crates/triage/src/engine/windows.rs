//! Finds literals in a text: many at once, in one pass, whatever their case.
//!
//! Each literal is known by its rarest few letters. A pass looks up every few
//! letters of the text in a small table, and reads on only where a literal
//! could be. Building that takes a tenth of what an automaton of ten thousand
//! literals takes, which counts where there is but one text.

use super::marks::Marks;
use super::placed::{PlacedLiterals, SIZES, number, placed_in, window};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// How many letters of a window are its last ones: as many as the smallest has.
const TAIL: usize = 3;

/// Bits of a filter, many times as many as there are literals.
const BITS: usize = 1 << 17;

/// The literals, each with what it stands for.
pub(super) struct Windows {
    /// Of the last letters of all windows: most places in a text end here.
    tails: WindowFilter,
    /// One for each of [`SIZES`].
    filters: [WindowFilter; SIZES.len()],
    /// By a window's letters, where in `literals` those with it begin and end.
    owners: HashMap<u64, (u32, u32), FixedState>,
    literals: Vec<Literal>,
    /// Of all literals, one after the other.
    letters: Vec<u8>,
    /// What the literals stand for, one after the other.
    meanings: Vec<u32>,
}

struct Literal {
    /// Place in `letters`.
    begin: u32,
    length: u32,
    /// Where in the literal its window begins.
    offset: u32,
    /// Where in `meanings` its own begin and end.
    meanings: (u32, u32),
}

/// By a window's letters, the literals with it, where in them it begins, and
/// what they stand for.
type Gathered<'l> = HashMap<u64, Vec<(&'l str, u32, &'l [(&'l str, usize)])>, FixedState>;

/// Which windows may be those of a literal.
struct WindowFilter(Box<[u64; BITS / 64]>);

impl WindowFilter {
    fn new() -> Self {
        Self(Box::new([0; BITS / 64]))
    }

    #[inline]
    fn slot(window: u64) -> usize {
        (window.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 47) as usize % BITS
    }

    fn insert(&mut self, window: u64) {
        let slot = Self::slot(window);
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    #[inline]
    fn may_have(&self, window: u64) -> bool {
        let slot = Self::slot(window);
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }
}

impl Windows {
    /// Looks for these literals, which are in lower case and stand for a
    /// number each. One of fewer than three letters is never found.
    pub(super) fn new<'l>(literals: impl Iterator<Item = (&'l str, usize)>) -> Self {
        // What several patterns need is looked for once.
        let mut sorted: Vec<(&str, usize)> = literals.collect();
        sorted.sort_unstable();
        let mut gathered = Gathered::default();
        for same in sorted.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(&(literal, _)) = same.first() else {
                continue;
            };
            let owners = |window| gathered.get(&window).map_or(0, Vec::len);
            if let Some((window, offset)) = placed_in(literal.as_bytes(), owners) {
                gathered
                    .entry(window)
                    .or_default()
                    .push((literal, offset, same));
            }
        }
        let mut windows = Self::empty();
        // Those of one window stand together, so that they are read at once.
        for (window, literals) in gathered {
            for (literal, offset, meanings) in literals {
                let begin = windows.letters.len();
                windows.letters.extend_from_slice(literal.as_bytes());
                let meanings = meanings.iter().map(|(_, meaning)| *meaning);
                windows.add(window, (begin, literal.len(), offset), meanings);
            }
        }
        windows
    }

    /// Looks for the built-in literals, each of which stands for the numbers at
    /// its place.
    pub(super) fn of_builtin(literals: &PlacedLiterals, meanings: &[Vec<usize>]) -> Self {
        let mut windows = Self::empty();
        windows.letters = literals.letters.as_bytes().to_vec();
        let mut begin = 0;
        for (&(length, offset), meanings) in literals.places.iter().zip(meanings) {
            let (length, from) = (length as usize, begin + offset as usize);
            let size = SIZES.into_iter().find(|size| *size <= length);
            let letters = size.and_then(|size| windows.letters.get(from..from + size));
            if let Some(window) = letters.map(window) {
                windows.add(window, (begin, length, offset), meanings.iter().copied());
            }
            begin += length;
        }
        windows
    }

    fn empty() -> Self {
        Self {
            tails: WindowFilter::new(),
            filters: SIZES.map(|_| WindowFilter::new()),
            owners: HashMap::default(),
            literals: Vec::new(),
            letters: Vec::new(),
            meanings: Vec::new(),
        }
    }

    /// Adds a literal that begins in `letters`, right behind the others with
    /// its window.
    fn add(
        &mut self,
        window: u64,
        (begin, length, offset): (usize, usize, u32),
        meanings: impl Iterator<Item = usize>,
    ) {
        let Some(of_size) = SIZES.iter().position(|size| *size <= length) else {
            return;
        };
        let tail_begins = begin + offset as usize + SIZES[of_size] - TAIL;
        if let Some(&[a, b, c]) = self.letters.get(tail_begins..tail_begins + TAIL) {
            self.tails.insert(tail([a, b, c, 0]));
        }
        self.filters[of_size].insert(window);
        let first = number(self.meanings.len());
        self.meanings.extend(meanings.map(number));
        let place = number(self.literals.len());
        self.literals.push(Literal {
            begin: number(begin),
            length: number(length),
            offset,
            meanings: (first, number(self.meanings.len())),
        });
        self.owners.entry(window).or_insert((place, place)).1 = place + 1;
    }

    /// Calls `found` with what each literal in the text stands for.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(usize)) {
        let [eight, four, three] = &self.filters;
        // Comparing as it is costs a fraction of comparing whatever the case.
        let mut lower = Vec::with_capacity(text.len() + 1);
        lower.extend_from_slice(text.as_bytes());
        lower.make_ascii_lowercase();
        let mut known = Marks::new(self.literals.len());
        // Four letters are taken at a time, of which the first three count.
        lower.push(0);
        let text = &lower[..lower.len() - 1];
        for (at, letters) in lower.windows(4).enumerate() {
            let &[a, b, c, d] = letters else {
                continue;
            };
            if !self.tails.may_have(tail([a, b, c, d])) {
                continue;
            }
            let end = at + TAIL;
            let last = window(&text[end.saturating_sub(8)..end]);
            let windows = [last, last & 0xffff_ffff, last & 0x00ff_ffff];
            let may = [
                eight.may_have(windows[0]),
                four.may_have(windows[1]),
                three.may_have(windows[2]),
            ];
            if may == [false; 3] {
                continue;
            }
            for (nth, size) in SIZES.into_iter().enumerate() {
                if may[nth]
                    && let Some(begin) = end.checked_sub(size)
                {
                    self.check(text, begin, windows[nth], &mut known, &mut found);
                }
            }
        }
    }

    /// Looks for the literals with the window that begins at `begin`, but for
    /// those that are `known` to be in the text: lines of a stack repeat.
    fn check(
        &self,
        text: &[u8],
        begin: usize,
        window: u64,
        known: &mut Marks,
        found: &mut impl FnMut(usize),
    ) {
        let Some((from, to)) = self.owners.get(&window) else {
            return;
        };
        let (from, to) = (*from as usize, *to as usize);
        for (owner, literal) in (from..).zip(&self.literals[from..to]) {
            if known.has(owner) {
                continue;
            }
            let from = literal.begin as usize;
            let letters = &self.letters[from..from + literal.length as usize];
            let is_there = begin
                .checked_sub(literal.offset as usize)
                .and_then(|from| text.get(from..from + letters.len()))
                .is_some_and(|there| there == letters);
            if is_there {
                known.set(owner);
                let (from, to) = literal.meanings;
                for meaning in &self.meanings[from as usize..to as usize] {
                    found(*meaning as usize);
                }
            }
        }
    }
}

/// The first three of these letters as one number.
#[inline]
fn tail(letters: [u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(letters) & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use super::Windows;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn all_literals_of_a_text_are_found_and_no_others(
            literals in proptest::collection::vec("[a-c:é ]{2,12}", 1..20),
            text in "[a-cA-C:é ]{0,60}",
        ) {
            let windows = Windows::new(literals.iter().map(String::as_str).zip(0..));
            let mut found = BTreeSet::new();
            windows.find(&text, |literal| {
                found.insert(literal);
            });
            let lower = text.to_ascii_lowercase();
            let expected: BTreeSet<usize> = (0..literals.len())
                .filter(|at| literals[*at].len() >= 3 && lower.contains(&literals[*at]))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
