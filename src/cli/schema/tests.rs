//! The schemas made from the types, which the published ones have to be.

mod finish;

use super::SCHEMAS;
use crate::cli::args::Cli;
use crate::cli::check::Checked;
use crate::cli::config::{ConfigReport, about, typed};
use crate::cli::explain::{Compared, Explained};
use crate::cli::history::fleet::{CauseAnswer, FlakyAnswer, FleetDocument, NewAnswer, SlowAnswer};
use crate::cli::history::{Offenders, WorstCauses, WorstTests};
use crate::cli::layers::{Layers, SETTINGS};
use crate::cli::triage::{Answer, Line};
use crate::report::triage::Brief;
use crate::report::{AgentReport, Results, RuleList};
use crate::report::{CtrfDocument, FindingLine};
use clap::{Command, CommandFactory};
use finish::{finish_input, finish_output};
use jelly_base::model::{
    CallReport, DoctorReport, Explanation, RuleInfo, RunReport, ServerListing, TriageReport,
    TriagedFailure,
};
use jelly_contract::{Changes, LintReport, Lock};
use jelly_fuzzing::FuzzReport;
use jelly_harness::learned::StoreFile;
use jelly_harness::shards::PlanTimes;
use jelly_harness::triage_loop::Bundle;
use jelly_plan::{SettingKind, plan_schema};
use jelly_triage::engine::{ProjectRules, RuleFileDocument};
use jelly_triage::history::{ExportedResult, PastRun};
use jelly_wire::RecordedLine;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// What renews the files.
const RENEW: &str = "JELLY_RENEW_SCHEMAS=1 cargo test --lib schemas_are_those_of_the_types";

/// A schema that is made from types.
struct Made {
    name: &'static str,
    /// What it is the schema of, in a phrase.
    about: &'static str,
    /// The commands that print it, with the format that makes them.
    printed: &'static [(&'static str, &'static str)],
    make: fn() -> Schema,
}

const fn made(
    name: &'static str,
    about: &'static str,
    printed: &'static [(&'static str, &'static str)],
    make: fn() -> Schema,
) -> Made {
    Made {
        name,
        about,
        printed,
        make,
    }
}

impl Made {
    /// The schema, complete.
    fn schema(&self) -> Schema {
        let mut schema = (self.make)();
        // There is no place yet where they are published for good, and a URL
        // that leads nowhere is worse than a name.
        let id = format!("urn:jelly:schema:{}:1", self.name);
        schema.insert("$id".to_owned(), id.into());
        schema.insert("title".to_owned(), self.about.into());
        let order = ["$schema", "$id", "title", "description"];
        let mut rest = std::mem::take(schema.ensure_object());
        let first = order.iter().filter_map(|key| rest.shift_remove_entry(*key));
        let mut sorted: Map<_, _> = first.collect();
        sorted.extend(rest);
        *schema.ensure_object() = sorted;
        schema
    }

    /// As it is published: indented, with a line feed at its end.
    fn text(&self) -> String {
        serde_json::to_string_pretty(&self.schema()).unwrap() + "\n"
    }
}

/// All of them, in their order.
const MADE: &[Made] = &[
    made(
        "plan",
        "a test plan, for `jelly run` and `jelly check`",
        &[],
        plan,
    ),
    made(
        "settings",
        "jelly.yaml, the settings of a project",
        &[],
        settings,
    ),
    made(
        "rules-file",
        "a file of triage rules, for `--rules FILE`",
        &[],
        input::<RuleFileDocument>,
    ),
    made(
        "failure",
        "a line of failures, for `jelly triage --input failures`",
        &[],
        input::<Line>,
    ),
    made(
        "results",
        "`jelly run --format json`, `jelly merge --format json`, and results.json",
        &[("run", "json"), ("merge", "json")],
        output::<RunOutput<'static>>,
    ),
    made(
        "run-agent",
        "`jelly run --format agent`",
        &[("run", "agent")],
        output::<AgentReport<'static>>,
    ),
    made(
        "hook",
        "what the hooks fix_tests and refine_code read on stdin",
        &[],
        output::<Bundle<'static>>,
    ),
    made(
        "wire-line",
        "a line of wire.jsonl, of `jelly run --record`",
        &[],
        output::<RecordedLine<'static>>,
    ),
    made(
        "check",
        "`jelly check --format json`",
        &[("check", "json")],
        output::<Checked>,
    ),
    made(
        "triage",
        "`jelly triage --format json`",
        &[("triage", "json")],
        output::<TriageReport>,
    ),
    made(
        "triage-line",
        "a line of `jelly triage --format jsonl`",
        &[("triage", "jsonl")],
        output::<TriagedFailure>,
    ),
    made(
        "triage-failures",
        "`jelly triage --mode failures --format json`",
        &[("triage", "json")],
        output::<Vec<Brief<'static>>>,
    ),
    made(
        "triage-failures-line",
        "a line of `jelly triage --mode failures --format jsonl`",
        &[("triage", "jsonl")],
        output::<Brief<'static>>,
    ),
    made(
        "triage-paths",
        "`jelly triage --mode locate --format json`",
        &[("triage", "json")],
        output::<Vec<ReportPath>>,
    ),
    made(
        "triage-paths-line",
        "a line of `jelly triage --mode locate --format jsonl`",
        &[("triage", "jsonl")],
        output::<ReportPath>,
    ),
    made(
        "diagnosis-line",
        "a line of `jelly triage --input failures --format jsonl`",
        &[("triage", "jsonl")],
        output::<Answer<'static>>,
    ),
    made(
        "finding-line",
        "a line of `--report jsonl=FILE`, of `jelly run` and `jelly triage`",
        &[],
        output::<FindingLine<'static>>,
    ),
    made(
        "ctrf",
        "`jelly triage --format ctrf` and `--report ctrf=FILE`: what of the Common Test Report Format is written",
        &[("triage", "ctrf")],
        output::<CtrfDocument<'static>>,
    ),
    made(
        "config",
        "`jelly config --format json`",
        &[("config", "json")],
        output::<ConfigReport>,
    ),
    made(
        "doctor",
        "`jelly doctor --format json`",
        &[("doctor", "json")],
        output::<DoctorReport>,
    ),
    made(
        "list",
        "`jelly list --format json`",
        &[("list", "json")],
        output::<ServerListing>,
    ),
    made(
        "call",
        "`jelly call --format json`",
        &[("call", "json")],
        output::<CallReport>,
    ),
    made(
        "lock",
        "jelly.lock, which `jelly tools lock` writes",
        &[],
        output::<Lock>,
    ),
    made(
        "tools-diff",
        "`jelly tools diff --format json`",
        &[("tools diff", "json")],
        output::<Changes>,
    ),
    made(
        "tools-lint",
        "`jelly tools lint --format json`",
        &[("tools lint", "json")],
        output::<LintReport>,
    ),
    made(
        "fuzz",
        "`jelly fuzz --format json`",
        &[("fuzz", "json")],
        output::<FuzzReport>,
    ),
    made(
        "history",
        "`jelly history --format json`",
        &[("history", "json")],
        output::<HistoryOutput>,
    ),
    made(
        "history-flaky",
        "`jelly history flaky --format json`",
        &[("history flaky", "json")],
        output::<FleetDocument<FlakyAnswer>>,
    ),
    made(
        "history-new",
        "`jelly history new --format json`",
        &[("history new", "json")],
        output::<FleetDocument<NewAnswer>>,
    ),
    made(
        "history-cause",
        "`jelly history cause --format json`",
        &[("history cause", "json")],
        output::<FleetDocument<CauseAnswer>>,
    ),
    made(
        "history-slow",
        "`jelly history slow --format json`",
        &[("history slow", "json")],
        output::<FleetDocument<SlowAnswer>>,
    ),
    made(
        "history-result",
        "a line of `jelly history export`",
        &[("history export", "jsonl")],
        output::<ExportedResult>,
    ),
    made(
        "history-line",
        "a line of the history file, as in .jelly/history.jsonl",
        &[],
        output::<PastRun>,
    ),
    made(
        "plan-times",
        "`jelly history export --durations`, for `jelly run --shard-times`",
        &[],
        output::<PlanTimes>,
    ),
    made(
        "schema-store",
        "the schema store, for `--schema-store FILE`",
        &[],
        store,
    ),
    made(
        "explain",
        "`jelly explain --format json`",
        &[("explain", "json")],
        output::<ExplainOutput>,
    ),
    made(
        "rules",
        "`jelly rules list --format json`",
        &[("rules list", "json")],
        output::<RuleList<'static>>,
    ),
    made(
        "rule",
        "`jelly rules show --format json`",
        &[("rules show", "json")],
        output::<RuleInfo>,
    ),
    made(
        "rules-explain",
        "`jelly rules explain --format json`",
        &[("rules explain", "json")],
        output::<Explanation>,
    ),
];

/// One plan's report, or those of several plans or of a matrix.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
enum RunOutput<'a> {
    /// Of one plan.
    One(Box<RunReport>),
    /// Of several plans, or of one in several combinations.
    Several(Results<'a>),
}

/// The worst tests, or with `--cause` the worst causes.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
enum HistoryOutput {
    /// Without `--cause`.
    Tests(Offenders<WorstTests>),
    /// With `--cause`.
    Causes(Offenders<WorstCauses>),
}

/// One fingerprint, or two with `--diff`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
enum ExplainOutput {
    /// Of one fingerprint.
    One(Box<Explained>),
    /// With `--diff`.
    Two(Box<Compared>),
}

/// Path of a report, as it was named or found.
#[derive(JsonSchema)]
#[schemars(transparent)]
#[expect(dead_code, reason = "described, and never built")]
struct ReportPath(String);

fn plan() -> Schema {
    finish_input(plan_schema())
}

/// The rules come from types, and the settings from their table.
fn settings() -> Schema {
    let rules = input::<ProjectRules>();
    let mut rules = rules.to_value();
    let kept = rules.as_object_mut();
    let definitions = kept.and_then(|rules| rules.shift_remove("$defs"));
    for key in ["$schema", "title"] {
        rules.as_object_mut().map(|rules| rules.shift_remove(key));
    }
    let mut schema = settings_schema(&rules);
    if let Some(serde_json::Value::Object(all)) = schema.get_mut("$defs")
        && let Some(serde_json::Value::Object(definitions)) = definitions
    {
        all.extend(definitions);
    }
    finish_input(schema)
}

/// Of what is read: what may be left out is not required.
fn input<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    finish_input(settings.into_generator().into_root_schema_for::<T>())
}

/// Read and written: whatever is absent is left out.
fn store() -> Schema {
    finish_output(input::<StoreFile>())
}

/// Of what is printed: what is always there is required.
fn output<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    finish_output(settings.into_generator().into_root_schema_for::<T>())
}

/// The JSON Schema of `jelly.yaml`, but for its rules.
fn settings_schema(rules: &Value) -> Schema {
    let command = Layers::default().command(&typed(&["config"]));
    let mut all: Map<String, Value> = Map::new();
    for setting in SETTINGS {
        let mut value = match setting.key.kind {
            SettingKind::Count(least) => json!({"type": "integer", "minimum": least}),
            SettingKind::Flag => json!({"type": "boolean"}),
            SettingKind::Time => json!({"type": "string", "pattern": "[0-9]", "examples": ["30s"]}),
            SettingKind::Path => json!({"type": "string", "minLength": 1}),
            SettingKind::Word(words) => json!({"enum": words}),
            SettingKind::Argv => json!({
                "type": "array",
                "minItems": 1,
                "items": {"type": ["string", "number", "boolean"]},
            }),
            SettingKind::PathsByWord(words) => json!({
                "type": "object",
                "propertyNames": {"enum": words},
                "additionalProperties": {"type": "string", "minLength": 1},
            }),
        };
        value["description"] = json!(format!(
            "{}. Default: {}. Variable: {}.",
            about(&command, setting),
            setting.default,
            setting.env
        ));
        let place = match setting.key.section {
            "" => &mut all,
            section => {
                let fresh = || {
                    json!({
                        "description": format!("Settings of {section}."),
                        "type": "object",
                        "properties": {},
                        "additionalProperties": false,
                    })
                };
                let held = all.entry(section).or_insert_with(fresh);
                match held["properties"].as_object_mut() {
                    Some(properties) => properties,
                    None => continue,
                }
            }
        };
        place.insert(setting.key.key.to_owned(), value);
    }
    let profile = json!({
        "description": "Settings that hold where this profile is used.",
        "type": "object",
        "properties": all,
        "additionalProperties": false,
    });
    all.insert("rules".to_owned(), rules.clone());
    all.insert(
        "profiles".to_owned(),
        json!({
            "description": "Settings by the name of a profile. Without --profile and JELLY_PROFILE, `ci` is used where the variable CI is set, and else `local`.",
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Profile"},
        }),
    );
    json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": "Settings of a project, found in the working directory or in a folder above it within the same repository.",
        "type": "object",
        "properties": all,
        "additionalProperties": false,
        "$defs": {"Profile": profile},
    })
}

/// Formats that are JSON.
const JSON: [&str; 4] = ["json", "jsonl", "ctrf", "agent"];

fn printed_below(command: &Command, path: &str, found: &mut BTreeSet<(String, String)>) {
    for sub in command.get_subcommands() {
        let path = format!("{path} {}", sub.get_name());
        let format = sub.get_arguments().find(|arg| arg.get_id() == "format");
        for value in format.into_iter().flat_map(|arg| arg.get_possible_values()) {
            if JSON.contains(&value.get_name()) {
                found.insert((path.trim().to_owned(), value.get_name().to_owned()));
            }
        }
        printed_below(sub, &path, found);
    }
}

#[test]
fn every_command_that_prints_json_has_a_schema() {
    let mut commands = BTreeSet::new();
    printed_below(&Cli::command(), "", &mut commands);
    let described: BTreeSet<(String, String)> = MADE
        .iter()
        .flat_map(|named| named.printed)
        .map(|(command, format)| ((*command).to_owned(), (*format).to_owned()))
        .collect();
    assert_eq!(
        commands, described,
        "commands with their JSON formats, and those that src/cli/schema/tests.rs names: derive \
         JsonSchema for the type that is printed, and add it there"
    );
}

#[test]
fn every_schema_is_one_and_names_are_unique() {
    let names: BTreeSet<&str> = MADE.iter().map(|named| named.name).collect();
    assert_eq!(names.len(), MADE.len());
    for named in MADE {
        let schema = named.schema().to_value();
        if let Err(error) = jsonschema::draft202012::meta::validate(&schema) {
            panic!("{}: {error} at {}", named.name, error.instance_path());
        }
        assert!(jsonschema::validator_for(&schema).is_ok(), "{}", named.name);
    }
}

/// Fields without a word about them.
fn undescribed(schema: &Value, root: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(map) = schema else {
        return;
    };
    if let Some(Value::Object(properties)) = map.get("properties") {
        // The one field of a variant is told with the variant.
        let told_above = properties.len() == 1 && map.contains_key("description");
        for (name, property) in properties {
            if told_above || property.get("const").is_some() {
                continue;
            }
            let target = property.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|at| root.pointer(at.trim_start_matches('#')));
            let told = |schema: &Value| schema.get("description").is_some();
            if !told(property) && !target.is_some_and(told) {
                found.push(format!("{path}.{name}"));
            }
        }
    }
    for (key, value) in map {
        match value {
            // What follows `then` only narrows what stands beside it.
            Value::Object(_) if key != "examples" && key != "then" => {
                let below = format!("{path}/{key}");
                undescribed(value, root, &below, found);
            }
            Value::Array(items) if key != "examples" && key != "enum" => {
                for (at, item) in items.iter().enumerate() {
                    undescribed(item, root, &format!("{path}/{key}/{at}"), found);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn every_field_is_described() {
    let mut found = Vec::new();
    for named in MADE {
        let schema = named.schema().to_value();
        undescribed(&schema, &schema, named.name, &mut found);
    }
    // The same type stands in several schemas.
    let short = |path: &String| path.split("$defs/").last().unwrap_or(path).to_owned();
    let found: BTreeSet<String> = found.iter().map(short).collect();
    assert!(
        found.is_empty(),
        "editors show what a field means: write a doc comment for {found:#?}, and renew docs/schemas: {RENEW}"
    );
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    if std::env::var_os("JELLY_RENEW_SCHEMAS").is_some() {
        for made in MADE {
            let path = folder.join(format!("{}.json", made.name));
            std::fs::write(path, made.text()).unwrap();
        }
        return;
    }
    let published = SCHEMAS.iter().map(|(name, _)| *name);
    let names: Vec<&str> = MADE.iter().map(|made| made.name).collect();
    assert_eq!(published.collect::<Vec<_>>(), names);
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), names.len());
    for (made, (name, text)) in MADE.iter().zip(SCHEMAS) {
        assert!(
            made.text() == *text,
            "{name} is stale; `{RENEW}` renews docs/schemas"
        );
        assert_eq!(super::title(text), made.about);
    }
}
