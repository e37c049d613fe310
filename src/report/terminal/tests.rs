use super::{TerminalOptions, TerminalReporter};
use crate::report::json::Results;
use crate::report::samples;
use indicatif::{MultiProgress, ProgressDrawTarget, TermLike};
use jelly_base::model::{ActionKind, Because, Event, ExitCode, RunReport, StepState};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The events that such a run sends.
fn events_of(report: &RunReport) -> Vec<Event> {
    let mut events = vec![Event::RunStarted {
        plan: report.plan.name.clone(),
        servers: report.iterations[0].servers.len(),
        steps: report.iterations[0].steps.len(),
    }];
    for iteration in &report.iterations {
        events.push(Event::IterationStarted {
            index: iteration.index,
            steps: iteration.steps.len(),
        });
        for server in &iteration.servers {
            events.push(Event::ServerStarting {
                server: server.name.clone(),
                argv: vec!["npx".into(), "-y".into(), "a server".into()],
            });
            events.push(match &server.era {
                Some(era) => Event::ServerReady {
                    server: server.name.clone(),
                    era: era.clone(),
                    protocol_version: server.protocol_version.clone().unwrap(),
                    tools: 14,
                    elapsed: Duration::from_millis(840),
                },
                None => Event::ServerFailed {
                    server: server.name.clone(),
                    message: iteration.failures[0].message.clone(),
                },
            });
        }
        for step in &iteration.steps {
            if step.duration_ms.is_some() {
                events.push(Event::StepStarted {
                    step: step.id.clone(),
                    server: step.server.clone(),
                });
            }
            let failure = iteration
                .failures
                .iter()
                .find(|f| f.step.as_deref() == Some(step.id.as_str()));
            events.push(Event::StepFinished {
                step: Box::new(step.clone()),
                message: failure.map(|f| f.message.clone()),
            });
        }
        events.push(Event::IterationFinished {
            report: Box::new(iteration.clone()),
        });
    }
    events
}

fn shown(report: &RunReport, options: TerminalOptions) -> String {
    let mut out = Vec::new();
    let mut reporter = TerminalReporter::new(&mut out, options);
    for event in events_of(report) {
        reporter.event(&event);
    }
    reporter.finish(report).unwrap();
    String::from_utf8(out).unwrap()
}

fn plain(report: &RunReport) -> String {
    shown(report, TerminalOptions::default())
}

#[test]
fn the_output_of_every_kind_of_run() {
    insta::assert_snapshot!("terminal_passed", plain(&samples::passed()));
    insta::assert_snapshot!("terminal_repaired", plain(&samples::repaired()));
    insta::assert_snapshot!("terminal_dead_server", plain(&samples::dead_server()));
    insta::assert_snapshot!("terminal_code_failure", plain(&samples::code_failure()));
    insta::assert_snapshot!(
        "terminal_several_mismatches",
        plain(&samples::several_mismatches())
    );
    insta::assert_snapshot!("terminal_flaky", plain(&samples::flaky()));
    insta::assert_snapshot!("terminal_crash_in_call", plain(&samples::crash_in_call()));
    insta::assert_snapshot!("terminal_quarantined", plain(&samples::quarantined()));
    insta::assert_snapshot!("terminal_interrupted", plain(&samples::interrupted()));
}

#[test]
fn the_rarer_events_are_lines_too() {
    let mut out = Vec::new();
    let options = TerminalOptions {
        label: Some("smoke".into()),
        ..TerminalOptions::default()
    };
    let mut reporter = TerminalReporter::new(&mut out, options);
    let noise = Event::Noise {
        server: "files".into(),
        line: "\u{1b}[2J::error::gotcha".into(),
    };
    for event in [
        noise.clone(),
        noise,
        Event::ServerRestarting {
            server: "files".into(),
        },
        Event::Waiting {
            reason: ActionKind::Retry,
            wait: Duration::from_millis(1300),
        },
        Event::HookStarted {
            hook: "fix_tests".into(),
            argv: vec!["./fix.sh".into(), "a b".into()],
        },
        Event::Interrupted,
        Event::Warning {
            message: "the recording could not be written".into(),
        },
    ] {
        reporter.event(&event);
    }
    drop(reporter);
    insta::assert_snapshot!("terminal_rare", String::from_utf8(out).unwrap());
}

#[test]
fn the_last_lines_of_a_failed_run_are_the_help_summary() {
    for report in [samples::dead_server(), samples::code_failure()] {
        for quiet in [false, true] {
            let options = TerminalOptions {
                quiet,
                ..TerminalOptions::default()
            };
            let text = shown(&report, options);
            let help = report.help_summary.as_ref().unwrap();
            let last = help.problems.last().unwrap().next.last().unwrap();
            assert_eq!(text.lines().last().unwrap().trim(), last);
        }
    }
}

#[test]
fn quiet_says_the_verdict_and_no_more() {
    let options = TerminalOptions {
        quiet: true,
        ..TerminalOptions::default()
    };
    let text = shown(&samples::passed(), options);
    insta::assert_snapshot!("terminal_quiet", text);
}

#[test]
fn lines_are_wrapped_at_the_width_but_commands_are_not() {
    let mut report = samples::dead_server();
    let long = format!("$ jelly run {}", "plans/long-name.yaml ".repeat(8).trim());
    let help = report.help_summary.as_mut().unwrap();
    help.problems[0].next.push(long.clone());
    let options = TerminalOptions {
        width: Some(72),
        color: false,
        ..TerminalOptions::default()
    };
    let text = shown(&report, options);
    assert!(text.lines().any(|line| line.trim() == long));
    let words = |line: &&str| !line.contains('$') && line.split_whitespace().count() > 2;
    for line in text.lines().filter(words) {
        assert!(line.chars().count() <= 72, "{line}");
    }
}

#[test]
fn a_command_is_shown_as_it_is_to_be_pasted() {
    let mut report = samples::dead_server();
    let spaces = "$ srv 'two  spaces' 'a\tb'".to_owned();
    let long = format!("$ srv '{}'", "x".repeat(5000));
    let help = report.help_summary.as_mut().unwrap();
    help.problems[0].next = vec![spaces.clone(), long.clone()];
    let text = plain(&report);
    let markdown = crate::report::test_results_md(&report);
    for command in [spaces, long] {
        assert!(text.contains(&format!("{command}\n")), "{text}");
        let command = command.trim_start_matches("$ ");
        assert!(markdown.contains(command), "{markdown}");
    }
}

#[test]
fn warnings_of_several_plans_are_told_to_who_wants_it_quiet() {
    let report = RunReport {
        warnings: vec!["the history was not kept".into()],
        ..samples::passed()
    };
    for quiet in [true, false] {
        let options = TerminalOptions {
            quiet,
            ..TerminalOptions::default()
        };
        let mut out = Vec::new();
        let mut reporter = TerminalReporter::new(&mut out, options);
        let both = [report.clone(), report.clone()];
        reporter
            .finish_all(&Results::new("r1", ExitCode::Passed, &both))
            .unwrap();
        drop(reporter);
        let told = String::from_utf8(out).unwrap();
        let told = told.matches("warning: the history was not kept").count();
        assert_eq!(told, if quiet { 2 } else { 0 });
    }
}

#[test]
fn colour_is_given_only_on_request() {
    let report = samples::repaired();
    let text = plain(&report);
    assert!(!text.contains('\u{1b}'));
    let options = TerminalOptions {
        color: true,
        ..TerminalOptions::default()
    };
    let coloured = shown(&report, options);
    assert!(coloured.contains('\u{1b}'));
    assert_eq!(jelly_base::text::strip_ansi(&coloured), text);
}

#[test]
fn a_server_can_not_steer_the_terminal() {
    let nasty = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{202e}##[error]x \n::stop-commands::y";
    let mut report = samples::dead_server();
    report.plan.name = nasty.into();
    let iteration = &mut report.iterations[0];
    iteration.failures[0].message = nasty.into();
    iteration.failures[0].stderr_tail = nasty.into();
    iteration.failures[0].diagnosis.evidence = None;
    iteration.steps[0].because = Some(Because::Plan(nasty.into()));
    iteration.steps[0].state = StepState::Quarantined;
    let help = report.help_summary.as_mut().unwrap();
    help.problems[0].evidence = nasty.into();
    help.problems[0].next = vec![nasty.into()];
    for width in [None, Some(60)] {
        let text = shown(
            &report,
            TerminalOptions {
                width,
                ..TerminalOptions::default()
            },
        );
        let safe = |c: char| !c.is_control() || c == '\n';
        assert!(text.chars().all(safe), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text}");
    }
}

#[test]
fn several_plans_end_with_a_line_each_and_the_help() {
    let mut out = Vec::new();
    let mut reporter = TerminalReporter::new(&mut out, TerminalOptions::default());
    let reports = [samples::passed(), samples::dead_server(), samples::flaky()];
    let results = Results::new("r1", ExitCode::NeedsUserHelp, &reports);
    reporter.finish_all(&results).unwrap();
    insta::assert_snapshot!("terminal_several", String::from_utf8(out).unwrap());
}

#[test]
fn a_writer_that_fails_is_told_at_the_end() {
    struct Closed;
    impl io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let report = samples::passed();
    let mut reporter = TerminalReporter::new(Closed, TerminalOptions::default());
    for event in events_of(&report) {
        reporter.event(&event);
    }
    let error = reporter.finish(&report).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

/// A terminal that keeps what was drawn on it.
#[derive(Debug, Clone, Default)]
struct Screen(Arc<Mutex<String>>);

impl TermLike for Screen {
    fn width(&self) -> u16 {
        80
    }
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        self.write_str("\n")
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn progress_is_drawn_beside_the_lines_and_never_among_them() {
    let report = samples::repaired();
    let screen = Screen::default();
    let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
    let mut out = Vec::new();
    let mut reporter = TerminalReporter::new(&mut out, TerminalOptions::default())
        .with_progress(MultiProgress::with_draw_target(target));
    for event in events_of(&report) {
        reporter.event(&event);
    }
    reporter.finish(&report).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let starting =
        |text: &str| -> String { text.lines().filter(|l| !l.starts_with("START")).collect() };
    // A spinner stands for the START lines; the rest is the same.
    assert_eq!(starting(&lines), starting(&plain(&report)));
    assert!(!lines.contains("START"));
    let drawn = screen.0.lock().unwrap().clone();
    assert!(drawn.contains("files: starting"), "{drawn}");
    assert!(drawn.contains("/3 steps"), "{drawn}");
}

#[test]
fn lines_are_not_lost_where_progress_is_hidden() {
    let report = samples::repaired();
    let hidden = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
    let mut out = Vec::new();
    let mut reporter =
        TerminalReporter::new(&mut out, TerminalOptions::default()).with_progress(hidden);
    for event in events_of(&report) {
        reporter.event(&event);
    }
    reporter.finish(&report).unwrap();
    assert!(
        String::from_utf8(out)
            .unwrap()
            .contains("PASS     files/read")
    );
}
