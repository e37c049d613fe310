//! Reports that are lines: the events of `go test -json`, and what they share with
//! [TAP](super::tap).

use super::case::CaseOutcome;
use super::go_reruns::{EndedTest, Reruns};
use super::identity::hash;
use super::limits::ReaderLimits;
use super::machine::{BETWEEN, Machine};
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
pub(super) fn line<'b>(
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
pub(super) fn give(
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
    if let Some(failure) = &failure {
        case.file
            .push_str(failure.file.as_deref().unwrap_or_default());
        case.line = failure.line;
    }
    case.failures.extend(failure);
    machine.end_case();
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
    // What panicked in a test that is told to have failed, by package.
    let mut panics: HashMap<String, String> = HashMap::new();
    let mut reruns = Reruns::default();
    // Lines that are no events: what the compiler said, mostly.
    let mut said = String::new();
    let limits = machine.limits;
    let mut torn = false;
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
                // Go writes each event as a whole, with the end of its line.
                let begins = ["{\"Time\":", "{\"Action\":", "{\"ImportPath\":"];
                torn = begins.iter().any(|begin| text.starts_with(begin)) && !text.ends_with('}');
                strange += 1;
                if said.len() < limits.text {
                    said.push_str(&text[..text.floor_char_boundary(limits.text)]);
                    said.push('\n');
                }
            }
            continue;
        };
        torn = false;
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
                if !tests.is_empty() {
                    reruns.are_of_others(machine);
                }
                let panic = panics.get(&package).map_or(&*output, String::as_str);
                let ended = ended_with(machine, &package, &tests, panic, &mut running);
                *failed.entry(package.clone()).or_default() += ended;
            }
            if unended.get(&package).is_some_and(BTreeSet::is_empty) {
                unended.remove(&package);
            }
            if outcome == CaseOutcome::Failed
                && failed.get(&package).is_none_or(|count| *count == 0)
            {
                package_failed(machine, &package, &output);
            }
            failed.remove(&package);
            reruns.end(&package);
            continue;
        }
        if let Some(running) = unended.get_mut(&package) {
            running.remove(&event.test);
        }
        let failure = (outcome == CaseOutcome::Failed).then(|| {
            *failed.entry(package.clone()).or_default() += 1;
            let output = output.trim_end();
            if panicked(output) {
                panics.insert(package.clone(), output.to_owned());
            }
            Failure {
                element: Some("failure".to_owned()),
                text: (!output.is_empty()).then(|| output.to_owned()),
                ..Failure::default()
            }
        });
        let ended = EndedTest {
            name: event.test,
            seconds: event.elapsed,
            outcome,
            failure,
        };
        reruns.test(machine, &package, ended);
    }
    if strange > 0 {
        machine.warn(&format!(
            "{} of it, no events of a test, passed over",
            plural(strange, "line")
        ));
    }
    if !unended.is_empty() {
        reruns.are_of_others(machine);
    }
    reruns.settle(machine);
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
    } else if torn {
        machine.broken(|| "its last line is not whole: it was cut off".to_owned());
    }
    Ok(())
}

/// Whether Go tells on a line of its own that it ends the program.
fn panicked(output: &str) -> bool {
    output.lines().any(|line| line.starts_with("panic: "))
}

/// The tests that ran when their package failed: its time was up, or something
/// panicked or called `os.Exit`. What that wrote stands under one of them, under
/// one that is told to have failed, or under the package, as `output`. Answers how
/// many failed.
fn ended_with(
    machine: &mut Machine<'_>,
    package: &str,
    tests: &BTreeSet<String>,
    output: &str,
    running: &mut Running,
) -> u64 {
    let mut told: Vec<(&String, String)> = tests
        .iter()
        .map(|test| (test, running.take_of(package, test)))
        .collect();
    // The test under which it stands began last, and is looked at first.
    told.sort_by_key(|(_, said)| !panicked(said));
    let panic = told
        .iter()
        .map(|(_, said)| said.as_str())
        .find(|said| panicked(said))
        .unwrap_or(output)
        .trim_end()
        .to_owned();
    let ran = running_at_timeout(&panic);
    let (mut failed, mut untold) = (0, 0_u64);
    for (test, said) in told {
        let did_run = ran.as_ref().is_none_or(|ran| ran.contains(test.as_str()));
        let failure = did_run.then(|| {
            let own = said.trim_end();
            // What a test printed itself is not lost, unless the time was up for all.
            let says = !own.is_empty() && ran.is_none();
            let text = if panicked(own) || says || panic.is_empty() {
                own
            } else {
                &panic
            };
            Failure {
                element: Some("failure".to_owned()),
                text: (!text.is_empty()).then(|| text.to_owned()),
                ..Failure::default()
            }
        });
        let outcome = if did_run {
            failed += 1;
            CaseOutcome::Failed
        } else {
            untold += 1;
            CaseOutcome::Skipped
        };
        suite(machine, package, |machine| {
            give(machine, [package, test.as_str()], None, outcome, failure);
        });
    }
    if untold > 0 {
        machine.warn(&format!(
            "{} of {package} that did not run when the time was up, and of which no result is \
             told, counted as skipped",
            plural(untold, "test")
        ));
    }
    failed
}

/// The tests that ran when the time was up, as Go names them since 1.20:
/// `\tTestA/b (2s)`, a line each. Those that wait or have ended are not among them.
fn running_at_timeout(panic: &str) -> Option<BTreeSet<&str>> {
    let (_, behind) = panic.split_once("panic: test timed out after ")?;
    let (_, list) = behind.split_once("\nrunning tests:\n")?;
    let ran: BTreeSet<&str> = list
        .lines()
        .map_while(|line| Some(line.strip_prefix('\t')?.rsplit_once(" (")?.0))
        .collect();
    (!ran.is_empty()).then_some(ran)
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
