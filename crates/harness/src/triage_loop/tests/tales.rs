//! Random histories: what happens to each step and server in each iteration
//! is drawn beforehand, and the loop is let loose on it.

use super::stage::{Script, ScriptedHooks, Stage, both_hooks, by_message};
use super::support::{server, skipped, step};
use crate::triage_loop::{
    Beside, EarlierStep, Foundations, Hook, IterationContext, PassedBefore, Ran, ResultSettings,
    StepFacts, definitions, step_facts,
};
use jelly_base::model::{
    Assertion, AssertionTarget, Because, Budgets, Diagnosis, ErrorCategory, Failure,
    IterationRecord, MismatchPlace, Outcome as Saw, Phase, PlanIssue, RunReport, Section,
    ServerState, Signal, StepReport, StepState,
};
use jelly_base::testing::slice;
use jelly_plan::{Plan, PlanSource};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// How many histories are told.
const TALES: usize = 2000;

pub(super) const STEPS: [&str; 5] = ["a", "b", "c", "d", "z"];

const PLAN: &str = r#"version: 1
name: tale
servers:
  files:
    command: srv
    args: ["--port=${port}", "${workspace}/gone", "/srv/gone"]
  other:
    command: srv
    request_timeout: 1s
steps:
  - { id: a, server: files, tool: tool_a, args: { path: "/srv/gone/a" } }
  - { id: b, server: files, tool: tool_b, args: { path: "${workspace}/gone/b" } }
  - { id: c, server: other, tool: tool_c, capture: { got: "$.content" } }
  - { id: d, server: other, tool: tool_d, args: { got: "${got}" } }
teardown:
  - { id: z, server: other, tool: tool_z }
"#;

/// What happens to a step when it is its turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fate {
    Passes,
    Wrong(u8),
    Slow,
    WrongAfterRestart(u8),
    /// `isError: false` with "Connection refused" in it.
    Refused,
    Crashes,
    BreaksContract,
    Hangs {
        life: bool,
    },
    /// Its tool does not exist; so many names are close.
    Unplayable(u8),
    Broken,
    Hiccup,
    /// A value that is another one each time, beside one that is wrong the
    /// same way, if there is one, and beside something else.
    Several {
        same: Option<u8>,
        beside: Besides,
    },
    /// It fails, and no record says why.
    Vanishes,
}

/// What else is wrong with an answer of which more is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Besides {
    Nothing,
    Slow,
    Refused,
    Breach,
    /// Its server was restarted before.
    Restart,
}

/// What happens to the server `files` at start-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    Fine,
    MissingInside,
    MissingOutside,
    PortTaken,
    Dead,
    Slow,
    /// Lost, and no record says why.
    Silent,
}

/// What cuts an iteration short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cut {
    None,
    Interrupt,
    Deadline,
    FailFast,
}

type Change = ([Option<Fate>; 5], Option<Start>, Option<Cut>);

#[derive(Debug, Clone)]
pub(super) struct Tale {
    /// By step, then the server's, then what cuts it short.
    first: ([Fate; 5], Start, Cut),
    /// What is another in the iterations after; the rest stays.
    changes: Vec<Change>,
    /// A repair ends its trouble.
    repairs_help: bool,
    hook_ends: Vec<bool>,
    hooks: (bool, bool),
    pub(super) trust_plan: bool,
    pub(super) strict: bool,
    pub(super) accept_repairs: bool,
    pub(super) budgets: Budgets,
    passed_before: bool,
    /// Step d is not selected.
    left_out: bool,
    signal: bool,
    seed: u64,
}

/// A tale and what came of it.
pub(super) struct Told {
    pub(super) tale: Tale,
    pub(super) report: RunReport,
    pub(super) final_plan: PathBuf,
    pub(super) reports: Vec<RunReport>,
    pub(super) iterations: Vec<Happened>,
    /// After which iteration which hook was called, and whether it said that
    /// something changed.
    pub(super) hooks: Vec<(u32, Hook, bool)>,
    pub(super) plan_untouched: bool,
}

/// One iteration as the executor saw it.
pub(super) struct Happened {
    pub(super) record: IterationRecord,
    pub(super) facts: BTreeMap<String, StepFacts>,
    /// Servers whose definition is not the original one.
    pub(super) edited_servers: BTreeSet<String>,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        110 => Just(Fate::Passes),
        9 => (0..2_u8).prop_map(Fate::Wrong),
        2 => Just(Fate::Slow),
        2 => (0..2_u8).prop_map(Fate::WrongAfterRestart),
        2 => Just(Fate::Refused),
        4 => Just(Fate::Crashes),
        2 => Just(Fate::BreaksContract),
        4 => any::<bool>().prop_map(|life| Fate::Hangs { life }),
        5 => (0..3_u8).prop_map(Fate::Unplayable),
        3 => Just(Fate::Broken),
        4 => Just(Fate::Hiccup),
        8 => (proptest::option::weighted(0.7, 0..2_u8), besides())
            .prop_map(|(same, beside)| Fate::Several { same, beside }),
        1 => Just(Fate::Vanishes),
    ]
}

fn besides() -> impl Strategy<Value = Besides> {
    prop_oneof![
        6 => Just(Besides::Nothing),
        2 => Just(Besides::Slow),
        1 => Just(Besides::Refused),
        1 => Just(Besides::Breach),
        1 => Just(Besides::Restart),
    ]
}

fn start() -> impl Strategy<Value = Start> {
    prop_oneof![
        30 => Just(Start::Fine),
        2 => Just(Start::MissingInside),
        2 => Just(Start::MissingOutside),
        1 => Just(Start::PortTaken),
        1 => Just(Start::Dead),
        1 => Just(Start::Slow),
        1 => Just(Start::Silent),
    ]
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        60 => Just(Cut::None),
        1 => Just(Cut::Interrupt),
        1 => Just(Cut::Deadline),
        2 => Just(Cut::FailFast),
    ]
}

fn sometimes<T: std::fmt::Debug + Clone>(
    strategy: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    proptest::option::weighted(0.25, strategy)
}

fn budgets() -> impl Strategy<Value = Budgets> {
    (1..7_u32, 0..4_u32, 0..3_u32, 0..4_u32, 0..3_u32, 0..3_u32).prop_map(
        |(max_iterations, retries, confirms, mcp_repairs, test_fixes, code_refines)| Budgets {
            max_iterations,
            retries,
            confirms,
            mcp_repairs,
            test_fixes,
            code_refines,
            deadline: Duration::from_secs(900),
        },
    )
}

fn tale() -> impl Strategy<Value = Tale> {
    let first = (proptest::array::uniform5(fate()), start(), cut());
    let change = (
        proptest::array::uniform5(sometimes(fate())),
        sometimes(start()),
        sometimes(cut()),
    );
    let flags = (
        any::<bool>(),
        any::<(bool, bool)>(),
        any::<bool>(),
        proptest::bool::weighted(0.2),
        any::<bool>(),
        any::<bool>(),
        proptest::bool::weighted(0.2),
        proptest::bool::weighted(0.05),
    );
    (
        first,
        proptest::collection::vec(change, 6),
        proptest::collection::vec(proptest::bool::weighted(0.8), 8),
        flags,
        budgets(),
        any::<u64>(),
    )
        .prop_map(|(first, changes, hook_ends, flags, budgets, seed)| {
            let (repairs_help, hooks, trust_plan, strict, accept, before, left_out, signal) = flags;
            Tale {
                first,
                changes,
                repairs_help,
                hook_ends,
                hooks,
                trust_plan,
                strict,
                accept_repairs: accept,
                budgets,
                passed_before: before,
                left_out,
                signal,
                seed,
            }
        })
}

/// All histories, told once for all tests.
pub(super) fn told() -> &'static [Told] {
    static ALL: OnceLock<Vec<Told>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut runner = TestRunner::deterministic();
        let tales: Vec<Tale> = slice(4, 0..TALES)
            .into_iter()
            .map(|_| tale().new_tree(&mut runner).unwrap().current())
            .collect();
        let (left, right) = tales.split_at(tales.len() / 2);
        let tell_all = |tales: &[Tale]| tales.iter().cloned().map(tell).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| tell_all(right));
            let mut all = tell_all(left);
            all.extend(other.join().unwrap());
            all
        })
    })
}

impl Tale {
    fn at(&self, index: u32) -> ([Fate; 5], Start, Cut) {
        let mut now = self.first;
        for (fates, start, cut) in self.changes.iter().take(index as usize - 1) {
            for (fate, change) in now.0.iter_mut().zip(fates) {
                *fate = change.unwrap_or(*fate);
            }
            now.1 = start.unwrap_or(now.1);
            now.2 = cut.unwrap_or(now.2);
        }
        now
    }
}

fn facts_of(plan: &Plan) -> BTreeMap<String, StepFacts> {
    let beside = Beside {
        snapshots: &BTreeMap::new(),
        plan: "plan.yaml",
        env: &BTreeMap::new(),
        given: &BTreeSet::new(),
        workspace: Path::new("/project"),
        settings: &ResultSettings::default(),
    };
    step_facts(plan, beside)
}

pub(super) fn tell(tale: Tale) -> Told {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let settings = &mut stage.settings;
    settings.budgets = tale.budgets;
    settings.trust_plan = tale.trust_plan;
    settings.strict = tale.strict;
    settings.accept_repairs = tale.accept_repairs;
    settings.seed = tale.seed;
    if tale.hooks.0 {
        settings.hooks.fix_tests = both_hooks().fix_tests;
    }
    if tale.hooks.1 {
        settings.hooks.refine_code = both_hooks().refine_code;
    }
    if tale.passed_before {
        let source = PlanSource::read(&stage.plan_path()).unwrap();
        let plan = jelly_plan::load_with(source, &stage.settings.vars).unwrap();
        let facts = facts_of(&plan);
        let steps: Vec<EarlierStep> = plan
            .all_steps()
            .map(|step| EarlierStep {
                id: step.id.clone(),
                server: step.server.clone(),
                section: step.section,
                ran: Ran::Done,
            })
            .collect();
        let passed = definitions(&Foundations::new(move || facts), &steps);
        let passed: BTreeSet<u64> = passed.into_values().collect();
        stage.settings.passed_before =
            PassedBefore::new(move |d, code| code.is_none() && passed.contains(&d));
    }
    let mut iterations: Vec<Happened> = Vec::new();
    let executed = std::cell::Cell::new(0);
    let mut hooks_run = Vec::new();
    let mut script = Script::new(|plan, context| {
        executed.set(context.index);
        let record = happen(&tale, plan, context);
        iterations.push(Happened {
            record: record.clone(),
            facts: facts_of(plan),
            edited_servers: edited_servers(plan),
        });
        record
    });
    script.signal = tale.signal.then_some(Signal::Int);
    let ends = &tale.hook_ends;
    let mut hooks = ScriptedHooks::new(|hook, call| {
        let end = ends[(call - 1) % ends.len()];
        hooks_run.push((executed.get(), hook, end));
        end
    });
    let outcome = stage.run(&mut script, &mut hooks, &diagnose);
    drop(script);
    drop(hooks);
    let on_disk = std::fs::read_to_string(stage.plan_path()).unwrap();
    Told {
        plan_untouched: on_disk == PLAN,
        tale,
        report: outcome.report,
        final_plan: outcome.final_plan.source.path.clone(),
        reports: stage.reports,
        iterations,
        hooks: hooks_run,
    }
}

fn edited_servers(plan: &Plan) -> BTreeSet<String> {
    static ORIGINAL: OnceLock<Plan> = OnceLock::new();
    let args = |plan: &Plan, name: &str| {
        let command = plan.servers[name].command();
        command.map(|command| format!("{:?}", command.args))
    };
    let original = ORIGINAL.get_or_init(|| {
        let source = jelly_plan::PlanSource {
            path: plan.source.path.clone(),
            text: PLAN.into(),
            variant: None,
        };
        jelly_plan::load(source).unwrap()
    });
    plan.servers
        .keys()
        .filter(|name| args(plan, name) != args(original, name))
        .cloned()
        .collect()
}

fn diagnose(failure: &Failure) -> Diagnosis {
    let mut diagnosis = by_message(failure);
    if failure.outcome == Some(Saw::Timeout) {
        diagnosis.error_category = Some(ErrorCategory::Timeout);
    }
    diagnosis
}

/// Executes an iteration as the tale says.
fn happen(tale: &Tale, plan: &Plan, context: &IterationContext<'_>) -> IterationRecord {
    let (fates, start, cut) = tale.at(context.index);
    let mut record = IterationRecord {
        interrupted: (cut == Cut::Interrupt).then_some(Signal::Int),
        deadline_reached: cut == Cut::Deadline,
        ..IterationRecord::default()
    };
    let lost = start_up(tale, start, plan, context, &mut record);
    let mut cut_from = match cut {
        Cut::None | Cut::FailFast => usize::MAX,
        Cut::Interrupt | Cut::Deadline => 2,
    };
    for (index, (step, fate)) in plan.all_steps().zip(fates).enumerate() {
        let mut report = if index >= cut_from {
            skipped(&step.id, because(cut))
        } else if context.quarantined.contains(&step.id) {
            super::support::step(&step.id, StepState::Quarantined)
        } else if tale.left_out && step.id == "d" {
            skipped("d", Because::NotSelected)
        } else if lost && step.server == "files" {
            StepReport {
                because: Some(Because::Server("files".into())),
                ..super::support::step(&step.id, StepState::Blocked)
            }
        } else if let Some(need) = unmet(step, &record.steps) {
            skipped(&step.id, Because::Step(need))
        } else {
            let state = match fate {
                Fate::Several { same, beside } => {
                    let several = several(step, same, beside, context.index);
                    record.failures.extend(several);
                    StepState::Failed
                }
                other => act(tale, step, other, &mut record),
            };
            self::step(&step.id, state)
        };
        report.section = step.section;
        report.server.clone_from(&step.server);
        if cut == Cut::FailFast && report.state == StepState::Failed {
            cut_from = cut_from.min(index + 1);
        }
        record.steps.push(report);
    }
    record
}

fn because(cut: Cut) -> Because {
    match cut {
        Cut::None | Cut::FailFast => Because::FailFast,
        Cut::Interrupt => Because::Interrupted,
        Cut::Deadline => Because::Deadline,
    }
}

fn unmet(step: &jelly_plan::Step, so_far: &[StepReport]) -> Option<String> {
    so_far
        .iter()
        .find(|r| step.needs.contains(&r.id) && r.state != StepState::Passed)
        .map(|r| r.id.clone())
}

/// Starts the servers; says whether `files` was lost.
fn start_up(
    tale: &Tale,
    start: Start,
    plan: &Plan,
    context: &IterationContext<'_>,
    record: &mut IterationRecord,
) -> bool {
    let inside = plan
        .source
        .path
        .parent()
        .map(|p| p.join("gone"))
        .unwrap_or_default();
    let text = &plan.source.text;
    let mended = tale.repairs_help
        && match start {
            Start::MissingInside => inside.is_dir(),
            Start::MissingOutside => !text.contains("\"/srv/gone\""),
            Start::PortTaken => context.new_ports_for.contains("files"),
            Start::Slow => text.contains("startup_timeout"),
            Start::Fine | Start::Dead | Start::Silent => false,
        };
    let failure = match start {
        _ if mended => None,
        Start::Fine | Start::Silent => None,
        Start::MissingInside => Some(("test missing_directory", inside.display().to_string())),
        Start::MissingOutside => Some(("test missing_directory", "/srv/gone".to_owned())),
        Start::PortTaken => Some(("test port_in_use", "EADDRINUSE".to_owned())),
        Start::Dead => Some(("test crashed_during_startup", "oh no".to_owned())),
        Start::Slow => Some(("retry startup_timeout", String::new())),
    };
    let lost = failure.is_some() || start == Start::Silent;
    for name in ["files", "other"] {
        let state = if lost && name == "files" {
            ServerState::Failed
        } else {
            ServerState::Ready
        };
        record.servers.push(server(name, state));
    }
    record.failures.extend(failure.map(|(message, stderr)| {
        let slow = start == Start::Slow;
        Failure {
            phase: Some(Phase::Handshake),
            server: Some("files".into()),
            message: Some(message.into()),
            stderr: Some(stderr),
            outcome: slow.then_some(Saw::Timeout),
            showed_life: slow.then_some(true),
            ..Failure::default()
        }
    }));
    lost
}

/// The mismatches of one answer, in the order of a plan.
fn several(
    step: &jelly_plan::Step,
    same: Option<u8>,
    beside: Besides,
    iteration: u32,
) -> Vec<Failure> {
    let text = AssertionTarget::Text;
    let mut wrong = Vec::new();
    if beside == Besides::Breach {
        let target = AssertionTarget::OutputSchema;
        wrong.push(("code schema_mismatch".to_owned(), target));
    }
    wrong.push((format!("code assertion_mismatch varies-{iteration}"), text));
    wrong.extend(same.map(|v| (format!("code assertion_mismatch {v}"), text)));
    match beside {
        Besides::Slow => {
            let target = AssertionTarget::Duration;
            wrong.push(("code assertion_mismatch slow".to_owned(), target));
        }
        Besides::Refused => wrong.push(("retry connection_refused".to_owned(), text)),
        Besides::Nothing | Besides::Breach | Besides::Restart => {}
    }
    let of = u32::try_from(wrong.len()).unwrap();
    wrong
        .into_iter()
        .zip(1..)
        .map(|((message, target), index)| Failure {
            phase: Some(Phase::Assert),
            server: Some(step.server.clone()),
            step: Some(step.id.clone()),
            message: Some(message),
            assertion: Some(Assertion {
                target: Some(target),
                ..Assertion::default()
            }),
            mismatch: Some(MismatchPlace { index, of }),
            after_restart: beside == Besides::Restart,
            ..Failure::default()
        })
        .collect()
}

/// Executes a step of which one thing fails at most; adds its failure to the
/// record.
fn act(
    tale: &Tale,
    step: &jelly_plan::Step,
    fate: Fate,
    record: &mut IterationRecord,
) -> StepState {
    let jelly_plan::Request::Tool(tool) = &step.request else {
        return StepState::Passed;
    };
    let failure = |phase: Phase, message: &str| Failure {
        phase: Some(phase),
        server: Some(step.server.clone()),
        step: Some(step.id.clone()),
        message: Some(message.into()),
        ..Failure::default()
    };
    let wrong = |message: &str, target: AssertionTarget| Failure {
        assertion: Some(Assertion {
            target: Some(target),
            ..Assertion::default()
        }),
        ..failure(Phase::Assert, message)
    };
    let mut state = StepState::Failed;
    let text = AssertionTarget::Text;
    record.failures.push(match fate {
        Fate::Passes => return StepState::Passed,
        Fate::Vanishes | Fate::Several { .. } => return StepState::Failed,
        Fate::Wrong(v) => wrong(&format!("code assertion_mismatch {v}"), text),
        Fate::Slow => wrong("code assertion_mismatch slow", AssertionTarget::Duration),
        Fate::WrongAfterRestart(v) => Failure {
            after_restart: true,
            ..wrong(&format!("code assertion_mismatch {v}"), text)
        },
        Fate::Refused => wrong("retry connection_refused", text),
        Fate::Crashes => failure(Phase::Call, "code crashed_during_call"),
        Fate::BreaksContract => wrong("code schema_mismatch", AssertionTarget::OutputSchema),
        Fate::Hangs { life } => Failure {
            outcome: Some(Saw::Timeout),
            showed_life: Some(life),
            ..failure(Phase::Call, "retry call_timeout")
        },
        Fate::Unplayable(close) => {
            let renamed = tool.ends_with("_0");
            if renamed && tale.repairs_help && tale.seed.is_multiple_of(2) {
                return StepState::Passed;
            }
            if renamed && tale.repairs_help {
                // The guess was wrong: it is another tool.
                record
                    .failures
                    .push(wrong("code assertion_mismatch guess", text));
                return StepState::Failed;
            }
            state = StepState::Quarantined;
            Failure {
                issue: Some(PlanIssue::UnknownTool {
                    name: tool.clone(),
                    candidates: (0..close).map(|i| format!("{tool}_{i}")).collect(),
                }),
                ..failure(Phase::Config, "test unknown_tool")
            }
        }
        Fate::Broken if step.section == Section::Teardown => {
            failure(Phase::Teardown, "test missing_file")
        }
        Fate::Broken => failure(Phase::Call, "test missing_file"),
        Fate::Hiccup => failure(Phase::Call, "retry connection_reset"),
    });
    state
}
