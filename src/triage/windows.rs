//! Finds literals in a text: many at once, in one pass, whatever their case.
//!
//! Each literal is known by its rarest few letters. A pass looks up every few
//! letters of the text in a small table, and reads on only where a literal
//! could be. Building it takes microseconds, which an automaton of thousands
//! of literals does not.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Letters by which a literal is known, and by which the shortest are.
const LONG: usize = 4;
const SHORT: usize = 3;

/// Bits of a filter.
const BITS: usize = 1 << 16;

/// The literals, by place in the list that they were given in.
pub(super) struct Windows {
    long: Filter,
    short: Filter,
    /// By a window's letters, the literals with it.
    owners: HashMap<u32, Vec<Place>, BuildHasherDefault<Spread>>,
    literals: Vec<Box<[u8]>>,
}

struct Place {
    literal: u32,
    /// Where in the literal its window begins.
    offset: u32,
}

/// Which windows may be those of a literal.
struct Filter(Box<[u64]>);

impl Filter {
    fn new() -> Self {
        Self(vec![0; BITS / 64].into_boxed_slice())
    }

    fn slot(window: u32) -> usize {
        (window.wrapping_mul(0x9e37_79b1) >> 16) as usize
    }

    fn insert(&mut self, window: u32) {
        let slot = Self::slot(window);
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    fn may_have(&self, window: u32) -> bool {
        let slot = Self::slot(window);
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }
}

/// Spreads the bits of one window; nobody gains anything by collisions of the
/// few thousand that rules have.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

impl Windows {
    /// Looks for these literals, which are in lower case. One of fewer than
    /// three letters is never found.
    pub(super) fn new<'l>(literals: impl Iterator<Item = &'l [u8]>) -> Self {
        let mut windows = Self {
            long: Filter::new(),
            short: Filter::new(),
            owners: HashMap::default(),
            literals: literals.map(Box::from).collect(),
        };
        for (index, literal) in windows.literals.iter().enumerate() {
            let size = if literal.len() >= LONG { LONG } else { SHORT };
            let rarest = literal
                .windows(size)
                .enumerate()
                .min_by_key(|(_, letters)| letters.iter().map(|l| commonness(*l)).sum::<u32>());
            let (Some((offset, letters)), Ok(literal)) = (rarest, u32::try_from(index)) else {
                continue;
            };
            let window = letters
                .iter()
                .fold(0, |window, letter| window << 8 | u32::from(*letter));
            if size == LONG {
                windows.long.insert(window);
            } else {
                windows.short.insert(window);
            }
            windows.owners.entry(window).or_default().push(Place {
                literal,
                offset: u32::try_from(offset).unwrap_or(u32::MAX),
            });
        }
        windows
    }

    /// Calls `found` with the place of each literal that is in the text, once
    /// or more often.
    pub(super) fn find(&self, text: &[u8], mut found: impl FnMut(usize)) {
        let mut window = 0_u32;
        for (at, byte) in text.iter().enumerate() {
            window = window << 8 | u32::from(byte.to_ascii_lowercase());
            if self.long.may_have(window) && at + 1 >= LONG {
                self.check(text, at + 1 - LONG, window, &mut found);
            }
            let short = window & 0x00ff_ffff;
            if self.short.may_have(short) && at + 1 >= SHORT {
                self.check(text, at + 1 - SHORT, short, &mut found);
            }
        }
    }

    fn check(&self, text: &[u8], begin: usize, window: u32, found: &mut impl FnMut(usize)) {
        for Place { literal, offset } in self.owners.get(&window).into_iter().flatten() {
            let literal = *literal as usize;
            let letters = &self.literals[literal];
            let is_there = begin
                .checked_sub(*offset as usize)
                .and_then(|from| text.get(from..from + letters.len()))
                .is_some_and(|there| there.eq_ignore_ascii_case(letters));
            if is_there {
                found(literal);
            }
        }
    }
}

/// How often a letter occurs in what programs print, about.
fn commonness(letter: u8) -> u32 {
    match letter {
        b'e' | b' ' => 12,
        b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 8,
        b'l' | b'c' | b'd' | b'u' | b'm' | b'p' | b'.' => 5,
        b'f' | b'g' | b'h' | b'b' | b'/' | b':' | b'(' | b'0'..=b'9' => 3,
        b'y' | b'w' | b'v' | b'k' | b'-' | b'_' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::Windows;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn all_literals_of_a_text_are_found_and_no_others(
            literals in proptest::collection::vec("[a-c:é ]{2,5}", 1..20),
            text in "[a-cA-C:é ]{0,30}",
        ) {
            let windows = Windows::new(literals.iter().map(String::as_bytes));
            let mut found = BTreeSet::new();
            windows.find(text.as_bytes(), |literal| {
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
