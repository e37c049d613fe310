//! What is said of a server that takes longer to start than its client waits for it.
//!
//! Main function: [`slow_start`].

use super::clients::ClientFormat;
use super::document::{Data, Node};
use super::entry::{Config, Entry, OwnLimit};
use super::startup_limit::StartupLimit;
use jelly_base::model::{Finding, FindingLevel, Lint};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a server's own members say.
pub(super) fn own_limit(limit: &StartupLimit, server: &Node) -> Option<OwnLimit> {
    limit.members.iter().find_map(|(name, parts)| {
        let member = server.member(name)?;
        let Data::Number(number) = &member.data else {
            return None;
        };
        let number = number.parse::<f64>().ok().filter(|it| it.is_finite())?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a limit of a start, and what is out of range is a bound of it"
        )]
        let millis = (number * 1000.0 / *parts as f64) as u64;
        Some(OwnLimit {
            millis,
            place: member.place,
        })
    })
}

/// That a server takes longer to start than its client waits for it; `env` is
/// what the client would be started with.
#[must_use]
pub fn slow_start(
    config: &Config,
    entry: &Entry,
    startup: Duration,
    env: &BTreeMap<String, String>,
) -> Option<Finding> {
    let format = config.client.format();
    let limit = &format.startup_limit;
    let own = entry.own_limit;
    let by_variable = limit.variable.and_then(|name| env.get(name)?.parse().ok());
    let usual = by_variable.unwrap_or(limit.seconds * 1000);
    let millis = own.map_or(usual, |own| own.millis);
    let waits = Duration::from_millis(millis);
    if startup <= waits || own.is_none() && !limit.ends {
        return None;
    }
    let (took, waits) = (in_seconds(startup), in_seconds(waits));
    Some(Finding {
        lint: Lint::SlowStart,
        level: FindingLevel::Error,
        at: config.at(own.map_or(entry.place, |own| own.place)),
        what: format!(
            "It took {took} to start, and {} gives up after {waits}.",
            format.name
        ),
        fix: advice(format, startup),
    })
}

fn advice(format: &ClientFormat, startup: Duration) -> String {
    // Twice what it took, in steps that people write.
    let seconds = startup.as_secs().saturating_mul(2) / 5 * 5 + 5;
    let limit = &format.startup_limit;
    match (limit.members.first(), limit.variable) {
        (Some((name, parts)), _) => format!(
            "Write `{}` in the entry, or have it start faster.",
            format.member(name, &(seconds * parts).to_string())
        ),
        (None, Some(variable)) => format!(
            "Start {} with `{variable}={}`, or have the server start faster.",
            format.name,
            seconds * 1000
        ),
        (None, None) => format!(
            "Have it start faster: {} has no setting for it. What fetches its package at each \
             start is faster once it is installed.",
            format.name
        ),
    }
}

/// As sentences have it: `3.3 s`.
fn in_seconds(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    match (tenths / 10, tenths % 10) {
        (0, 0) => format!("{} ms", time.as_millis()),
        (whole, 0) => format!("{whole} s"),
        (whole, tenth) => format!("{whole}.{tenth} s"),
    }
}

#[cfg(test)]
#[path = "slow_start_tests.rs"]
mod tests;
