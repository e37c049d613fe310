//! The tools: what each is for, takes and gives. One row each.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a client knows of a tool before it calls it.
pub struct ToolRow {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub hints: Hints,
    pub input: fn() -> Map<String, Value>,
    pub output: fn() -> Value,
}

/// What a call may do, as clients ask before they let a model make it.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// It changes nothing.
    pub reads_only: bool,
    /// What it changes may be lost.
    pub destroys: bool,
    /// A second call changes nothing more.
    pub idempotent: bool,
    /// It reaches what jelly does not know: servers.
    pub open_world: bool,
}

const READS: Hints = Hints {
    reads_only: true,
    destroys: false,
    idempotent: true,
    open_world: false,
};

/// How much is wanted of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// The whole result has no more.
    pub max_bytes: usize,
    /// Where an earlier one ended.
    pub cursor: Option<String>,
}

/// Sizes that can be held: what stands on each page needs its room.
const SIZES: std::ops::RangeInclusive<u32> = 4096..=1_048_576;

fn usual_bytes() -> u32 {
    8192
}

/// All that a tool can be called with.
macro_rules! arguments {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $type,)*
                /// Of the result, at most.
                #[serde(default = "usual_bytes")]
                #[schemars(range(min = 4096, max = 1_048_576))]
                pub max_bytes: u32,
                /// `next_cursor` of the result to continue.
                #[serde(default)]
                pub cursor: Option<String>,
            }

            impl $name {
                /// How much is wanted.
                pub fn paging(&self) -> Paging {
                    let most = self.max_bytes.clamp(*SIZES.start(), *SIZES.end());
                    Paging {
                        max_bytes: usize::try_from(most).unwrap_or(usize::MAX),
                        cursor: self.cursor.clone(),
                    }
                }
            }
        )*
    };
}

arguments! {
    /// Of `run_plan`.
    RunPlanInput {
        /// The plan's file.
        path: String,
        /// Runs only these steps: ids, servers or tags.
        #[serde(default)]
        only: Vec<String>,
        /// Leaves these steps out.
        #[serde(default)]
        skip: Vec<String>,
        /// Passes of the loop, at most.
        #[serde(default)]
        #[schemars(range(min = 1))]
        max_iterations: Option<u32>,
        /// Seconds to wait for the end; then `state` is `running`, and `run_status` asks again.
        #[serde(default = "usual_wait")]
        #[schemars(range(min = 0, max = 600))]
        wait_s: f64,
    }
    /// Of `run_status`.
    RunStatusInput {
        /// As `run_plan` or `list_runs` says it.
        run_id: String,
        /// Seconds to wait for the end.
        #[serde(default)]
        #[schemars(range(min = 0, max = 600))]
        wait_s: f64,
    }
    /// Of `cancel_run`.
    CancelRunInput {
        /// As `run_plan` or `list_runs` says it.
        run_id: String,
    }
    /// Of `check_plan`.
    CheckPlanInput {
        /// The plan's file.
        path: String,
    }
    /// Of `triage_report`.
    TriageReportInput {
        /// Reports: files, folders or globs. JUnit XML, results.json, or failures as JSON Lines.
        #[schemars(length(min = 1, max = 100))]
        paths: Vec<String>,
        /// `rca`: causes and diagnoses. `failures`: names and messages alone. `locate`: the files.
        #[serde(default)]
        mode: TriageMode,
        /// An earlier report to compare with.
        #[serde(default)]
        baseline: Option<String>,
    }
    /// Of `classify_failure`.
    ClassifyFailureInput {
        /// What went wrong: `message`, and what else is known, as `phase`, `exit`, `stderr_tail`, `details`.
        failure: Map<String, Value>,
    }
    /// Of `doctor`.
    DoctorInput {
        /// A client's configuration, as .mcp.json [default: those in the allowed folders, only read].
        #[serde(default)]
        path: Option<String>,
    }
    /// Of `explain`.
    ExplainInput {
        /// A fingerprint of a diagnosis, or how it begins.
        #[serde(default)]
        fingerprint: Option<String>,
        /// The id of a rule, as a diagnosis names it.
        #[serde(default)]
        rule: Option<String>,
        /// The id of a run.
        #[serde(default)]
        run: Option<String>,
    }
    /// Of `list_runs`.
    ListRunsInput {}
}

/// How much triage says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriageMode {
    #[default]
    Rca,
    Failures,
    Locate,
}

impl TriageMode {
    pub fn word(self) -> &'static str {
        match self {
            Self::Rca => "rca",
            Self::Failures => "failures",
            Self::Locate => "locate",
        }
    }
}

fn usual_wait() -> f64 {
    40.0
}

fn input<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else {
        return Map::new();
    };
    schema.shift_remove("title");
    schema.shift_remove("description");
    schema.values_mut().for_each(drop_spare);
    schema
}

/// Leaves out what tells a client nothing: formats of Rust's numbers, and that
/// what need not be said may be null.
fn drop_spare(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    if members.get("format").is_some_and(Value::is_string) {
        members.shift_remove("format");
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.shift_remove("default");
        if let Some(Value::Array(types)) = members.get("type")
            && let [one, _] = types.as_slice()
        {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    members.values_mut().for_each(drop_spare);
}

/// An object with these members, and what every result may have.
fn output(members: Value) -> Value {
    let mut properties = Map::new();
    if let Value::Object(members) = members {
        properties.extend(members);
    }
    properties.insert(
        "left_out".to_owned(),
        json!({
            "type": "object",
            "description": "Entries by list, bytes of texts",
        }),
    );
    properties.insert("next_cursor".to_owned(), json!({"type": "string"}));
    let mut schema = json!({"type": "object", "properties": properties});
    // What stands in it more than once stands there once.
    let written = schema.to_string();
    for (name, shared) in [("category", category()), ("diagnosis", diagnosis())] {
        if written.matches(&format!("#/$defs/{name}")).count() > 0 {
            schema["$defs"][name] = shared;
        }
    }
    schema
}

fn defined(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn category() -> Value {
    json!({
        "enum": ["INFRASTRUCTURE", "ASSERTION", "LOCATOR", "TIMEOUT", "OTHER"],
        "description": "It and retryable are absent where no known pattern matches",
    })
}

fn label() -> Value {
    json!({"error_category": defined("category"), "retryable": {"type": "boolean"}})
}

fn with_label(members: Value) -> Value {
    let mut all = members;
    if let (Value::Object(all), Value::Object(label)) = (&mut all, label()) {
        all.extend(label);
    }
    json!({"type": "array", "items": {"type": "object", "properties": all}})
}

fn diagnosis() -> Value {
    json!({
        "type": "object",
        "properties": {
            "side": {"enum": ["test", "code"]},
            "ambiguous": {"type": "boolean"},
            "root_cause": {"type": "string"},
            "fingerprint": {"type": "string"},
            "advice": {"type": "object"},
        },
    })
}

fn alike() -> Value {
    json!({
        "type": "object",
        "description": "More with the same fingerprint",
        "properties": {"count": {"type": "integer"}},
    })
}

fn iterations() -> Value {
    let steps = with_label(json!({
        "id": {"type": "string"},
        "server": {"type": "string"},
        "state": {"enum": ["passed", "failed", "blocked", "quarantined", "skipped"]},
    }));
    let failures = with_label(json!({
        "server": {"type": ["string", "null"]},
        "step": {"type": ["string", "null"]},
        "message": {"type": ["string", "null"]},
        "diagnosis": defined("diagnosis"),
        "alike": alike(),
    }));
    json!({
        "type": "array",
        "items": {"type": "object", "properties": {
            "index": {"type": "integer"},
            "totals": {"type": "object"},
            "steps": steps,
            "failures": failures,
        }},
    })
}

fn run_output() -> Value {
    run_with(iterations())
}

/// The same result, whose parts stand with the tool that makes it.
fn later_run_output() -> Value {
    run_with(json!({"type": "array", "items": {"type": "object"}, "description": "As of run_plan"}))
}

fn run_with(iterations: Value) -> Value {
    output(json!({
        "run_id": {"type": "string"},
        "state": {"enum": ["running", "finished"]},
        "verdict": {"type": "string"},
        "exit_code": {"type": "integer"},
        "needs_user_help": {"type": "boolean"},
        "iterations": iterations,
        "plans": {"type": "array", "description": "Of a plan with a matrix: each combination"},
        "progress": {"type": "object", "description": "While it runs"},
    }))
}

fn triage_output() -> Value {
    let failures = with_label(json!({
        "report": {"type": "string"},
        "name": {"type": "string"},
        "status": {"type": "string"},
        "message": {"type": ["string", "null"]},
        "diagnosis": defined("diagnosis"),
        "alike": alike(),
    }));
    output(json!({
        "exit_code": {"type": "integer"},
        "problem": {"type": "string", "description": "Why a report can't be relied on"},
        "reports": {"type": "array"},
        "failures": failures,
        "clusters": {"type": "array", "items": {"type": "object", "properties": {
            "fingerprint": {"type": "string"},
            "count": {"type": "integer"},
            "root_cause": {"type": "string"},
        }}},
        "retry": {"type": "object"},
        "recommendations": {"type": "array"},
        "paths": {"type": "array", "items": {"type": "string"}},
    }))
}

fn check_output() -> Value {
    output(json!({
        "exit_code": {"type": "integer", "description": "0: the plan is good; 2: it is not"},
        "plans": {"type": "array", "items": {"type": "object"}},
    }))
}

fn classify_output() -> Value {
    let mut members = json!({"diagnosis": defined("diagnosis")});
    if let (Value::Object(members), Value::Object(label)) = (&mut members, label()) {
        members.extend(label);
    }
    output(members)
}

fn doctor_output() -> Value {
    output(json!({
        "exit_code": {"type": "integer"},
        "started": {"type": "boolean", "description": "The servers were started; else their entries were only read"},
        "files": {"type": "array"},
        "counts": {"type": "object"},
        "servers": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"},
            "state": {"enum": ["healthy", "unwell", "broken", "unchecked", "disabled"]},
        }}},
    }))
}

fn explain_output() -> Value {
    output(json!({
        "fingerprint": {"type": "object"},
        "rule": {"type": "object"},
        "run": {"type": "object"},
        "failures": with_label(json!({"diagnosis": defined("diagnosis"), "alike": alike()})),
    }))
}

fn list_output() -> Value {
    output(json!({
        "runs": {"type": "array", "items": {"type": "object", "properties": {
            "run_id": {"type": "string"},
            "state": {"enum": ["running", "finished"]},
            "verdict": {"type": "string"},
            "exit_code": {"type": "integer"},
            "plan": {"type": "string"},
            "started_at": {"type": "string"},
            "resources": {"type": "array", "items": {"type": "string"}},
        }}},
    }))
}

/// All of them.
pub const TOOLS: [ToolRow; 9] = [
    ToolRow {
        name: "run_plan",
        title: "Run a test plan",
        description: "Runs an MCP test plan in the triage loop: starts its servers, runs its steps, classifies \
                      failures, retries or repairs in memory, never writes the plan. Read verdict, then \
                      iterations[].failures[]: error_category and retryable say whether to retry, repair or stop; \
                      diagnosis.advice.fix says how. Needs --allow-run.",
        hints: Hints {
            reads_only: false,
            destroys: true,
            idempotent: false,
            open_world: true,
        },
        input: input::<RunPlanInput>,
        output: run_output,
    },
    ToolRow {
        name: "run_status",
        title: "State or result of a run",
        description: "The result of a run, or how far it is. Also of earlier runs, from their reports.",
        hints: READS,
        input: input::<RunStatusInput>,
        output: later_run_output,
    },
    ToolRow {
        name: "cancel_run",
        title: "Stop a run",
        description: "Stops a run and its servers; the result is what was done until then.",
        hints: Hints {
            reads_only: false,
            destroys: true,
            idempotent: true,
            open_world: false,
        },
        input: input::<CancelRunInput>,
        output: later_run_output,
    },
    ToolRow {
        name: "check_plan",
        title: "Validate a test plan",
        description: "Validates a plan and starts nothing: problems with line, column and what to write instead.",
        hints: READS,
        input: input::<CheckPlanInput>,
        output: check_output,
    },
    ToolRow {
        name: "triage_report",
        title: "Triage test reports",
        description: "Reads test reports (JUnit XML of any framework) and says of each failure whether the code or \
                      the environment is at fault, why, whether a retry can help, and which command runs it again. \
                      Failures with one fingerprint are shown once, with their number.",
        hints: READS,
        input: input::<TriageReportInput>,
        output: triage_output,
    },
    ToolRow {
        name: "classify_failure",
        title: "Classify one failure",
        description: "Classifies one failure from any log: error_category, retryable, root cause, evidence and \
                      advice. Pass its text as failure.message; more fields make it surer.",
        hints: READS,
        input: input::<ClassifyFailureInput>,
        output: classify_output,
    },
    ToolRow {
        name: "doctor",
        title: "Check an MCP client's configuration",
        description: "Says what is wrong with each server of a client's configuration and how to fix it. With \
                      --allow-run and a path the servers are started; else the entries are only read.",
        hints: Hints {
            reads_only: false,
            destroys: false,
            idempotent: true,
            open_world: true,
        },
        input: input::<DoctorInput>,
        output: doctor_output,
    },
    ToolRow {
        name: "explain",
        title: "Explain a fingerprint, rule or run",
        description: "What a fingerprint stands for and where it was seen, what a rule matches and advises, or why \
                      a run ended as it did. Give exactly one.",
        hints: READS,
        input: input::<ExplainInput>,
        output: explain_output,
    },
    ToolRow {
        name: "list_runs",
        title: "List runs",
        description: "Runs that are going on and earlier ones, newest first, with the resources of their reports.",
        hints: READS,
        input: input::<ListRunsInput>,
        output: list_output,
    },
];
