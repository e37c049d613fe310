//! The retryable failures of an account → tests and commands.

use super::framework::target;
use super::origins::{IsFile, Origins, RetriedTest, builds_of, home, project};
use super::recipe::Recipe;
use super::target::Target;
use crate::frameworks::of_writer;
use crate::survey::words;
use jelly_base::model::{FailureStatus, FailureView, Failures, ReportSummary, RetryPlan};
use jelly_base::text::redact::MARK;
use jelly_base::text::{is_sayable, plural, shell_path, shell_word};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// What a command runs besides its tests is told of this many of them.
const TOLD: usize = 5;

/// The variable of a command whose program no report names.
const PROGRAM: &str = "TEST_BINARY";

/// What a rerun has to know of a case besides what is printed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// The writer, where it is not that of the whole report.
    pub dialect: Option<String>,
    /// Other cases of the report stand below this one, as the tests of a suite
    /// whose hook failed.
    pub is_group: bool,
    /// The file of the test, where only the failure tells it.
    pub file: Option<String>,
    /// What else only the failure tells of the test, by name.
    pub told: Vec<(&'static str, String)>,
}

/// By the path of the report and the ordinal of the case.
pub type Hints = HashMap<(String, u64), Hint>;

/// What to run again: every test that failed, still fails, and failed of
/// nothing but causes that may pass by themselves. The folder of a project is
/// looked for by `is_file`.
#[must_use]
pub fn plan(
    failures: &Failures,
    reports: &[ReportSummary],
    hints: &Hints,
    is_file: Option<IsFile>,
) -> RetryPlan {
    let found = retried(failures, reports, hints, is_file);
    let origins = Origins::new(reports, &found);
    let mut tests = BTreeSet::new();
    let mut without = BTreeSet::new();
    let mut notes: BTreeSet<&'static str> = BTreeSet::new();
    let mut also = BTreeSet::new();
    let mut commands: BTreeMap<Option<&str>, OriginCommands> = BTreeMap::new();
    for test in found {
        let label = origins.label(&test).map(listed);
        let own = commands.entry(origins.of(&test)).or_default();
        let RetriedTest { id, target, .. } = test;
        let name = match label {
            Some(label) => format!("{id} [{label}]"),
            None => id,
        };
        match target {
            Some(target) => {
                notes.extend(target.note);
                also.extend(target.also);
                own.files.extend(target.file);
                let names = own.recipes.entry(target.recipe).or_default();
                names.extend(target.names);
            }
            None => {
                without.insert(name.clone());
            }
        }
        tests.insert(name);
    }
    let besides = besides(&also);
    RetryPlan {
        tests: tests.into_iter().collect(),
        commands: lines(commands, &origins, is_file),
        without_command: without.into_iter().collect(),
        notes: besides
            .into_iter()
            .chain(notes.into_iter().map(str::to_owned))
            .collect(),
    }
}

/// The tests to be run again, each with how its framework selects it.
fn retried<'f>(
    failures: &'f Failures,
    reports: &[ReportSummary],
    hints: &Hints,
    is_file: Option<IsFile>,
) -> Vec<RetriedTest<'f>> {
    let dialects: HashMap<&str, &str> = reports
        .iter()
        .map(|report| (report.path.as_str(), report.dialect.as_str()))
        .collect();
    let hint = |test: &FailureView<'_>| {
        // Looked up where there is one at all: there may be many failures.
        let hints = Some(hints).filter(|hints| !hints.is_empty());
        hints.and_then(|hints| hints.get(&(test.report.to_owned(), test.ordinal)))
    };
    let none = Hint::default();
    let retried = |test: FailureView<'f>| {
        let hint = hint(&test);
        let of_report = || dialects.get(test.report).copied();
        let hint = hint.unwrap_or(&none);
        let dialect = hint
            .dialect
            .as_deref()
            .or_else(of_report)
            .unwrap_or_default();
        let of = |test: &FailureView<'_>| target(dialect, test, hint);
        let target = of(&test)
            .map(|target| match standing_alone(&test, &target, is_file) {
                Some(report) => Target {
                    module: None,
                    ..of(&FailureView { report, ..test }).unwrap_or(target)
                },
                None => target,
            })
            .map(|target| naming_its_file(&test, dialect, target, is_file))
            .filter(|target| is_writable(target) && !is_masked(&test, hint));
        let id = match &target {
            Some(target) => listed(&target.id),
            None => listed(&test.title()),
        };
        RetriedTest {
            report: test.report,
            id,
            target,
        }
    };
    retryable(failures).into_iter().map(retried).collect()
}

/// The path of a report from the folder of its project, where that stands alone: a command names
/// a module to the project around it, if there is one.
fn standing_alone<'t>(
    test: &FailureView<'t>,
    target: &Target,
    is_file: Option<IsFile>,
) -> Option<&'t str> {
    let (module, is_file) = (target.module.as_deref()?, is_file?);
    let builds = builds_of(target.recipe.before.first()?)?;
    let folder = module.trim_start_matches(':').replace(':', "/");
    let has = |folder: &str| {
        let files = builds.iter().map(|build| Path::new(folder).join(build));
        files.into_iter().any(|file| is_file(&file))
    };
    if has("") || !has(&folder) {
        return None;
    }
    let report = test.report.trim_start_matches("./");
    report.strip_prefix(&*folder)?.strip_prefix('/')
}

/// The command with the file of its test, where no configuration above that tells which tests
/// there are.
fn naming_its_file(
    test: &FailureView<'_>,
    dialect: &str,
    mut target: Target,
    is_file: Option<IsFile>,
) -> Target {
    let configurations = of_writer(dialect).map_or(&[][..], |known| known.rerun.configured_by);
    if let (Some(file), Some(is_file), false) = (test.file, is_file, configurations.is_empty()) {
        let has_one = |folder: &Path| {
            configurations
                .iter()
                .any(|name| is_file(&folder.join(name)))
        };
        let path = Path::new(file);
        if is_file(path) && !path.ancestors().skip(1).any(has_one) {
            let is_option = file.starts_with('-');
            let file = if is_option {
                format!("./{file}")
            } else {
                file.to_owned()
            };
            target.recipe.after.push(file);
        }
    }
    target
}

/// What runs the tests of one origin.
#[derive(Default)]
struct OriginCommands {
    recipes: BTreeMap<Recipe, BTreeSet<String>>,
    files: BTreeSet<String>,
}

impl OriginCommands {
    fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        for (recipe, names) in other.recipes {
            self.recipes.entry(recipe).or_default().extend(names);
        }
    }

    fn change(&mut self, changed: impl Fn(Recipe) -> Recipe) {
        for (recipe, names) in std::mem::take(&mut self.recipes) {
            let known = self.recipes.entry(changed(recipe)).or_default();
            known.extend(names);
        }
    }

    /// Whether a test is among those of another origin, too, as of two legs.
    fn shares_tests(&self, other: &Self) -> bool {
        let shared = |(recipe, names): (&Recipe, &BTreeSet<String>)| {
            let others = other.recipes.get(recipe);
            others.is_some_and(|others| !names.is_disjoint(others))
        };
        self.recipes.iter().any(shared)
    }
}

/// The commands of one origin, or of several whose project is the same.
struct ProjectCommands<'o> {
    origin: Option<&'o str>,
    home: Option<PathBuf>,
    commands: OriginCommands,
}

/// The command lines of all origins.
fn lines(
    commands: BTreeMap<Option<&str>, OriginCommands>,
    origins: &Origins<'_>,
    is_file: Option<IsFile>,
) -> Vec<String> {
    let mut projects: Vec<ProjectCommands<'_>> = Vec::new();
    for (origin, own) in commands {
        let home = origin.zip(is_file).and_then(|(origin, is_file)| {
            // The report of the only project may lie anywhere, as in a folder of temporary files.
            let is_elsewhere = Path::new(origin).is_absolute() && !origins.is_apart(origin);
            let by_project = || {
                let mut programs = own.recipes.keys().map(|recipe| recipe.before.first());
                let first = programs.next()??;
                let is_one = own.files.is_empty() && programs.all(|it| it == Some(first));
                project(origin, first, is_file).filter(|_| is_one && !is_elsewhere)
            };
            let here = match is_elsewhere {
                true => home("", &own.files, is_file),
                false => None,
            };
            here.or_else(|| home(origin, &own.files, is_file))
                .or_else(by_project)
        });
        let is_apart = |origin: Option<&str>| origin.is_some_and(|it| origins.is_apart(it));
        let known = projects.iter_mut().find(|known| {
            let is_like = known.home == home && is_apart(known.origin) == is_apart(origin);
            is_like && !known.commands.shares_tests(&own)
        });
        match known.filter(|known| known.home.is_some()) {
            Some(known) => known.commands.extend(own),
            None => projects.push(ProjectCommands {
                origin,
                home,
                commands: own,
            }),
        }
    }
    for project in &mut projects {
        // Commands without a home that name their project run where jelly does.
        let here = project.origin.is_none().then(PathBuf::new);
        if let (Some(folder), Some(is_file)) = (project.home.clone().or(here), is_file) {
            let has = |file: &str| is_file(&folder.join(file));
            project.commands.change(|recipe| recipe.in_project(has));
        }
    }
    let mut shared: HashMap<PathBuf, usize> = HashMap::new();
    for home in projects.iter().filter_map(|project| project.home.clone()) {
        *shared.entry(home).or_default() += 1;
    }
    number_programs(&mut projects);
    let mut lines = Vec::new();
    for project in &projects {
        let home = project.home.as_deref();
        let is_shared = home.is_some_and(|home| shared.get(home).is_some_and(|n| *n > 1));
        let is_alone = home.is_some() && !is_shared;
        let is_told = |origin: &&str| !is_alone && origins.is_apart(origin);
        let label = project.origin.filter(is_told);
        let (before, after) = around(label.map(|origin| origins.name(origin)), home);
        for (recipe, names) in &project.commands.recipes {
            let names: Vec<String> = names.iter().cloned().collect();
            let of_recipe = recipe.lines(&names, before.len() + after.len());
            lines.extend(
                of_recipe
                    .iter()
                    .map(|line| format!("{before}{line}{after}")),
            );
        }
    }
    lines
}

/// Where several programs are to be told, each is told by a variable of its own.
fn number_programs(projects: &mut [ProjectCommands<'_>]) {
    let is_asked = |project: &&mut ProjectCommands<'_>| {
        let mut recipes = project.commands.recipes.keys();
        recipes.any(|recipe| recipe.raw.is_some())
    };
    let mut asked: Vec<_> = projects.iter_mut().filter(is_asked).collect();
    if asked.len() < 2 {
        return;
    }
    for (at, project) in asked.iter_mut().enumerate() {
        let own = format!("{PROGRAM}_{}", at + 1);
        project.commands.change(|mut recipe| {
            recipe.raw = recipe.raw.map(|raw| raw.replace(PROGRAM, &own));
            recipe
        });
    }
}

/// What stands before and behind a command of an origin, so that it runs in the
/// folder of its project, or is told apart from those of others: as the argument of a command
/// that does nothing, since not every shell knows comments where it is typed into.
fn around(label: Option<&str>, home: Option<&Path>) -> (String, &'static str) {
    let label = label.map_or_else(String::new, |name| {
        format!(": {}; ", shell_word(&listed(name)))
    });
    let home = home.and_then(Path::to_str);
    match home.filter(|home| !matches!(*home, "" | ".") && is_sayable(home)) {
        Some(home) => (format!("{label}(cd {} && ", shell_path(home)), ")"),
        None => (label, ""),
    }
}

/// What the commands run besides the tests, in a sentence.
fn besides(also: &BTreeSet<String>) -> Option<String> {
    let mut told: Vec<String> = also.iter().take(TOLD).map(|what| listed(what)).collect();
    let more = also.len() - told.len();
    if more > 0 {
        told.push(plural(more, "more group"));
    }
    let told = words::list(&told);
    (!told.is_empty())
        .then(|| format!("Also runs {told}: the framework, or the report, names nothing smaller."))
}

/// The tests all of whose causes may pass by themselves, one view each.
fn retryable(failures: &Failures) -> Vec<FailureView<'_>> {
    fn identity<'t>(test: &FailureView<'t>) -> [&'t str; 4] {
        [test.report, test.suite, test.classname, test.name]
    }
    let stands = |test: &FailureView<'_>| test.status != FailureStatus::Flaky;
    let hopeless: BTreeSet<[&str; 4]> = failures
        .iter()
        .filter(|test| stands(test) && test.kind.retryable != Some(true))
        .map(|test| identity(&test))
        .collect();
    failures
        .iter()
        .filter(|test| stands(test) && test.kind.retryable == Some(true))
        .filter(|test| hopeless.is_empty() || !hopeless.contains(&identity(test)))
        .collect()
}

/// Whether a name stands for the value of a secret: no test is called so, and a command that
/// names it would select nothing.
fn is_masked(test: &FailureView<'_>, hint: &Hint) -> bool {
    let told = hint.told.iter().map(|(_, told)| told.as_str());
    let named = [test.suite, test.classname, test.name];
    let files = test.file.into_iter().chain(hint.file.as_deref());
    let mut texts = named.into_iter().chain(files).chain(told);
    let begin = MARK.trim_end_matches(']');
    texts.any(|text| text.contains(begin))
}

fn is_writable(target: &Target) -> bool {
    let words = target.recipe.before.iter().chain(&target.recipe.after);
    words.chain(&target.names).all(|word| is_sayable(word))
}

/// A name on one line of a list.
fn listed(name: &str) -> String {
    if is_sayable(name) {
        return name.to_owned();
    }
    name.chars()
        .map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            c if c.is_control() => "\u{fffd}".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
