//! How long a retry waits: exponential with full jitter, from a seed.

use jelly_base::model::Track;
use std::time::Duration;

/// The upper end of the first wait.
const BASE_MS: u64 = 200;
/// No wait is longer.
const CAP_MS: u64 = 5_000;

/// The wait before the next iteration if it serves a retry, the `nth` of the
/// run, counted from 1; not before a server that asked for a pause is to be
/// asked again.
pub(super) fn due(
    charged: &[Track],
    seed: u64,
    nth: u32,
    asked: Option<Duration>,
) -> Option<Duration> {
    charged.contains(&Track::Retries).then(|| {
        let own = Duration::from_millis(jitter(seed, nth) % (ceiling(nth) + 1));
        own.max(asked.unwrap_or_default())
    })
}

/// Doubles with each retry, up to the cap.
fn ceiling(nth: u32) -> u64 {
    let doublings = nth.saturating_sub(1).min(u64::BITS - 1);
    BASE_MS.saturating_mul(1 << doublings).min(CAP_MS)
}

/// SplitMix64, by Steele, Lea and Flood: the `nth` number of the seed's
/// sequence. Small, and the same on every machine.
fn jitter(seed: u64, nth: u32) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(nth)));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{ceiling, due, jitter};
    use jelly_base::model::Track;
    use std::time::Duration;

    const RETRY: [Track; 1] = [Track::Retries];

    #[test]
    fn only_a_retry_waits_and_no_pause_that_a_server_asked_for_is_cut() {
        let pause = Some(Duration::from_secs(30));
        assert_eq!(due(&[], 1, 1, pause), None);
        assert_eq!(due(&[Track::Confirms, Track::McpRepairs], 1, 1, None), None);
        let own = due(&[Track::Confirms, Track::Retries], 1, 1, None);
        assert!(own.is_some());
        assert_eq!(due(&RETRY, 1, 1, pause), pause);
        assert_eq!(due(&RETRY, 1, 1, Some(Duration::ZERO)), own);
    }

    #[test]
    fn the_ceiling_doubles_up_to_the_cap() {
        let ceilings: Vec<u64> = (0..8).map(ceiling).collect();
        assert_eq!(ceilings, [200, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(ceiling(u32::MAX), 5000);
    }

    #[test]
    fn the_jitter_is_the_published_sequence_and_the_same_for_a_seed() {
        // The first two numbers of SplitMix64 with seed 1234567.
        assert_eq!(jitter(1_234_567, 1), 6_457_827_717_110_365_317);
        assert_eq!(jitter(1_234_567, 2), 3_203_168_211_198_807_973);
        let wait = Duration::from_millis(6_457_827_717_110_365_317 % 201);
        assert_eq!(due(&RETRY, 1_234_567, 1, None), Some(wait));
        assert_eq!(due(&RETRY, 7, 2, None), due(&RETRY, 7, 2, None));
        assert_ne!(due(&RETRY, 7, 2, None), due(&RETRY, 7, 3, None));
    }

    #[test]
    fn the_wait_is_jittered_over_all_of_the_range_and_never_beyond() {
        let waits: Vec<Duration> = (0..400).filter_map(|n| due(&RETRY, n, 1, None)).collect();
        assert_eq!(waits.len(), 400);
        assert!(waits.iter().all(|w| *w <= Duration::from_millis(200)));
        assert!(waits.iter().any(|w| *w < Duration::from_millis(20)));
        assert!(waits.iter().any(|w| *w > Duration::from_millis(180)));
    }
}
