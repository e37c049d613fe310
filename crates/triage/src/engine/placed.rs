//! By which few of its letters a literal is known, and the literals of the
//! built-in patterns with all that is known of them before jelly runs.

use std::collections::HashMap;

/// How many letters a literal may be known by: the first that it has.
pub const SIZES: [usize; 3] = [8, 4, 3];

/// As many points of commonness a window has for each literal that has it.
const SHARED: usize = 4;
/// A window that fewer literals have is taken without a look at others.
const MANY: usize = 4;

/// The literals of patterns, those of one window one after the other.
#[allow(dead_code, reason = "the build script writes it, and reads none")]
pub struct PlacedLiterals {
    /// Of all literals, one after the other.
    pub letters: &'static str,
    /// How many letters each has, and where in it its window begins.
    pub places: &'static [(u32, u32)],
    /// Of each pattern of the rules, in their order, which literals it has; none
    /// where it needs none.
    pub patterns: &'static [Option<&'static [u32]>],
}

impl PlacedLiterals {
    /// The literals of these patterns, placed, as an expression of Rust.
    #[allow(dead_code, reason = "for the build script")]
    pub fn written(patterns: &[Option<Vec<String>>]) -> String {
        let mut all: Vec<&str> = patterns.iter().flatten().flatten().map(|l| &**l).collect();
        all.sort_unstable();
        all.dedup();
        let mut owners: HashMap<u64, usize> = HashMap::new();
        let mut placed: Vec<(Option<(u64, u32)>, &str)> = Vec::new();
        for literal in all {
            let place = placed_in(literal.as_bytes(), |window| {
                owners.get(&window).copied().unwrap_or(0)
            });
            if let Some((window, _)) = place {
                *owners.entry(window).or_default() += 1;
            }
            placed.push((place, literal));
        }
        placed.sort_unstable();
        let mut letters = String::new();
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut ids: HashMap<&str, u32> = HashMap::new();
        for (place, literal) in placed {
            // Nobody looks for one of fewer letters than the smallest window.
            let Some((_, offset)) = place else { continue };
            ids.insert(literal, number(places.len()));
            letters.push_str(literal);
            places.push((number(literal.len()), offset));
        }
        let mut text =
            format!("PlacedLiterals {{ letters: {letters:?}, places: &{places:?}, patterns: &[");
        for needed in patterns {
            text.push_str(&needed.as_ref().map_or("None,".into(), |needed| {
                let needed = needed.iter().filter_map(|one| ids.get(&**one));
                format!("Some(&{:?}),", needed.collect::<Vec<_>>())
            }));
        }
        text + "] }"
    }
}

/// The window by which a literal is known, and where in it that begins; none
/// for one of fewer letters than the smallest has. `owners` tells how many
/// literals are known by a window already.
pub fn placed_in(literal: &[u8], owners: impl Fn(u64) -> usize) -> Option<(u64, u32)> {
    let size = SIZES.into_iter().find(|size| *size <= literal.len())?;
    let (offset, window) = rarest(literal, size, owners)?;
    Some((window, number(offset)))
}

/// At most eight letters as one number, in which the last ones come last.
#[inline]
pub fn window(letters: &[u8]) -> u64 {
    let one_by_one = |window: u64, letter: &u8| window << 8 | u64::from(*letter);
    match letters.as_chunks::<8>() {
        ([letters], []) => u64::from_be_bytes(*letters),
        _ => letters.iter().fold(0, one_by_one),
    }
}

/// No list comes near 2³² entries: they are those of rules.
pub fn number(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Where in a literal the letters begin that are seldom together, and the
/// window that they are. Hundreds of literals end in `exception`: a window
/// that many have already is as bad as one that is in every text.
fn rarest(literal: &[u8], size: usize, owners: impl Fn(u64) -> usize) -> Option<(usize, u64)> {
    let places = || {
        literal.windows(size).enumerate().map(|(offset, letters)| {
            let window = window(letters);
            let common: usize = letters.iter().map(|letter| commonness(*letter)).sum();
            (common, offset, window)
        })
    };
    let (_, offset, window) = places().min()?;
    if owners(window) < MANY {
        return Some((offset, window));
    }
    let shared = |(common, offset, window)| (common + SHARED * owners(window), offset, window);
    let (_, offset, window) = places().map(shared).min()?;
    Some((offset, window))
}

/// How often a letter occurs in what programs print, about.
fn commonness(letter: u8) -> usize {
    match letter {
        b'e' | b' ' => 12,
        b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 8,
        b'l' | b'c' | b'd' | b'u' | b'm' | b'p' | b'.' => 5,
        b'f' | b'g' | b'h' | b'b' | b'/' | b':' | b'(' | b'0'..=b'9' => 3,
        b'y' | b'w' | b'v' | b'k' | b'-' | b'_' => 2,
        _ => 1,
    }
}
