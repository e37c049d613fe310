//! What schemas there are, and of what.

use super::finish::{finish_input, finish_output};
use crate::cli::check::Checked;
use crate::cli::config::{ConfigReport, settings_schema};
use crate::cli::explain::{Compared, Explained};
use crate::cli::history::{Offenders, WorstCauses, WorstTests};
use crate::cli::triage::{Answer, Line};
use crate::report::triage::{Brief, CtrfDocument};
use crate::report::{Results, RuleList};
use jelly_base::model::{
    DoctorReport, Explanation, RuleInfo, RunReport, TriageReport, TriagedFailure,
};
use jelly_harness::learned::StoreFile;
use jelly_harness::triage_loop::Bundle;
use jelly_plan::plan_schema;
use jelly_triage::engine::{ProjectRules, RuleFileDocument};
use jelly_triage::history::PastRun;
use jelly_wire::RecordedLine;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// A schema with its name.
pub struct Named {
    pub name: &'static str,
    /// What it is the schema of, in a phrase.
    pub about: &'static str,
    /// The commands that print it, with the format that makes them.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests hold it against the commands")
    )]
    pub printed: &'static [(&'static str, &'static str)],
    make: fn() -> Schema,
}

impl Named {
    /// The schema, complete. It is made anew each time: nothing else than
    /// `jelly schema` pays for it.
    pub fn schema(&self) -> Schema {
        let mut schema = (self.make)();
        // There is no place yet where they are published for good, and a URL
        // that leads nowhere is worse than a name.
        let id = format!("urn:jelly:schema:{}:1", self.name);
        schema.insert("$id".to_owned(), id.into());
        schema.insert("title".to_owned(), self.about.into());
        let order = ["$schema", "$id", "title", "description"];
        let mut rest = std::mem::take(schema.ensure_object());
        let first = order.iter().filter_map(|key| rest.shift_remove_entry(*key));
        let mut sorted: serde_json::Map<_, _> = first.collect();
        sorted.extend(rest);
        *schema.ensure_object() = sorted;
        schema
    }
}

/// All of them, in the order in which they are listed.
pub const SCHEMAS: &[Named] = &[
    Named {
        name: "plan",
        about: "a test plan, for `jelly run` and `jelly check`",
        printed: &[],
        make: plan,
    },
    Named {
        name: "settings",
        about: "jelly.yaml, the settings of a project",
        printed: &[],
        make: settings,
    },
    Named {
        name: "rules-file",
        about: "a file of triage rules, for `--rules FILE`",
        printed: &[],
        make: input::<RuleFileDocument>,
    },
    Named {
        name: "failure",
        about: "a line of failures, for `jelly triage --input failures`",
        printed: &[],
        make: input::<Line>,
    },
    Named {
        name: "results",
        about: "`jelly run --format json`, and results.json",
        printed: &[("run", "json")],
        make: output::<RunOutput<'static>>,
    },
    Named {
        name: "hook",
        about: "what the hooks fix_tests and refine_code read on stdin",
        printed: &[],
        make: output::<Bundle<'static>>,
    },
    Named {
        name: "wire-line",
        about: "a line of wire.jsonl, of `jelly run --record`",
        printed: &[],
        make: output::<RecordedLine<'static>>,
    },
    Named {
        name: "check",
        about: "`jelly check --format json`",
        printed: &[("check", "json")],
        make: output::<Checked>,
    },
    Named {
        name: "triage",
        about: "`jelly triage --format json`",
        printed: &[("triage", "json")],
        make: output::<TriageReport>,
    },
    Named {
        name: "triage-line",
        about: "a line of `jelly triage --format jsonl`",
        printed: &[("triage", "jsonl")],
        make: output::<TriagedFailure>,
    },
    Named {
        name: "triage-failures",
        about: "`jelly triage --mode failures --format json`",
        printed: &[("triage", "json")],
        make: output::<Vec<Brief<'static>>>,
    },
    Named {
        name: "triage-failures-line",
        about: "a line of `jelly triage --mode failures --format jsonl`",
        printed: &[("triage", "jsonl")],
        make: output::<Brief<'static>>,
    },
    Named {
        name: "triage-paths",
        about: "`jelly triage --mode locate --format json`",
        printed: &[("triage", "json")],
        make: output::<Vec<ReportPath>>,
    },
    Named {
        name: "triage-paths-line",
        about: "a line of `jelly triage --mode locate --format jsonl`",
        printed: &[("triage", "jsonl")],
        make: output::<ReportPath>,
    },
    Named {
        name: "diagnosis-line",
        about: "a line of `jelly triage --input failures --format jsonl`",
        printed: &[("triage", "jsonl")],
        make: output::<Answer<'static>>,
    },
    Named {
        name: "ctrf",
        about: "`jelly triage --format ctrf`: what of the Common Test Report Format is written",
        printed: &[("triage", "ctrf")],
        make: output::<CtrfDocument<'static>>,
    },
    Named {
        name: "config",
        about: "`jelly config --format json`",
        printed: &[("config", "json")],
        make: output::<ConfigReport>,
    },
    Named {
        name: "doctor",
        about: "`jelly doctor --format json`",
        printed: &[("doctor", "json")],
        make: output::<DoctorReport>,
    },
    Named {
        name: "history",
        about: "`jelly history --format json`",
        printed: &[("history", "json")],
        make: output::<HistoryOutput>,
    },
    Named {
        name: "history-line",
        about: "a line of the history file, as in .jelly/history.jsonl",
        printed: &[],
        make: output::<PastRun>,
    },
    Named {
        name: "schema-store",
        about: "the schema store, for `--schema-store FILE`",
        printed: &[],
        make: store,
    },
    Named {
        name: "explain",
        about: "`jelly explain --format json`",
        printed: &[("explain", "json")],
        make: output::<ExplainOutput>,
    },
    Named {
        name: "rules",
        about: "`jelly rules list --format json`",
        printed: &[("rules list", "json")],
        make: output::<RuleList<'static>>,
    },
    Named {
        name: "rule",
        about: "`jelly rules show --format json`",
        printed: &[("rules show", "json")],
        make: output::<RuleInfo>,
    },
    Named {
        name: "rules-explain",
        about: "`jelly rules explain --format json`",
        printed: &[("rules explain", "json")],
        make: output::<Explanation>,
    },
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

#[cfg(test)]
mod tests {
    use super::SCHEMAS;
    use crate::cli::args::Cli;
    use clap::{Command, CommandFactory};
    use serde_json::Value;
    use std::collections::BTreeSet;

    /// Formats that are JSON.
    const JSON: [&str; 3] = ["json", "jsonl", "ctrf"];

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
        let described: BTreeSet<(String, String)> = SCHEMAS
            .iter()
            .flat_map(|named| named.printed)
            .map(|(command, format)| ((*command).to_owned(), (*format).to_owned()))
            .collect();
        assert_eq!(
            commands, described,
            "commands with their JSON formats, and those that src/cli/schema/list.rs names: derive \
             JsonSchema for the type that is printed, and add it there"
        );
    }

    #[test]
    fn every_schema_is_one_and_names_are_unique() {
        let names: BTreeSet<&str> = SCHEMAS.iter().map(|named| named.name).collect();
        assert_eq!(names.len(), SCHEMAS.len());
        for named in SCHEMAS {
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
        for named in SCHEMAS {
            let schema = named.schema().to_value();
            undescribed(&schema, &schema, named.name, &mut found);
        }
        // The same type stands in several schemas.
        let short = |path: &String| path.split("$defs/").last().unwrap_or(path).to_owned();
        let found: BTreeSet<String> = found.iter().map(short).collect();
        assert!(
            found.is_empty(),
            "editors show what a field means: write a doc comment for {found:#?}, and renew \
             docs/schemas with `cargo run -- schema --write docs/schemas`"
        );
    }
}
