//! Reports that are lines: TAP 13 and 14, and the events of `go test -json`.

use super::attributes::seconds;
use super::case::CaseOutcome;
use super::dialect::writer_by_text;
use super::identity::hash;
use super::limits::ReaderLimits;
use super::machine::{BETWEEN, Machine};
use super::prove::{ShownFile, begun_file, ends_file};
use super::source::BoundedSource;
use jelly_base::model::Failure;
use jelly_base::text::plural;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, Read};

/// Tests of one run whose output is kept while they run.
const RUNNING: usize = 10_000;

/// Bytes of output that are kept of all running tests together.
const OUTPUT: usize = 8 << 20;

/// The next line, without its end. Of one that is too long, the beginning.
fn line<'b>(
    source: &mut BoundedSource<'_>,
    limit: usize,
    buffer: &'b mut Vec<u8>,
) -> io::Result<Option<&'b str>> {
    buffer.clear();
    let read = source
        .by_ref()
        .take(limit as u64)
        .read_until(b'\n', buffer)?;
    if read == 0 {
        return Ok(None);
    }
    if buffer.last() != Some(&b'\n') && read == limit {
        source.skip_until(b'\n')?;
    }
    let text = match std::str::from_utf8(buffer) {
        Ok(text) => text,
        // Cut within a character.
        Err(error) => std::str::from_utf8(&buffer[..error.valid_up_to()]).unwrap_or_default(),
    };
    Ok(Some(text.trim_end_matches(['\n', '\r'])))
}

/// Hands on one case, with its failure if it has one.
fn give(
    machine: &mut Machine<'_>,
    names: [&str; 2],
    seconds: Option<f64>,
    outcome: CaseOutcome,
    failure: Option<Failure>,
) {
    let limit = machine.limits.name;
    let Some(case) = machine.open_case() else {
        return;
    };
    let [class, name] = names;
    case.classname
        .push_str(&class[..class.floor_char_boundary(limit)]);
    case.name.push_str(&name[..name.floor_char_boundary(limit)]);
    case.duration_s = seconds;
    case.told = Some(outcome);
    case.failures.extend(failure);
    machine.end_case();
}

/// What a line of TAP says of one test.
struct Point {
    ok: bool,
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
    let mut file: Option<ShownFile> = None;
    let (mut wrong, mut is_red) = (0_u64, false);
    let mut bailed = None;
    // A failed test, and what is said of it in the lines after it.
    let mut open: Option<(Point, String)> = None;
    let text_limit = machine.limits.text;
    let close = |machine: &mut Machine<'_>, open: &mut Option<(Point, String)>| {
        let Some((point, text)) = open.take() else {
            return;
        };
        let text = text.trim_end();
        if let Some(writer) = writer_by_text(text) {
            machine.take_for(writer);
        }
        let failure = Failure {
            element: Some("failure".to_owned()),
            message: yaml_message(text),
            text: (!text.is_empty()).then(|| text.to_owned()),
            ..Failure::default()
        };
        give(
            machine,
            ["", &point.name],
            point.seconds,
            CaseOutcome::Failed,
            Some(failure),
        );
    };
    while let Some(whole) = line(source, machine.limits.token, &mut buffer)? {
        let text = whole.trim_start();
        let indent = whole.len() - text.len();
        if let Some(path) = begun_file(whole) {
            close(machine, &mut open);
            rows = SubtestRows::default();
            file = Some(ShownFile::new(path));
        } else if let Some(shown) = &mut file
            && ends_file(text)
        {
            close(machine, &mut open);
            rows = SubtestRows::default();
            if let Some(failure) = shown.failed_by_itself(text) {
                wrong += 1;
                let outcome = CaseOutcome::Failed;
                give(machine, ["", &shown.path], None, outcome, Some(failure));
            }
        } else if whole.trim_end() == "Result: FAIL" {
            is_red = true;
        } else if let Some(found) = point(text) {
            close(machine, &mut open);
            seen += u64::from(indent == 0);
            let is_wrong = u64::from(found.failed());
            wrong += is_wrong;
            if let Some(shown) = file.as_mut().filter(|_| indent == 0) {
                shown.failed += is_wrong;
            }
            if rows.sums_up(indent, &found) {
                continue;
            }
            if found.failed() {
                open = Some((found, String::new()));
            } else {
                let outcome = if found.skipped || found.todo {
                    CaseOutcome::Skipped
                } else {
                    CaseOutcome::Passed
                };
                give(machine, ["", &found.name], found.seconds, outcome, None);
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
        } else if text.starts_with("# Subtest:") {
            // It names the test that comes.
            close(machine, &mut open);
        } else if let Some((_, said)) = &mut open
            && !matches!(text, "---" | "...")
            && said.len() < 2 * text_limit
        {
            let text = text
                .strip_prefix("# ")
                .unwrap_or(whole.strip_prefix("  ").unwrap_or(whole));
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
    if is_red && wrong == 0 {
        machine.broken(|| "prove says that it failed, and shows no test that did".to_owned());
    }
    if let Some(reason) = bailed {
        machine.broken(|| format!("the run was given up: {reason}"));
    }
    match planned {
        Some(planned) if planned != seen => {
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

/// `message: …` of the block that follows a failed test.
fn yaml_message(text: &str) -> Option<String> {
    let keys = ["message:", "error:"];
    let mut lines = text.lines();
    let value = lines.find_map(|line| {
        let line = line.trim_start();
        keys.iter().find_map(|key| line.strip_prefix(key))
    })?;
    let value = value.trim().trim_matches(['\'', '"']);
    // A block that goes on below is read with the text.
    let block = matches!(value, "" | "|" | "|-" | ">" | ">-");
    (!block).then(|| value.to_owned())
}

/// One event of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    import_path: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    elapsed: Option<f64>,
    #[serde(default)]
    output: String,
}

/// Output by package and test; the package's own stands under no test.
#[derive(Default)]
struct Running {
    outputs: HashMap<(String, String), String>,
    size: usize,
}

impl Running {
    fn add(&mut self, event: &Event, limits: &ReaderLimits) {
        // Of what frames the output there is nothing to learn.
        let frame = ["=== ", "--- PASS", "ok  \t", "PASS\n", "--- SKIP"];
        let line = event.output.trim_start();
        if frame.iter().any(|begin| line.starts_with(begin)) || self.size > OUTPUT {
            return;
        }
        let key = (event.package_path().to_owned(), event.test.clone());
        if self.outputs.len() >= RUNNING && !self.outputs.contains_key(&key) {
            return;
        }
        let output = self.outputs.entry(key).or_default();
        if output.len() < 2 * limits.text {
            output.push_str(&event.output);
            self.size += event.output.len();
        }
    }

    fn take(&mut self, event: &Event) -> String {
        self.take_of(event.package_path(), &event.test)
    }

    fn take_of(&mut self, package: &str, test: &str) -> String {
        let key = (package.to_owned(), test.to_owned());
        let output = self.outputs.remove(&key).unwrap_or_default();
        self.size = self.size.saturating_sub(output.len());
        output
    }
}

impl Event {
    fn package_path(&self) -> &str {
        if self.package.is_empty() {
            // `pkg [pkg.test]`
            self.import_path.split(' ').next().unwrap_or_default()
        } else {
            &self.package
        }
    }
}

/// Reads the events of `go test -json`.
pub(super) fn go_test(source: &mut BoundedSource<'_>, machine: &mut Machine<'_>) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut running = Running::default();
    // Tests that failed, by package.
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    let mut strange = 0_u64;
    // Packages of which tests were told, and not yet how they ended, with the
    // tests that run.
    let mut unended: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Lines that are no events: what the compiler said, mostly.
    let mut said = String::new();
    let limits = machine.limits;
    while let Some(text) = line(source, 1 << 20, &mut buffer)? {
        if text.trim().is_empty() {
            continue;
        }
        let Ok(event) = serde_json::from_str::<Event>(text) else {
            if let Some(package) = not_built(text) {
                // What the compiler said may stand in another stream.
                said.push_str(text);
                *failed.entry(package.to_owned()).or_default() += 1;
                package_failed(machine, package, &said);
                said.clear();
                strange = 0;
            } else if text.trim() != "FAIL" {
                strange += 1;
                if said.len() < limits.text {
                    said.push_str(&text[..text.floor_char_boundary(limits.text)]);
                    said.push('\n');
                }
            }
            continue;
        };
        let outcome = match event.action.as_str() {
            "output" | "build-output" => {
                running.add(&event, &limits);
                continue;
            }
            "run" => {
                let running = unended.entry(event.package_path().to_owned()).or_default();
                running.insert(event.test);
                continue;
            }
            "pass" => CaseOutcome::Passed,
            "fail" => CaseOutcome::Failed,
            "skip" => CaseOutcome::Skipped,
            _ => continue,
        };
        let package = event.package_path().to_owned();
        let output = running.take(&event);
        if event.test.is_empty() {
            if outcome == CaseOutcome::Failed
                && let Some(tests) = unended.remove(&package)
            {
                *failed.entry(package.clone()).or_default() += tests.len() as u64;
                ended_with(machine, &package, &tests, &output, &mut running);
            }
            if unended.get(&package).is_some_and(BTreeSet::is_empty) {
                unended.remove(&package);
            }
            if outcome == CaseOutcome::Failed
                && failed.get(&package).is_none_or(|count| *count == 0)
            {
                package_failed(machine, &package, &output);
            }
            continue;
        }
        if let Some(running) = unended.get_mut(&package) {
            running.remove(&event.test);
        }
        let failure = (outcome == CaseOutcome::Failed).then(|| {
            *failed.entry(package.clone()).or_default() += 1;
            let output = output.trim_end();
            Failure {
                element: Some("failure".to_owned()),
                text: (!output.is_empty()).then(|| output.to_owned()),
                ..Failure::default()
            }
        });
        suite(machine, &package, |machine| {
            give(
                machine,
                [&package, &event.test],
                event.elapsed,
                outcome,
                failure,
            );
        });
    }
    if strange > 0 {
        machine.warn(&format!(
            "{} of it, no events of a test, passed over",
            plural(strange, "line")
        ));
    }
    let begun: usize = unended.values().map(BTreeSet::len).sum();
    if begun > 0 {
        machine.broken(|| {
            format!(
                "{} began and did not end: it was cut off",
                plural(begun, "test")
            )
        });
    } else if let Some(package) = unended.keys().next() {
        machine.broken(|| format!("the package {package} did not end: it was cut off"));
    }
    Ok(())
}

/// The tests that ran when their package failed: its time was up, or something
/// panicked or called `os.Exit`. What that wrote stands under one of them, or
/// under the package.
fn ended_with(
    machine: &mut Machine<'_>,
    package: &str,
    tests: &BTreeSet<String>,
    output: &str,
    running: &mut Running,
) {
    let told: Vec<(&String, String)> = tests
        .iter()
        .map(|test| (test, running.take_of(package, test)))
        .collect();
    let panic = told
        .iter()
        .map(|(_, said)| said.as_str())
        .find(|said| said.contains("panic: "))
        .unwrap_or(output)
        .trim_end()
        .to_owned();
    for (test, said) in told {
        let own = said.trim_end();
        let text = if own.contains("panic: ") || panic.is_empty() {
            own
        } else {
            &panic
        };
        let failure = Failure {
            element: Some("failure".to_owned()),
            text: (!text.is_empty()).then(|| text.to_owned()),
            ..Failure::default()
        };
        suite(machine, package, |machine| {
            let names = [package, test.as_str()];
            give(machine, names, None, CaseOutcome::Failed, Some(failure));
        });
    }
}

/// The package of `FAIL<tab>package [build failed]`, which older versions
/// write as a plain line.
fn not_built(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAIL\t")?.trim_end();
    let package = rest
        .strip_suffix("[build failed]")
        .or_else(|| rest.strip_suffix("[setup failed]"))?;
    Some(package.trim())
}

/// A package that failed without a test: it does not compile, or its `init`
/// or `TestMain` failed.
fn package_failed(machine: &mut Machine<'_>, package: &str, output: &str) {
    let output = output.trim_end().to_owned();
    suite(machine, package, |machine| {
        machine.open_case_of_suite();
        let Some(case) = machine.case() else { return };
        case.error = true;
        case.failures.push(Failure {
            element: Some("error".to_owned()),
            message: Some("the package failed without a test that failed".to_owned()),
            text: (!output.is_empty()).then_some(output),
            ..Failure::default()
        });
        machine.end_case();
    });
}

/// What happens inside a suite of this name.
pub(super) fn suite(machine: &mut Machine<'_>, name: &str, inside: impl FnOnce(&mut Machine<'_>)) {
    let before = machine.path.len();
    if !name.is_empty() && before < machine.limits.name {
        if before > 0 {
            machine.path.push_str(BETWEEN);
        }
        let limit = machine.limits.name;
        machine
            .path
            .push_str(&name[..name.floor_char_boundary(limit)]);
    }
    machine.path_hash = hash(&[&machine.path]);
    inside(machine);
    machine.path.truncate(before);
    machine.path_hash = hash(&[&machine.path]);
}
