//! Parts of the pages that the program itself knows.

use super::{markdown_below, root, slug};
use clap::{Arg, Command};
use jelly_plan::Operator;
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

const RENEW: &str = "JELLY_RENEW_DOCS=1 cargo test --test docs";

/// A page with parts between `<!-- MARK -->` and `<!-- /WORD -->`.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    fn read(name: &str) -> Self {
        let path = root().join("docs").join(name);
        let text = fs::read_to_string(&path).unwrap();
        Self { path, text }
    }

    /// Holds that this is what stands behind the mark, or puts it there.
    fn hold(&mut self, mark: &str, wanted: &str) {
        let word = mark.split(':').next().unwrap();
        let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{word} -->"));
        let begin = self.text.find(&open).unwrap_or_else(|| {
            panic!("{} has no mark {open}", self.path.display());
        }) + open.len();
        let end = begin + self.text[begin..].find(&close).unwrap();
        if self.text[begin..end] == *wanted {
            return;
        }
        assert!(
            std::env::var_os("JELLY_RENEW_DOCS").is_some(),
            "{} is stale at `{mark}`; `{RENEW}` renews it. It should be:\n{wanted}",
            self.path.display()
        );
        self.text.replace_range(begin..end, wanted);
        fs::write(&self.path, &self.text).unwrap();
    }
}

/// The JSON Schema of plans, which another test holds to the grammar.
struct Schema {
    whole: Value,
    /// Where the keys of a definition are shown, as a link.
    shown: BTreeMap<String, String>,
}

impl Schema {
    fn read() -> Self {
        let text = fs::read_to_string(root().join("docs/schemas/plan.json")).unwrap();
        let mark = Regex::new(r"(?m)^(?:<!-- keys: ?(\w*) -->|#+ (.*))$").unwrap();
        let mut shown = BTreeMap::new();
        for path in markdown_below(&root().join("docs")) {
            let page = fs::read_to_string(&path).unwrap();
            let mut heading = String::new();
            for found in mark.captures_iter(&page) {
                if let Some(title) = found.get(2) {
                    heading = slug(title.as_str());
                    continue;
                }
                let file = path.file_name().unwrap().to_str().unwrap();
                let before = shown.insert(found[1].to_owned(), format!("{file}#{heading}"));
                assert_eq!(before, None, "the keys of {} are shown twice", &found[1]);
            }
        }
        Self {
            whole: serde_json::from_str(&text).unwrap(),
            shown,
        }
    }

    fn definitions(&self) -> &Map<String, Value> {
        self.whole["$defs"].as_object().unwrap()
    }

    fn definition(&self, name: &str) -> &Value {
        match name {
            "" => &self.whole,
            name => &self.definitions()[name],
        }
    }

    /// What a value may be, in words.
    fn value(&self, value: &Value) -> String {
        if let Some(name) = value["$ref"].as_str() {
            return self.named(name.rsplit('/').next().unwrap());
        }
        if let Some(words) = words(value) {
            return words;
        }
        if let Some(any) = value["anyOf"].as_array() {
            let any: Vec<String> = any.iter().map(|one| self.value(one)).collect();
            return any.join(" or ");
        }
        if let Some(only) = value["const"].as_i64() {
            return format!("`{only}`");
        }
        match &value["type"] {
            Value::String(kind) => match kind.as_str() {
                "string" if value["pattern"] == "\\$\\{" => "a variable".to_owned(),
                "string" => "text".to_owned(),
                "integer" => "whole number".to_owned(),
                "array" => format!("list of: {}", self.value(&value["items"])),
                "object" if value["additionalProperties"].is_object() => {
                    format!("by name: {}", self.value(&value["additionalProperties"]))
                }
                "object" => "map".to_owned(),
                "boolean" if value["const"] == true => "`true`".to_owned(),
                "boolean" => "`true` or `false`".to_owned(),
                kind => kind.to_owned(),
            },
            Value::Array(kinds) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
                kinds.join(", ").replace("string", "text")
            }
            _ => "any value".to_owned(),
        }
    }

    fn named(&self, name: &str) -> String {
        let definition = self.definition(name);
        if let Some(place) = self.shown.get(name) {
            let place = place.strip_prefix("plans.md").unwrap_or(place);
            return format!("[map]({place})");
        }
        match name {
            "TimeLimit" => "time, as `500ms` or `1m 30s`".to_owned(),
            "FixedName" => "name".to_owned(),
            "Word" => "text, number or boolean".to_owned(),
            "Path" => "JSON path".to_owned(),
            "JsonExpect" => "`path` and [operators](#operators)".to_owned(),
            name if name.ends_with("Predicates") || name.ends_with("Operators") => {
                "[operators](#operators)".to_owned()
            }
            _ => self.value(definition),
        }
    }

    /// The keys of a definition as a table.
    fn keys(&self, name: &str) -> String {
        let definition = self.definition(name);
        let required = strings(&definition["required"]);
        let mut rows: Vec<(String, String, String)> = Vec::new();
        for (key, value) in definition["properties"].as_object().unwrap() {
            let about = value["description"].as_str().unwrap_or_default();
            if let Some(other) = about.strip_prefix("The same as ") {
                let other = other.split([',', '.']).next().unwrap();
                let row = rows
                    .iter_mut()
                    .find(|row| row.0.contains(&format!("`{other}`")));
                let row = row.unwrap_or_else(|| panic!("{name}: {key} is the same as what?"));
                write!(row.0, ", `{key}`").unwrap();
                continue;
            }
            let shown = match required.contains(key.as_str()) {
                true => format!("**`{key}`**"),
                false => format!("`{key}`"),
            };
            rows.push((shown, self.value(value), cell(about)));
        }
        let mut table = "\n| key | value | meaning |\n| --- | --- | --- |\n".to_owned();
        for (key, value, about) in rows {
            writeln!(table, "| {key} | {} | {about} |", cell(&value)).unwrap();
        }
        let rule = |rule: &str, words: &str| {
            let groups = definition[rule].as_array()?;
            // What is more than names of keys stands in the keys' own words.
            let names_keys = |group: &Value| group.as_object().is_some_and(|rule| rule.len() == 1);
            if !groups
                .iter()
                .all(|group| names_keys(group) && group["required"].is_array())
            {
                return None;
            }
            let groups: Vec<String> = groups
                .iter()
                .map(|group| {
                    let keys: Vec<String> = strings(&group["required"])
                        .iter()
                        .map(|key| format!("`{key}`"))
                        .collect();
                    keys.join(" with ")
                })
                .collect();
            Some(format!("\n{words} {}.\n", groups.join(", ")))
        };
        table.extend(rule("oneOf", "Exactly one of:"));
        table.extend(rule("anyOf", "At least one of:"));
        if definition["minProperties"] == 1 {
            table.push_str("\nAt least one key.\n");
        }
        table.push('\n');
        table
    }

    /// The operators, with what each may be said of.
    fn operators(&self) -> String {
        let columns = [
            (
                "`text`, `stderr`",
                &["TextOperators", "StderrOperators"][..],
            ),
            ("`json`", &["JsonExpect"]),
            ("`structured`", &["StructuredOperators"]),
            ("`message`", &["ErrorMessageOperators"]),
            (
                "`code`, `count`",
                &["ErrorCodeOperators", "CountPredicates"],
            ),
            ("`duration`", &["DurationOperators"]),
        ];
        let mut table = "\n| operator | operand | holds if |".to_owned();
        columns
            .iter()
            .for_each(|(title, _)| write!(table, " {title} |").unwrap());
        table.push_str("\n| --- | --- | --- |");
        columns.iter().for_each(|_| table.push_str(" :-: |"));
        table.push('\n');
        let has = |name: &str, operator: &str| {
            self.definitions()[name]["properties"]
                .get(operator)
                .is_some()
        };
        for operator in Operator::ALL.map(Operator::name) {
            let row = &self.definitions()["JsonExpect"]["properties"][operator];
            let about = cell(row["description"].as_str().unwrap());
            write!(
                table,
                "| `{operator}` | {} | {about} |",
                cell(&self.value(row))
            )
            .unwrap();
            for (title, targets) in columns {
                let [first, others @ ..] = targets else {
                    unreachable!()
                };
                let here = has(first, operator);
                let alike = others.iter().all(|other| has(other, operator) == here);
                assert!(alike, "{title} differ in {operator}: give each its column");
                table.push_str(if here { " ✓ |" } else { " |" });
            }
            table.push('\n');
        }
        table.push('\n');
        table
    }
}

/// The words of a choice.
fn words(value: &Value) -> Option<String> {
    let of_enum = value["enum"].as_array().map(|words| words.iter().collect());
    let of_consts = || -> Option<Vec<&Value>> {
        let choices = value["oneOf"].as_array()?;
        choices.iter().map(|choice| choice.get("const")).collect()
    };
    let words: Vec<&Value> = of_enum.or_else(of_consts)?;
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("`{}`", word.as_str().unwrap()))
        .collect();
    Some(words.join(", "))
}

fn strings(list: &Value) -> BTreeSet<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// Text as a cell of a table has it.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

#[test]
fn every_key_and_operator_of_plans_is_in_the_reference() {
    let schema = Schema::read();
    let mut missing: BTreeSet<&str> = schema
        .definitions()
        .iter()
        .filter(|(name, definition)| {
            let operators = name.ends_with("Operators") || name.ends_with("Predicates");
            definition["properties"].is_object() && !operators && *name != "JsonExpect"
        })
        .map(|(name, _)| name.as_str())
        .chain([""])
        .collect();
    let mut pages = BTreeMap::new();
    for (name, place) in &schema.shown {
        let file = place.split('#').next().unwrap();
        let page = pages.entry(file).or_insert_with(|| Page::read(file));
        let mark = match name.as_str() {
            "" => "keys:".to_owned(),
            name => format!("keys: {name}"),
        };
        page.hold(&mark, &schema.keys(name));
        missing.remove(name.as_str());
    }
    let plans = pages
        .entry("plans.md")
        .or_insert_with(|| Page::read("plans.md"));
    plans.hold("operators", &schema.operators());
    assert!(
        missing.is_empty(),
        "no page shows the keys of {missing:?}: put `<!-- keys: NAME -->` and `<!-- /keys -->` into docs/plans.md"
    );
}

#[test]
fn every_setting_is_in_the_reference() {
    let output = assert_cmd::Command::cargo_bin("jelly")
        .unwrap()
        .current_dir(root().join("docs"))
        .env_clear()
        .args(["config", "--format", "md"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let written = String::from_utf8(output.stdout).unwrap();
    Page::read("settings.md").hold("settings", &format!("\n{written}\n"));
}

/// An argument of a command, in a row.
fn row(argument: &Arg) -> String {
    let mut name = match (argument.get_long(), argument.get_short()) {
        (Some(long), Some(short)) => format!("`-{short}`, `--{long}"),
        (Some(long), None) => format!("`--{long}"),
        (None, Some(short)) => format!("`-{short}"),
        (None, None) => "`".to_owned(),
    };
    if argument.is_positional() || argument.get_action().takes_values() {
        let values = argument.get_value_names().unwrap_or_default();
        let values: Vec<String> = values.iter().map(|value| format!("<{value}>")).collect();
        let blank = if argument.is_positional() { "" } else { " " };
        write!(name, "{blank}{}", values.join(" ")).unwrap();
    }
    name.push('`');
    let mut effect = argument.get_help().unwrap_or_default().to_string();
    let shown = argument.get_possible_values();
    let shown = shown.iter().filter(|value| !value.is_hide_set());
    let values: Vec<String> = shown
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        write!(effect, ": {}", values.join("; ")).unwrap();
    }
    if argument.get_action().takes_values() {
        for default in argument.get_default_values() {
            write!(effect, " [default: {}]", default.display()).unwrap();
        }
    }
    let effect = cell(&effect).replace('<', "&lt;");
    format!("| {} | {effect} |\n", cell(&name))
}

/// A command and those below it.
fn describe(command: &Command, path: &str, page: &mut String) {
    let path = format!("{path} {}", command.get_name());
    let level = "#".repeat(path.split(' ').count());
    let about = command.get_about().unwrap_or_default();
    writeln!(page, "\n{level} `{path}`\n\n{about}.\n").unwrap();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.replace("Usage: ", "").replace("\n       ", "\n");
    writeln!(page, "```text\n{}\n```", usage.trim_end()).unwrap();
    let everywhere = ["help", "version", "color", "profile"];
    let rows: Vec<String> = command
        .get_arguments()
        .filter(|a| !a.is_hide_set() && !everywhere.contains(&a.get_id().as_str()))
        .map(row)
        .collect();
    if !rows.is_empty() {
        page.push_str("\n| argument | effect |\n| --- | --- |\n");
        page.extend(rows);
    }
    if let Some(more) = command.get_after_help() {
        let more = more.to_string();
        let more: Vec<&str> = more.lines().map(str::trim_end).collect();
        writeln!(page, "\n```text\n{}\n```", more.join("\n").trim()).unwrap();
    }
    for below in command.get_subcommands().filter(|c| c.get_name() != "help") {
        describe(below, &path, page);
    }
}

#[test]
fn every_command_and_flag_is_in_the_reference() {
    let mut all = jelly::cli::command_line();
    all.build();
    let mut page = String::new();
    for command in all.get_subcommands().filter(|c| c.get_name() != "help") {
        describe(command, "jelly", &mut page);
    }
    page.push('\n');
    Page::read("flags.md").hold("commands", &page);
}
