//! The servers of an iteration as lanes of a picture over one axis of time: when
//! each started and ended, and when its steps ran.
//!
//! Records of earlier versions hold no moments: their steps stand one after the
//! other. The tables below the picture say the same in words.

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
const NARROW: f64 = 8.0;
/// Lanes of one picture.
const LANES: usize = 50;
/// Stretches between the labels of the axis.
const STRETCHES: u32 = 4;

/// A stretch of a lane, in milliseconds since the iteration began.
#[derive(Debug, Clone)]
struct LaneBar {
    class: &'static str,
    from: f64,
    until: f64,
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
    let ends = lanes.iter().flat_map(|(_, bars)| bars).map(|bar| bar.until);
    let longest = ends.fold(1.0, f64::max);
    if lanes.is_empty() {
        return Markup::default();
    }
    let left_out = lanes.len().saturating_sub(LANES);
    html! {
        figure.timeline {
            figcaption {
                "When servers started, ran their steps and ended, over "
                (words::fine_duration(longest)) ". The tables below say the same."
            }
            @for (server, bars) in lanes.iter().take(LANES) {
                div.lane {
                    span { (parts::code(&server.name)) }
                    (picture(bars, longest, &in_words(server, bars)))
                }
            }
            // Who hears the page has the moments in the tables.
            div.lane aria-hidden="true" {
                span {}
                div.axis {
                    @for stretch in 0..=STRETCHES {
                        span { (label_at(longest * f64::from(stretch) / f64::from(STRETCHES))) }
                    }
                }
            }
            @if left_out > 0 { p { "And " (plural(left_out as u64, "more server")) "." } }
        }
    }
}

fn label_at(ms: f64) -> String {
    match ms {
        0.0 => "0".to_owned(),
        _ => words::fine_duration(ms),
    }
}

/// What its server did, in the order of time: its life first, which the others
/// are drawn over.
fn bars(server: &ServerReport, steps: &[&StepReport]) -> Vec<LaneBar> {
    let mut bars = Vec::with_capacity(steps.len() + 3);
    let mut bar = |class, from: f64, until: f64, what: String| {
        bars.push(LaneBar {
            class,
            from,
            until: until.max(from),
            what,
            count: 1,
        });
    };
    let start = server.started_ms.unwrap_or_default();
    if let (Some(from), Some(until)) = (server.started_ms, server.ended_ms) {
        let what = format!(
            "{}: from {} to {}",
            words::spaced(&server.state),
            words::fine_duration(from),
            words::fine_duration(until)
        );
        bar("b-life", from, until, what);
    }
    let mut now = start;
    if let Some(ms) = server.startup_ms {
        now += ms as f64;
        let what = format!("startup: {}", words::duration(ms));
        bar("b-start", start, now, what);
    } else if server.state == ServerState::Failed {
        now = server.ended_ms.unwrap_or(start);
        bar("b-bad", start, now, "did not start".to_owned());
    }
    for step in steps {
        let Some(ms) = step.duration_ms else { continue };
        let class = match step.state {
            StepState::Passed if step.flaky => "b-warn",
            StepState::Passed => "b-good",
            StepState::Failed => "b-bad",
            StepState::Blocked | StepState::Quarantined | StepState::Skipped => "b-none",
        };
        let from = step.started_ms.unwrap_or(now);
        now = from + ms;
        let moment = step.started_ms.map(words::fine_duration);
        let what = format!(
            "{}: {}, {}{}",
            parts::brief(&step.path()),
            words::spaced(&step.state),
            words::fine_duration(ms),
            moment.map(|at| format!(" from {at}")).unwrap_or_default()
        );
        bar(class, from, now, what);
    }
    if server.state == ServerState::Died
        && let Some(at) = server.ended_ms
    {
        let what = format!("died, at {}", words::fine_duration(at));
        bar("b-bad", at, at, what);
    }
    bars
}

/// What a lane comes to, for who does not see it.
fn in_words(server: &ServerReport, bars: &[LaneBar]) -> String {
    let steps = bars.iter().filter(|bar| match bar.class {
        "b-life" | "b-start" => false,
        _ => server.state != ServerState::Failed,
    });
    let died = u64::from(server.state == ServerState::Died && server.ended_ms.is_some());
    let end = bars.iter().map(|bar| bar.until).fold(0.0, f64::max);
    format!(
        "{}: {}, {} in {}",
        parts::brief(&server.name),
        words::spaced(&server.state),
        plural(steps.count() as u64 - died, "step"),
        words::fine_duration(end - server.started_ms.unwrap_or_default())
    )
}

/// One lane. Failed stretches are as high as it, others lower: the colour alone
/// says nothing.
fn picture(bars: &[LaneBar], longest: f64, label: &str) -> Markup {
    const LEAST: f64 = 1.5;
    let mut shapes = String::new();
    for bar in merged(bars, longest) {
        let (y, height, color) = match bar.class {
            "b-bad" => (0, 20, "#b3261e"),
            "b-warn" => (3, 14, "#8a5a00"),
            "b-start" => (7, 6, "#57606a"),
            "b-none" | "b-life" => (9, 2, "#6e7781"),
            _ => (5, 10, "#1a7f37"),
        };
        let title = html! { title { (bar.what) } }.into_string();
        let from = (bar.from / longest * WIDTH).clamp(0.0, WIDTH - LEAST);
        let until = (bar.until / longest * WIDTH).min(WIDTH);
        // Writing to a String can't fail.
        let _ = write!(
            shapes,
            r#"<rect class="{}" fill="{color}" x="{from:.1}" y="{y}" width="{:.1}" height="{height}">{title}</rect>"#,
            bar.class,
            (until - from - 0.5).max(LEAST)
        );
    }
    html! {
        svg role="img" aria-label=(label) width="100%" height="20" viewBox="0 0 1000 20"
            preserveAspectRatio="none" { (ready(shapes)) }
    }
}

/// Thousands of steps of a millisecond are no thousands of bars.
fn merged(bars: &[LaneBar], longest: f64) -> Vec<LaneBar> {
    let narrow = |ms: f64| ms / longest * WIDTH < NARROW;
    let mut out: Vec<LaneBar> = Vec::new();
    for bar in bars {
        match out.last_mut() {
            Some(last)
                if last.class == bar.class
                    && narrow(bar.until - bar.from)
                    && narrow(bar.until - last.from) =>
            {
                last.until = last.until.max(bar.until);
                last.count += 1;
                last.what = format!(
                    "{} in {}",
                    plural(last.count, "step"),
                    words::fine_duration(last.until - last.from)
                );
            }
            Some(_) | None => out.push(bar.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::timeline;
    use crate::report::samples;
    use jelly_base::model::{IterationReport, ServerState, StepState};

    /// One server and two steps, with their moments.
    fn two_steps() -> IterationReport {
        let mut iteration = samples::passed().iterations.remove(0);
        let server = &mut iteration.servers[0];
        (server.started_ms, server.startup_ms) = (Some(100.0), Some(100));
        server.ended_ms = Some(1000.0);
        for (step, at) in iteration.steps.iter_mut().zip([300.0, 800.0]) {
            (step.started_ms, step.duration_ms) = (Some(at), Some(100.0));
        }
        iteration
    }

    #[test]
    fn a_bar_stands_at_its_moment() {
        let picture = timeline(&two_steps()).into_string();
        for bar in [
            r##"class="b-life" fill="#6e7781" x="100.0" y="9" width="899.5""##,
            r##"class="b-start" fill="#57606a" x="100.0" y="7" width="99.5""##,
            r##"class="b-good" fill="#1a7f37" x="300.0" y="5" width="99.5""##,
            r##"class="b-good" fill="#1a7f37" x="800.0" y="5" width="99.5""##,
            "<title>steps.write: passed, 100 ms from 300 ms</title>",
            "files: ready, 2 steps in 900 ms",
            "<span>0</span><span>250 ms</span>",
        ] {
            assert!(picture.contains(bar), "{bar}: {picture}");
        }
    }

    #[test]
    fn lanes_share_an_axis_and_a_death_is_marked() {
        let mut iteration = two_steps();
        let mut other = samples::server("other", ServerState::Died);
        (other.started_ms, other.startup_ms) = (Some(0.0), Some(500));
        other.ended_ms = Some(2000.0);
        iteration.servers.push(other);
        let picture = timeline(&iteration).into_string();
        assert!(picture.contains(r#"x="150.0" y="5""#), "{picture}");
        assert!(
            picture.contains("other: died, 0 steps in 2.0 s"),
            "{picture}"
        );
        assert!(
            picture.contains("<title>died, at 2.0 s</title>"),
            "{picture}"
        );
    }

    #[test]
    fn thousands_of_steps_are_few_bars_and_without_moments_one_after_the_other() {
        let mut iteration = samples::passed().iterations.remove(0);
        let picture = timeline(&iteration).into_string();
        assert!(picture.contains("files: ready, 2 steps in"), "{picture}");
        assert!(
            picture.contains("<title>steps.write: passed, 12 ms</title>"),
            "{picture}"
        );
        iteration.steps = (0..5000)
            .map(|n| samples::step("files", &format!("s{n}"), StepState::Passed))
            .collect();
        let picture = timeline(&iteration).into_string();
        assert!(picture.matches("<rect ").count() < 150, "{}", picture.len());
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
