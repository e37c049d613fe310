//! The servers of an iteration as lanes of a picture: how long each took to
//! start, and its steps one after the other.
//!
//! What waited between steps is not recorded, so that the lanes tell durations
//! and no moments. The table of steps below the picture says the same.

use super::parts::{self, ready};
use crate::report::words;
use jelly_base::model::{IterationReport, ServerReport, ServerState, StepReport, StepState};
use jelly_base::text::plural;
use maud::{Markup, html};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The width of the picture, in units of its own.
const WIDTH: f64 = 1000.0;
/// Neighbours of one kind that are narrower become one bar.
const NARROW: f64 = 3.0;
/// Lanes of one picture.
const LANES: usize = 50;

/// A stretch of a lane.
struct LaneBar {
    class: &'static str,
    ms: f64,
    what: String,
    count: u64,
}

/// The lanes of the servers that did something; nothing where none did.
pub(super) fn timeline(iteration: &IterationReport) -> Markup {
    let mut steps: HashMap<&str, Vec<&StepReport>> = HashMap::new();
    for step in &iteration.steps {
        steps.entry(&step.server).or_default().push(step);
    }
    let lanes: Vec<(&ServerReport, Vec<LaneBar>)> = iteration
        .servers
        .iter()
        .filter(|server| server.state != ServerState::NotStarted)
        .map(|server| {
            let of_server = steps.get(server.name.as_str());
            (server, bars(server, of_server.map_or(&[], Vec::as_slice)))
        })
        .collect();
    let longest = lanes.iter().map(|(_, bars)| length(bars));
    let longest = longest.fold(1.0, f64::max);
    if lanes.is_empty() {
        return Markup::default();
    }
    let left_out = lanes.len().saturating_sub(LANES);
    html! {
        figure.timeline {
            figcaption {
                "Start-up and steps of each server, up to " (words::fine_duration(longest))
                "; waiting in between is not shown. The tables below say the same."
            }
            @for (server, bars) in lanes.iter().take(LANES) {
                div.lane {
                    span { (parts::code(&server.name)) }
                    (picture(bars, longest, &in_words(server, bars)))
                }
            }
            @if left_out > 0 { p { "And " (plural(left_out as u64, "more server")) "." } }
        }
    }
}

fn length(bars: &[LaneBar]) -> f64 {
    bars.iter().map(|bar| bar.ms).sum()
}

fn bars(server: &ServerReport, steps: &[&StepReport]) -> Vec<LaneBar> {
    let mut bars = Vec::with_capacity(steps.len() + 1);
    if let Some(ms) = server.startup_ms {
        bars.push(LaneBar {
            class: "b-start",
            ms: ms as f64,
            what: format!("start-up: {}", words::duration(ms)),
            count: 1,
        });
    } else if server.state == ServerState::Failed {
        bars.push(LaneBar {
            class: "b-bad",
            ms: 0.0,
            what: "did not start".to_owned(),
            count: 1,
        });
    }
    for step in steps {
        let Some(ms) = step.duration_ms else { continue };
        let class = match step.state {
            StepState::Passed if step.flaky => "b-warn",
            StepState::Passed => "b-good",
            StepState::Failed => "b-bad",
            StepState::Blocked | StepState::Quarantined | StepState::Skipped => "b-none",
        };
        let state = words::spaced(&step.state);
        bars.push(LaneBar {
            class,
            ms,
            what: format!(
                "{}: {state}, {}",
                parts::brief(&step.path()),
                words::fine_duration(ms)
            ),
            count: 1,
        });
    }
    bars
}

/// What a lane comes to, for who does not see it.
fn in_words(server: &ServerReport, bars: &[LaneBar]) -> String {
    let steps = bars.iter().filter(|bar| bar.class != "b-start").count();
    let steps = if server.state == ServerState::Failed {
        0
    } else {
        steps
    };
    format!(
        "{}: {}, {} in {}",
        parts::brief(&server.name),
        words::spaced(&server.state),
        plural(steps as u64, "step"),
        words::fine_duration(length(bars))
    )
}

/// One lane. Failed stretches are as high as it, others lower: the colour alone
/// says nothing.
fn picture(bars: &[LaneBar], longest: f64, label: &str) -> Markup {
    let mut shapes = String::new();
    let mut from = 0.0_f64;
    for bar in merged(bars, longest) {
        let width = (bar.ms / longest * WIDTH).max(2.0);
        let (y, height, color) = match bar.class {
            "b-bad" => (0, 20, "#b3261e"),
            "b-warn" => (3, 14, "#8a5a00"),
            "b-start" => (7, 6, "#57606a"),
            "b-none" => (9, 2, "#6e7781"),
            _ => (5, 10, "#1a7f37"),
        };
        let title = html! { title { (bar.what) } }.into_string();
        // Writing to a String can't fail.
        let _ = write!(
            shapes,
            r#"<rect class="{}" fill="{color}" x="{:.1}" y="{y}" width="{:.1}" height="{height}">{title}</rect>"#,
            bar.class,
            from.min(WIDTH - 2.0),
            (width - 0.5).max(1.5)
        );
        from += width;
    }
    html! {
        svg role="img" aria-label=(label) width="100%" height="20" viewBox="0 0 1000 20"
            preserveAspectRatio="none" { (ready(shapes)) }
    }
}

/// Thousands of steps of a millisecond are no thousands of bars.
fn merged(bars: &[LaneBar], longest: f64) -> Vec<LaneBar> {
    let mut out: Vec<LaneBar> = Vec::new();
    for bar in bars {
        let narrow = |ms: f64| ms / longest * WIDTH < NARROW;
        match out.last_mut() {
            Some(last) if last.class == bar.class && narrow(last.ms) && narrow(bar.ms) => {
                last.ms += bar.ms;
                last.count += 1;
                last.what = format!(
                    "{} in {}",
                    plural(last.count, "step"),
                    words::fine_duration(last.ms)
                );
            }
            Some(_) | None => out.push(LaneBar {
                what: bar.what.clone(),
                ..*bar
            }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::timeline;
    use crate::report::samples;
    use jelly_base::model::{ServerState, StepState};

    #[test]
    fn a_lane_holds_each_step_and_thousands_of_them_few_bars() {
        let mut report = samples::passed();
        let iteration = &mut report.iterations[0];
        let picture = timeline(iteration).into_string();
        assert!(picture.contains("files: ready, 2 steps in"), "{picture}");
        assert!(
            picture.contains("<title>steps.write: passed, 12 ms</title>"),
            "{picture}"
        );
        iteration.steps = (0..5000)
            .map(|n| samples::step("files", &format!("s{n}"), StepState::Passed))
            .collect();
        let picture = timeline(iteration).into_string();
        assert!(picture.matches("<rect ").count() < 500, "{}", picture.len());
    }

    #[test]
    fn a_server_that_did_not_start_is_a_lane_too() {
        let mut report = samples::passed();
        report.iterations[0].servers = vec![samples::server("files", ServerState::Failed)];
        report.iterations[0].steps.clear();
        let picture = timeline(&report.iterations[0]).into_string();
        assert!(picture.contains("files: failed, 0 steps"), "{picture}");
    }
}
