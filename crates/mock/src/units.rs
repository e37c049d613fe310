//! Small readers of what people write: durations, sizes, names; and the
//! seeded dice. Must know nothing of MCP.

use jelly_base::text::close_names;
use std::time::Duration;

/// `250ms`, `2s`, `1m`; a bare number means milliseconds.
///
/// # Errors
/// A sentence that says what a duration looks like.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let millis_per_unit = match unit.trim() {
        "" | "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        _ => return Err(no_duration(text)),
    };
    number
        .parse::<f64>()
        .ok()
        .and_then(|n| Duration::try_from_secs_f64(n * millis_per_unit / 1_000.0).ok())
        .ok_or_else(|| no_duration(text))
}

fn no_duration(text: &str) -> String {
    format!("`{text}` is not a duration such as 250ms, 2s or 1m")
}

/// `100`, `64k`, `20M` (powers of 1024), in bytes.
///
/// # Errors
/// A sentence that says what a size looks like.
pub fn size(text: &str) -> Result<usize, String> {
    let (number, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1024),
        Some((at, 'm' | 'M')) => (&text[..at], 1024 * 1024),
        _ => (text, 1),
    };
    number
        .trim()
        .parse::<usize>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .ok_or_else(|| format!("`{text}` is not a size such as 100, 64k or 20M"))
}

/// `; did you mean …`, or nothing.
#[must_use]
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match close_names(name, candidates).first() {
        Some(close) => format!(", did you mean `{close}`?"),
        None => String::new(),
    }
}

/// A small generator of pseudo-random numbers (SplitMix64): the same seed
/// gives the same run, which is all that a mock asks of it.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        // 53 bits are what an f64 holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64")]
        let unit = (self.roll() >> 11) as f64 / (1_u64 << 53) as f64;
        unit < probability
    }
}

#[cfg(test)]
mod tests {
    use super::{Dice, duration, size};
    use std::time::Duration;

    #[test]
    fn durations_have_units_and_milliseconds_need_none() {
        assert_eq!(duration("250"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "s", "-1s", "1h", "1..2s", "9e9s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_suffixes_and_never_overflow() {
        assert_eq!(size("100"), Ok(100));
        assert_eq!(size("64k"), Ok(65_536));
        assert_eq!(size("20M"), Ok(20_971_520));
        for bad in ["", "k", "-1", "1é", "99999999999999999999k"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_same_seed_rolls_the_same_dice_and_chances_are_about_right() {
        let (mut a, mut b) = (Dice::new(7), Dice::new(7));
        assert!((0..100).all(|_| a.roll() == b.roll()));
        let hits = (0..10_000).filter(|_| a.chance(0.25)).count();
        assert!((2_200..2_800).contains(&hits), "{hits}");
        assert!((0..100).all(|_| a.chance(1.0) && !a.chance(0.0)));
    }
}
