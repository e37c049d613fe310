//! How plans write how long something takes.

use std::time::Duration;

/// `500ms`, `30s`, `1m 30s`; `None` for what is no duration, a negative one
/// included.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let signed: jiff::SignedDuration = text.parse().ok()?;
    Duration::try_from(signed).ok()
}
