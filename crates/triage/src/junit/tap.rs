//! TAP 13 and 14.

use super::attributes::seconds;
use super::bats_tap::BatsRun;
use super::case::CaseOutcome;
use super::dialect::writer_by_text;
use super::lines::{give, line, suite};
use super::machine::{BETWEEN, Machine};
use super::node_tap::{self, unquoted};
use super::prove::{ShownFile, begun_file, ends_file};
use super::source::BoundedSource;
use super::test_more::Between;
use jelly_base::model::Failure;
use jelly_base::text::{WordList, plural};
use std::io;

/// What a line of TAP says of one test.
struct Point {
    ok: bool,
    number: Option<u64>,
    name: String,
    seconds: Option<f64>,
    skipped: bool,
    todo: bool,
}

impl Point {
    fn failed(&self) -> bool {
        !(self.ok || self.skipped || self.todo)
    }
}

/// Rows of tests that nothing has summed up so far: how far each is indented, and
/// whether one of it failed.
#[derive(Default)]
struct SubtestRows(Vec<(usize, bool)>);

impl SubtestRows {
    /// Whether a test only sums up those before it that are indented further.
    fn sums_up(&mut self, indent: usize, found: &Point) -> bool {
        let (mut has_parts, mut part_failed) = (false, false);
        while let Some((_, failed)) = self.0.pop_if(|(depth, _)| *depth > indent) {
            has_parts = true;
            part_failed |= failed;
        }
        match self.0.last_mut() {
            Some((depth, any)) if *depth == indent => *any |= found.failed(),
            _ => self.0.push((indent, found.failed())),
        }
        // What failed by itself, as in a hook after the inner tests, sums
        // nothing up.
        has_parts && (found.ok || part_failed)
    }
}

/// The tests that began, from the outermost one, as `# Subtest: name` says it before what
/// is in them: how far each is indented, and its name.
#[derive(Default)]
struct BegunTests(Vec<(usize, String)>);

impl BegunTests {
    /// Tests within each other.
    const DEPTH: usize = 64;

    fn begin(&mut self, indent: usize, name: &str, limit: usize) {
        self.end(indent);
        if self.0.len() < Self::DEPTH {
            let name = &name[..name.floor_char_boundary(limit)];
            self.0.push((indent, unescaped(name)));
        }
    }

    /// A test that is indented so far ended, and all that is in it.
    fn end(&mut self, indent: usize) {
        self.0.retain(|(depth, _)| *depth < indent);
    }

    /// The names of those around a test that is indented so far.
    fn around(&self, indent: usize) -> String {
        let around = self.0.iter().filter(|(depth, _)| *depth < indent);
        let names: Vec<&str> = around.map(|(_, name)| name.as_str()).collect();
        names.join(BETWEEN)
    }
}

/// `not ok 3 - name # SKIP reason`
fn point(line: &str) -> Option<Point> {
    let (ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    let rest = rest.trim_start().trim_start_matches("- ").trim();
    // node-tap says how long it took where a directive stands.
    let timed = rest.rsplit_once("# time=").and_then(|(before, took)| {
        let took = took.trim_end_matches([' ', '{']).strip_suffix("ms")?;
        let is_apart = before.is_empty() || before.ends_with(' ');
        Some((before.trim_end(), seconds(took).filter(|_| is_apart)?))
    });
    let (rest, took) = timed.map_or((rest, None), |(rest, ms)| (rest, Some(ms / 1000.0)));
    let (name, directive) = match rest
        .rfind(" #")
        .or_else(|| rest.starts_with('#').then_some(0))
    {
        Some(at) => (
            rest[..at].trim(),
            rest[at..]
                .trim_start_matches([' ', '#'])
                .to_ascii_lowercase(),
        ),
        None => (rest, String::new()),
    };
    let (skipped, todo) = (directive.starts_with("skip"), directive.starts_with("todo"));
    // A `#` that is no directive belongs to the name.
    let name = if skipped || todo { name } else { rest };
    Some(Point {
        ok,
        number: number.parse().ok(),
        name: if name.is_empty() {
            format!("test {number}")
        } else {
            unescaped(name)
        },
        seconds: took,
        skipped,
        todo,
    })
}

/// Cancelled tests that wait for the end of their suite.
const CANCELLED: usize = 1000;

/// A row that failed, and what the lines after it say of it.
struct OpenPoint {
    point: Point,
    said: String,
    /// What stands between its words and those of the failed test before or behind it.
    between: Between,
    indent: usize,
    /// The tests around it.
    around: String,
    /// It is a suite whose tests were told.
    sums_up: bool,
}

impl OpenPoint {
    /// Whether Node says no more of it than that its suite ended before it.
    fn is_cancelled(&self) -> bool {
        self.said.contains("failureType: 'cancelledByParent'")
    }

    /// It was cancelled by a suite. What a hook of that failed of is why.
    fn take_hook(&mut self, suite: &Self) {
        let kinds = [
            "failureType: 'hookFailed'",
            "failureType: 'testTimeoutFailure'",
        ];
        if kinds.iter().any(|kind| suite.said.contains(kind)) {
            self.said.clone_from(&suite.said);
        }
    }

    fn give(mut self, machine: &mut Machine<'_>) {
        let beside = self.between.settle(&mut self.said);
        let text = self.said.trim_end();
        let of_node = node_tap::failure(text);
        let writer = match of_node {
            Some(_) => Some("node-test"),
            None => writer_by_text(text),
        };
        if let Some(writer) = writer {
            machine.take_for(writer);
        }
        let failure = of_node.unwrap_or_else(|| Failure {
            element: Some("failure".to_owned()),
            message: yaml_message(text),
            text: (!text.is_empty()).then(|| text.to_owned()),
            ..Failure::default()
        });
        let failure = Failure {
            system_out: beside.or(failure.system_out),
            ..failure
        };
        let point = self.point;
        let outcome = CaseOutcome::Failed;
        suite(machine, &self.around, |machine| {
            let names = ["", point.name.as_str()];
            give(machine, names, point.seconds, outcome, Some(failure));
        });
    }
}

/// A name as it was before its `#` and `\` were escaped.
fn unescaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = chars.next_if(|next| c == '\\' && matches!(next, '#' | '\\'));
        out.push(escaped.unwrap_or(c));
    }
    out
}

/// Reads TAP. Subtests are indented, at any depth, and come before the line that
/// sums them up, which is no case itself.
pub(super) fn tap(source: &mut BoundedSource<'_>, machine: &mut Machine<'_>) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut planned: Option<u64> = None;
    let mut seen = 0_u64;
    let mut rows = SubtestRows::default();
    let mut begun = BegunTests::default();
    let mut file: Option<ShownFile> = None;
    let (mut wrong, mut is_red) = (0_u64, false);
    let mut bailed = None;
    let mut bats = BatsRun::default();
    // A failed test, or the failure of a suite.
    let mut open: Option<OpenPoint> = None;
    let mut cancelled: Vec<OpenPoint> = Vec::new();
    let text_limit = machine.limits.text;
    // How far the block of YAML is indented that is open.
    let mut block: Option<usize> = None;
    let mut close = |machine: &mut Machine<'_>, open: &mut Option<OpenPoint>| {
        let Some(ended) = open.take() else { return };
        if ended.sums_up && ended.is_cancelled() {
            // The suite around it says why.
        } else if ended.sums_up {
            let inside = cancelled.iter().position(|one| one.indent > ended.indent);
            for mut one in cancelled.drain(inside.unwrap_or(cancelled.len())..) {
                one.take_hook(&ended);
                one.give(machine);
            }
        } else if ended.is_cancelled() && cancelled.len() < CANCELLED {
            cancelled.push(ended);
        } else {
            ended.give(machine);
        }
    };
    let mut counting = false;
    while let Some(whole) = line(source, machine.limits.token, &mut buffer)? {
        let text = whole.trim_start();
        let indent = whole.len() - text.len();
        if let Some(margin) = block {
            let is_inside = text.is_empty() || indent >= margin;
            // One that stands further in is a line of a text.
            if is_inside && !(text == "..." && indent == margin) {
                let said = open.as_mut().map(|open| &mut open.said);
                if let Some(said) = said.filter(|said| said.len() < 2 * text_limit) {
                    let line = whole.get(margin..).unwrap_or_default();
                    said.push_str(&line[..line.floor_char_boundary(text_limit)]);
                    said.push('\n');
                }
                continue;
            }
            block = None;
            if is_inside {
                continue;
            }
        }
        if let Some(path) = begun_file(whole) {
            close(machine, &mut open);
            rows = SubtestRows::default();
            begun = BegunTests::default();
            file = Some(ShownFile::new(path));
        } else if let Some(shown) = &mut file
            && ends_file(text)
        {
            close(machine, &mut open);
            rows = SubtestRows::default();
            begun = BegunTests::default();
            if let Some(failure) = shown.failed_by_itself(text) {
                wrong += 1;
                let outcome = CaseOutcome::Failed;
                give(machine, ["", &shown.path], None, outcome, Some(failure));
            }
        } else if whole.trim_end() == "Result: FAIL" {
            is_red = true;
        } else if let Some(found) = point(text) {
            let last = open.as_mut().filter(|_| found.failed());
            let between = last.map(|last| {
                last.between
                    .of_next(&mut last.said, [&last.point.name, &found.name])
            });
            close(machine, &mut open);
            counting = false;
            seen += u64::from(indent == 0);
            let is_wrong = u64::from(found.failed());
            wrong += is_wrong;
            if let Some(shown) = file.as_mut().filter(|_| indent == 0) {
                shown.failed += is_wrong;
            }
            let sums_up = rows.sums_up(indent, &found);
            begun.end(indent);
            if let Some(number) = found.number.filter(|_| indent == 0) {
                bats.numbered(number, &found.name);
            }
            if found.failed() {
                bats.failed(&found.name);
                open = Some(OpenPoint {
                    point: found,
                    said: String::new(),
                    between: between.unwrap_or_default(),
                    indent,
                    around: begun.around(indent),
                    sums_up,
                });
            } else if !sums_up {
                let outcome = if found.skipped || found.todo {
                    CaseOutcome::Skipped
                } else {
                    CaseOutcome::Passed
                };
                suite(machine, &begun.around(indent), |machine| {
                    give(machine, ["", &found.name], found.seconds, outcome, None);
                });
            }
        } else if let Some(reason) = text.strip_prefix("Bail out!") {
            bailed = Some(reason.trim().to_owned());
        } else if let Some(plan) = text.strip_prefix("1..")
            && indent == 0
        {
            let count = plan.split([' ', '#']).next();
            let count: Option<u64> = count.and_then(|count| count.parse().ok());
            // Of several files in one stream, each has its own.
            planned = count.map(|count| count.saturating_add(planned.unwrap_or(0)));
        } else if let Some(name) = text.strip_prefix("# Subtest:") {
            close(machine, &mut open);
            begun.begin(indent, name.trim(), machine.limits.name);
        } else if text == "---" && indent > 0 {
            block = Some(indent);
        } else if bats.warned(text) {
            // It is said of the run.
        } else if begins_counts(text) || counting && counts(text) {
            // It is said of all tests, and of none.
            counting = true;
        } else if let Some(open) = &mut open
            && open.said.len() < 2 * text_limit
        {
            let text = text
                .strip_prefix("# ")
                .unwrap_or(whole.strip_prefix("  ").unwrap_or(whole));
            let said = &mut open.said;
            said.push_str(&text[..text.floor_char_boundary(text_limit)]);
            said.push('\n');
        } else if let Some(shown) = file.as_mut().filter(|shown| shown.said.len() < text_limit) {
            let text = text.strip_prefix("# ").unwrap_or(text);
            shown
                .said
                .push_str(&text[..text.floor_char_boundary(text_limit)]);
            shown.said.push('\n');
        }
    }
    close(machine, &mut open);
    for one in cancelled {
        one.give(machine);
    }
    if is_red && wrong == 0 {
        machine.broken(|| "prove says that it failed, and shows no test that did".to_owned());
    }
    if let Some(reason) = bailed {
        machine.broken(|| format!("the run was given up: {reason}"));
    }
    match planned {
        Some(planned) if planned != seen => {
            if let Some(why) = bats.explains(planned, seen) {
                machine.warn(&why);
                return Ok(());
            }
            machine.broken(|| {
                let were = if planned == 1 { "was" } else { "were" };
                let planned = plural(planned, "test");
                format!("{planned} {were} planned, and {seen} written")
            });
        }
        Some(_) => {}
        None => machine.broken(|| "the plan (`1..N`) is missing: it was cut off".to_owned()),
    }
    Ok(())
}

/// Whether the counts of a producer begin here, which stand behind the last test: `1..3` or
/// `# tests 3`. A test may say itself what passes.
fn begins_counts(text: &str) -> bool {
    let count = text
        .strip_prefix("1..")
        .or_else(|| text.strip_prefix("# tests "));
    count.is_some_and(|count| count.trim().parse::<u64>().is_ok())
}

/// Whether a line counts tests: `# fail 2`.
fn counts(text: &str) -> bool {
    const OF_TESTS: WordList =
        WordList("tests pass fail ok skip skipped todo suites cancelled duration_ms");
    let Some(said) = text.strip_prefix("# ") else {
        return false;
    };
    let mut words = said.split_whitespace();
    let is_of_tests = words.next().is_some_and(|word| OF_TESTS.has(word));
    is_of_tests
        && words
            .next()
            .is_none_or(|count| count.parse::<f64>().is_ok())
        && words.next().is_none()
}

/// `message: …` of the block that follows a failed test.
fn yaml_message(text: &str) -> Option<String> {
    let keys = ["message:", "error:"];
    let mut lines = text.lines();
    let value = lines.find_map(|line| {
        let line = line.trim_start();
        keys.iter().find_map(|key| line.strip_prefix(key))
    })?;
    let value = value.trim();
    // A block that goes on below is read with the text.
    let block = matches!(value, "" | "|" | "|-" | ">" | ">-");
    (!block).then(|| unquoted(value))
}
