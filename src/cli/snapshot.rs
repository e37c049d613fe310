//! `jelly snapshot`: what answers say where their snapshots say otherwise,
//! reviewed by a person.

mod pending;

use super::ask::choose;
use super::out::print;
use super::paint::{BOLD, DIM, DiffPaint};
use super::refusal::{Refusal, complain};
use super::results::open_results;
use super::settings::World;
use crate::cli::args::{SnapshotArgs, SnapshotCommand};
use jelly_base::model::ExitCode;
use jelly_base::text::{is_unseen, plural, sanitize};
use pending::{Pending, Review, find};
use std::io;
use std::path::Path;

/// A text of one line and at most so many bytes is compared word by word.
const SHORT: usize = 200;

/// What to do with one proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Accept,
    Reject,
    Skip,
    Quit,
}

pub fn snapshot(args: &SnapshotArgs, world: &World) -> Result<ExitCode, Refusal> {
    let refuse = |why: String| Refusal::invalid(format!("error: {}", sanitize(&why)));
    let (SnapshotCommand::Review(which)
    | SnapshotCommand::Accept(which)
    | SnapshotCommand::Reject(which)) = &args.command;
    let report = which.report.clone();
    let report = report.unwrap_or_else(|| which.reports.latest());
    let (file, reports) = open_results(&report)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let review = find(folder, &reports, &which.names, which.plan.as_deref()).map_err(refuse)?;
    for refusal in &review.refusals {
        complain(&format!("error: {}", sanitize(refusal)));
    }
    for orphan in &review.orphans {
        let orphan = orphan.display().to_string();
        complain(&format!("note: no step names {}", sanitize(&orphan)));
    }
    let paint = DiffPaint::of_stdout(world);
    let asks = world.stdout_is_terminal && io::IsTerminal::is_terminal(&io::stdin());
    // What is stored is what later runs are held against: a person's decision,
    // which no pipeline may take.
    let may_store = !world.in_ci();
    let done = match &args.command {
        SnapshotCommand::Accept(_) if !may_store => Err(
            "snapshots are not written in CI (the variable CI is set): accept them where you can \
             look at them, and commit the files"
                .to_owned(),
        ),
        SnapshotCommand::Accept(_) => settle(&review, |_| Ok(Choice::Accept)),
        SnapshotCommand::Reject(_) => settle(&review, |_| Ok(Choice::Reject)),
        SnapshotCommand::Review(_) if asks && may_store => settle(&review, |one| ask(one, paint)),
        SnapshotCommand::Review(_) => show_all(&review.pending, paint),
    };
    done.map_err(refuse)?;
    Ok(match review.refusals.is_empty() {
        true => ExitCode::Passed,
        false => ExitCode::InvalidInput,
    })
}

/// Does with each proposal what is chosen for it.
fn settle(
    review: &Review,
    choose: impl Fn(&Pending) -> Result<Choice, String>,
) -> Result<(), String> {
    let pending = &review.pending;
    let (mut accepted, mut rejected, mut left) = (0_usize, 0_usize, review.unnamed);
    let (mut quit, mut refused) = (false, 0_usize);
    for one in pending {
        let choice = if quit { Choice::Skip } else { choose(one)? };
        match choice {
            Choice::Accept => {
                if let Err(why) = one.accept() {
                    complain(&format!("error: {}", sanitize(&why)));
                    refused += 1;
                    left += 1;
                    continue;
                }
                accepted += 1;
                say(&format!("stored {}", one.stored_at.display()))?;
            }
            Choice::Reject => {
                one.reject()?;
                rejected += 1;
            }
            Choice::Skip => left += 1,
            Choice::Quit => {
                quit = true;
                left += 1;
            }
        }
    }
    say(&if pending.is_empty() {
        "no snapshots to review".to_owned()
    } else {
        let counted = [
            (accepted, "accepted"),
            (rejected, "rejected"),
            (left, "left"),
        ];
        let counted = counted.iter().filter(|(count, _)| *count > 0);
        let counted: Vec<String> = counted.map(|(n, what)| format!("{n} {what}")).collect();
        counted.join(", ")
    })?;
    match refused {
        0 => Ok(()),
        _ => Err(format!("{} not stored", plural(refused, "snapshot"))),
    }
}

fn show_all(pending: &[Pending], paint: DiffPaint) -> Result<(), String> {
    for one in pending {
        say(&shown(one, paint))?;
    }
    // A name may stand in more than one plan.
    let several = pending.windows(2).any(|pair| pair[0].plan != pair[1].plan);
    let which = if several { "NAME --plan PLAN" } else { "NAME" };
    say(&if pending.is_empty() {
        "no snapshots to review".to_owned()
    } else {
        format!(
            "{} for a review: `jelly snapshot accept {which}` stores what the answer says, \
             `jelly snapshot reject {which}` throws it away",
            match pending.len() {
                1 => "1 snapshot waits".to_owned(),
                n => format!("{} wait", plural(n, "snapshot")),
            }
        )
    })
}

/// A proposal beside what is stored.
fn shown(one: &Pending, paint: DiffPaint) -> String {
    let heading = format!("{} of {}", one.name, one.plan.display());
    let mut text = format!("{}\n", paint.tone(BOLD, &sanitize(&heading)));
    match &one.stored {
        None => {
            let none = format!("  nothing is stored in {} yet", one.stored_at.display());
            text.push_str(&format!("{}\n", paint.tone(DIM, &sanitize(&none))));
            text.push_str(&paint.differences("", &one.text));
        }
        Some(stored) if looks_like(stored, &one.text) => {
            let (stored, new) = (visible(stored), visible(&one.text));
            text.push_str(&paint.differences(&stored, &new));
            if stored.replace("\\r\n", "\n") == new {
                let hint = "only the ends of lines differ: `*.snap -text` in .gitattributes keeps \
                            git from changing them";
                text.push_str(&format!("  {}\n", paint.tone(DIM, hint)));
            }
        }
        Some(stored) if is_short(stored) && is_short(&one.text) => {
            text.push_str(&paint.inline_differences(stored.trim_end(), one.text.trim_end()));
        }
        Some(stored) => text.push_str(&paint.differences(stored, &one.text)),
    }
    for other in &one.others {
        let hint = "another combination of the matrix answers otherwise, so that none of them can \
                    be stored; beside the answer above:";
        text.push_str(&format!("  {}\n", paint.tone(DIM, hint)));
        text.push_str(&paint.differences(&one.text, other));
    }
    text
}

/// Whether two texts differ in nothing that a terminal would show.
fn looks_like(one: &str, other: &str) -> bool {
    let shown = |text| -> Vec<String> {
        let text = sanitize(text);
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    };
    shown(one) == shown(other)
}

/// With a name for each character that is not seen, and for blanks at the end
/// of a line.
fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, feed) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let blanks = line.len() - line.trim_end_matches(' ').len();
        for c in line[..line.len() - blanks].chars() {
            if is_unseen(c) {
                seen.extend(c.escape_default());
            } else {
                seen.push(c);
            }
        }
        seen.push_str(&"·".repeat(blanks));
        seen.push_str(feed);
    }
    seen
}

fn is_short(text: &str) -> bool {
    text.len() <= SHORT && !text.trim_end().contains('\n')
}

/// Asks until there is an answer; the end of the input ends the review.
fn ask(one: &Pending, paint: DiffPaint) -> Result<Choice, String> {
    say(&shown(one, paint))?;
    let chosen = choose("[a]ccept, [r]eject, [s]kip, [q]uit? ", choice_of)?;
    Ok(chosen.unwrap_or(Choice::Quit))
}

fn choice_of(line: &str) -> Option<Choice> {
    match line.trim().to_ascii_lowercase().as_str() {
        "a" | "accept" => Some(Choice::Accept),
        "r" | "reject" => Some(Choice::Reject),
        "s" | "skip" => Some(Choice::Skip),
        "q" | "quit" => Some(Choice::Quit),
        _ => None,
    }
}

fn say(text: &str) -> Result<(), String> {
    print(format!("{text}\n")).map_err(|error| format!("nothing can be shown: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{Choice, choice_of, is_short, looks_like, visible};

    #[test]
    fn an_answer_is_a_letter_or_its_word() {
        assert_eq!(choice_of(" A\n"), Some(Choice::Accept));
        assert_eq!(choice_of("reject"), Some(Choice::Reject));
        assert_eq!(choice_of("yes"), None);
        assert_eq!(choice_of(""), None);
    }

    #[test]
    fn what_is_not_seen_is_given_a_name() {
        assert!(looks_like("a\r\nb \n", "a\nb\n") && !looks_like("a", "b"));
        assert_eq!(visible("a\r\nb \u{1b}x  "), "a\\r\nb \\u{1b}x··");
        assert_eq!(visible("é 日\n"), "é 日\n");
    }

    #[test]
    fn short_is_one_line() {
        assert!(is_short("one\n") && is_short(""));
        assert!(!is_short("one\ntwo") && !is_short(&"x".repeat(201)));
    }
}
