//! `wait_for_package`: a version that was just published may take minutes until the
//! registry gives it to everybody.
//!
//! Only a launcher's own words that there is no such version are waited for; whatever
//! else is wrong with a start is told at once.

use super::server_lane::ServerLane;
use jelly_base::model::{Event, ServerReport};
use jelly_base::text::human_duration;
use jelly_process::CommandSpec;
use jelly_wire::{self as wire, Launch, Reach, Session, StartFailure};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The first pause between two starts, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// With less time than this left, it is not looked again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// What npm, pnpm, Yarn, uv and pip say of a version that is not there.
const NO_VERSION: [&str; 9] = [
    "code ETARGET",
    "No matching version found for",
    "ERR_PNPM_NO_MATCHING_VERSION",
    "there is no version of",
    "there are no versions of",
    // Where a range is asked for.
    "is available and you require",
    "only the following versions of",
    "Could not find a version that satisfies the requirement",
    "No matching distribution found for",
];

/// Variables by which launchers look again, and not into what they kept.
const LOOK_AGAIN: [(&str, &str); 3] = [
    ("npm_config_prefer_online", "true"),
    ("UV_NO_CACHE", "1"),
    ("PIP_NO_CACHE_DIR", "1"),
];

impl ServerLane {
    /// Starts the server, again and again while its package is not there yet and the
    /// plan waits for that.
    pub(super) async fn start_in_time(
        &self,
        launch: &Launch,
        report: &mut ServerReport,
    ) -> Result<Session, Box<StartFailure>> {
        let begun = Instant::now();
        let mut started = wire::start(launch).await;
        let Some(limit) = self.server.wait_for_package else {
            return started;
        };
        let again = looking_again(launch);
        let mut pause = None;
        loop {
            let failure = match started {
                Err(failure) => failure,
                ready @ Ok(_) => {
                    if pause.is_some() {
                        let took = human_duration(begun.elapsed());
                        report.notes.push(format!("waited {took} for its package"));
                    }
                    return ready;
                }
            };
            let Some(line) = missing_version(&failure) else {
                return Err(failure);
            };
            // The last pause ends with the time that there is.
            let left = limit.saturating_sub(begun.elapsed());
            let next = next_pause(pause).min(left);
            if left < SHORTEST_PAUSE {
                let message = format!(
                    "{}; the version was waited for {} (wait_for_package)",
                    failure.message,
                    human_duration(limit)
                );
                return Err(Box::new(StartFailure {
                    message,
                    ..*failure
                }));
            }
            if pause.replace(next).is_none() {
                let line = self.shared.cleaner.quote(line);
                self.emit(Event::Warning {
                    message: format!(
                        "{}: its package is not there yet and is waited for, {} at most \
                         (wait_for_package): {line}",
                        self.server.name,
                        human_duration(limit)
                    ),
                });
            }
            sleep(next).await;
            started = wire::start(&again).await;
        }
    }
}

/// The line that says that there is no such version, if that is why a server did not
/// start.
fn missing_version(failure: &StartFailure) -> Option<&str> {
    failure.exit.as_ref()?;
    let mut lines = failure.stderr.lines().map(str::trim);
    let says = |line: &&str| NO_VERSION.iter().any(|words| line.contains(words));
    let first = lines.find(says)?;
    // npm's own code is no sentence; the next one is.
    let sentence = lines.find(|line| says(line) && !line.contains("code ETARGET"));
    Some(
        sentence
            .filter(|_| first.contains("code ETARGET"))
            .unwrap_or(first),
    )
}

/// The pause after one.
fn next_pause(pause: Option<Duration>) -> Duration {
    pause.map_or(FIRST_PAUSE, |pause| (pause * 2).min(LONGEST_PAUSE))
}

/// The same launch, whose launcher looks again.
fn looking_again(launch: &Launch) -> Launch {
    let mut launch = launch.clone();
    let add = |command: &mut CommandSpec| {
        for (name, value) in LOOK_AGAIN {
            if command.env.iter().all(|(own, _)| own != name) {
                command.env.push((name.to_owned(), value.to_owned()));
            }
        }
    };
    match &mut launch.reach {
        Reach::Stdio(command) => add(command),
        Reach::Http(endpoint) => endpoint.command.iter_mut().for_each(add),
    }
    launch
}

#[cfg(test)]
mod tests {
    use super::missing_version;
    use jelly_base::model::{Exit, Outcome, Phase};
    use jelly_wire::StartFailure;

    #[test]
    fn only_a_version_that_is_not_there_is_waited_for() {
        let said = |stderr: &str| {
            let failure = StartFailure {
                stderr: stderr.to_owned(),
                exit: Some(Exit::default()),
                ..StartFailure::of(Phase::Handshake, Outcome::Eof)
            };
            missing_version(&failure).map(str::to_owned)
        };
        let npm =
            "npm error code ETARGET\nnpm error notarget No matching version found for a@9.9.9.\n";
        assert_eq!(
            said(npm).unwrap(),
            "npm error notarget No matching version found for a@9.9.9."
        );
        let uv = "  ╰─▶ Because there is no version of a==9.9.9 and you require a==9.9.9";
        assert!(said(uv).is_some());
        // As uv 0.11 and uvx say it of a range.
        let range =
            "  cause: Because only a==1.0.0 is available and you require a>=1.1, we can conclude";
        assert!(said(range).is_some());
        for other in [
            "npm error code E404\nnpm error 404 'x@*' is not in this registry.",
            "Error: connect ECONNREFUSED 127.0.0.1:4873",
            "Because a was not found in the package registry",
        ] {
            assert_eq!(said(other), None, "{other}");
        }
    }
}
