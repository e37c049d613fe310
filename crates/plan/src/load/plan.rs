//! The document as a whole.

use super::include::{Gathered, folder_of, gather, in_file, place_in_file};
use super::misplaced;
use super::path::Path;
use super::problem::{PlanError, Problem};
use super::reader::{Fields, Reader};
use super::references::{Needs, TemplatePlace};
use super::step::{UnreadStep, captured, ids};
use crate::argument_files::{ArgumentFiles, FileReader};
use crate::grammar::{BUDGETS, HOOKS, INCLUDED, PLAN};
use crate::masked::{is_masked, literal_secrets};
use crate::syntax::{self, Data, Node, Span, Trouble};
use crate::{BudgetOverrides, Hooks, Matrix, Plan, PlanSource, Server, Service, Step};
use indexmap::IndexMap;
use jelly_base::model::Section;
use jelly_base::text::redact::secrets_in_text;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path as FilePath;
use std::sync::Arc;

/// Reads a plan.
///
/// A step that names a server the plan does not define is no error here: the
/// name may be repaired, and the other steps can run. [`check`] reports it.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn load(source: PlanSource) -> Result<Plan, PlanError> {
    load_with(source, &IndexMap::new())
}

/// Reads a plan to which `vars` were given from outside; they stand before
/// the plan's own, and win over them.
///
/// # Errors
/// As [`load`].
pub fn load_with(source: PlanSource, vars: &IndexMap<String, Value>) -> Result<Plan, PlanError> {
    read(source, vars, None, false)
}

/// As [`load_with`], of a project that is another folder than the plan's: what
/// it includes lies there.
///
/// # Errors
/// As [`load`].
pub fn load_in(
    source: PlanSource,
    vars: &IndexMap<String, Value>,
    project: Option<&FilePath>,
) -> Result<Plan, PlanError> {
    read(source, vars, project, false)
}

/// As [`load`], and what would only show when the plan runs is an error too:
/// a step whose server is not defined, a plan without steps.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn check(source: PlanSource) -> Result<Plan, PlanError> {
    check_in(source, &IndexMap::new(), None)
}

/// As [`check`], of a plan to which `vars` were given from outside, and of a
/// project that is another folder than the plan's.
///
/// # Errors
/// As [`check`].
pub fn check_in(
    source: PlanSource,
    vars: &IndexMap<String, Value>,
    project: Option<&FilePath>,
) -> Result<Plan, PlanError> {
    read(source, vars, project, true)
}

/// What the parts of a document came to.
#[derive(Default)]
pub(super) struct Parts {
    name: Option<String>,
    vars: IndexMap<String, Value>,
    budgets: BudgetOverrides,
    hooks: Hooks,
    wire_check: bool,
    contract_promised: bool,
    pub(super) matrix: Option<Matrix>,
    pub(super) servers: IndexMap<String, Server>,
    services: IndexMap<String, Service>,
    setup: Vec<Step>,
    steps: Vec<Step>,
    teardown: Vec<Step>,
    literal_secrets: Vec<(String, String)>,
    files: ArgumentFiles,
}

fn read(
    source: PlanSource,
    vars: &IndexMap<String, Value>,
    project: Option<&FilePath>,
    strict: bool,
) -> Result<Plan, PlanError> {
    let Gathered { files, troubles } = gather(&source, project);
    let included: Vec<PlanSource> = files;
    let folder = project.unwrap_or_else(|| folder_of(&source.path));
    let files = FileReader::of(folder);
    let (parts, problems) = parse(&source, (&included, troubles), (vars, files), strict);
    if !problems.is_empty() {
        return Err(PlanError::new(source, included, problems));
    }
    let mut name = parts.name.unwrap_or_else(|| {
        let stem = source.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    });
    // Each combination has a history of its own.
    if let Some(variant) = &source.variant {
        name.push_str(&format!(" [{}]", variant.label()));
    }
    Ok(Plan {
        source,
        included,
        files: parts.files,
        literal_secrets: parts.literal_secrets,
        name,
        matrix: parts.matrix,
        vars: parts.vars,
        budgets: parts.budgets,
        hooks: parts.hooks,
        wire_check: parts.wire_check,
        contract_promised: parts.contract_promised,
        servers: parts.servers,
        services: parts.services,
        setup: parts.setup,
        steps: parts.steps,
        teardown: parts.teardown,
    })
}

fn parse(
    source: &PlanSource,
    (files, include_troubles): (&[PlanSource], Vec<(usize, Trouble)>),
    (vars, argument_files): (&IndexMap<String, Value>, FileReader),
    strict: bool,
) -> (Parts, Vec<Problem>) {
    if is_masked(&source.text) {
        let mut reader = Reader::new(&source.text, Vec::new());
        let line = source.text.find('\n').unwrap_or(source.text.len());
        reader
            .problem_at(
                0..line,
                Path::ROOT,
                "jelly has masked this plan: values are left out of it",
            )
            .hint(
                "run your own file; `jelly apply` puts the repairs of a run into it, and so \
                 does `jelly run --write-repairs`",
            );
        return (Parts::default(), reader.into_problems());
    }
    let (mut root, mut troubles) = match misplaced::no_plan_by_format(source) {
        Some(trouble) => (None, vec![trouble]),
        None => syntax::parse(source),
    };
    if let Some(document) = &mut root
        && !misplaced::put_right(document, source, &mut troubles)
    {
        root = None;
    }
    let broken = !troubles.is_empty();
    let mut reader = Reader::new(&source.text, troubles);
    reader.variant.clone_from(&source.variant);
    reader.strict = strict;
    reader.names.argument_files = argument_files;
    let mut included: Vec<(usize, Node<'_>)> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let (root, troubles) = syntax::parse(file);
        let whole = troubles.is_empty();
        reader.add_file(&file.text, troubles);
        included.extend(root.filter(|_| whole).map(|root| (index + 1, root)));
    }
    reader.names.files = [source]
        .into_iter()
        .chain(files)
        .map(|f| f.path.clone())
        .collect();
    reader.names.incomplete = included.len() < files.len() || !include_troubles.is_empty();
    for (file, trouble) in include_troubles {
        reader.enter(file);
        reader
            .problem_at(trouble.span.range(), Path::ROOT, trouble.message)
            .hints = trouble.hints;
    }
    reader.enter(0);
    let mut parts = Parts::default();
    match root {
        Some(root) if !matches!(root.data, Data::Null) => {
            reader.document(&root, &included, vars, strict, &mut parts);
            parts.literal_secrets = literal_secrets(&source.text, &root, vars);
            for (number, root) in &included {
                let text = &files[number - 1].text;
                let more = literal_secrets(text, root, &IndexMap::new());
                parts.literal_secrets.extend(more);
            }
            parts.files = std::mem::take(&mut reader.names.argument_files).into_files();
            // What a file holds may come back in any answer.
            let found = parts.files.texts().flat_map(secrets_in_text);
            let found = found.map(|found| (found.name.to_string(), found.value.to_string()));
            parts.literal_secrets.extend(found.collect::<Vec<_>>());
        }
        Some(_) | None if !broken => {
            reader
                .problem_at(0..0, Path::ROOT, "the plan is empty")
                .hint("a plan begins with `version: 1`, `servers:` and `steps:`");
        }
        Some(_) | None => {}
    }
    (parts, reader.into_problems())
}

impl<'t> Reader<'t> {
    fn document(
        &mut self,
        root: &Node<'t>,
        included: &[(usize, Node<'t>)],
        given: &IndexMap<String, Value>,
        strict: bool,
        parts: &mut Parts,
    ) {
        let path = Path::ROOT;
        let Some(fields) = self.fields(root, path, &PLAN) else {
            return;
        };
        self.version(fields);
        parts.name = self.read(fields, "name");
        if let Some(node) = fields.get("budgets") {
            parts.budgets = self.budgets(node, path.key("budgets"));
        }
        if let Some(node) = fields.get("hooks") {
            parts.hooks = self.hooks(node, path.key("hooks"));
        }
        parts.wire_check = self.read(fields, "wire") == Some("strict");
        parts.contract_promised = self.read(fields, "contract") == Some("promised");

        let mut files: Vec<(usize, Fields<'_, 't, '_>)> = Vec::new();
        for (file, root) in included {
            self.enter(*file);
            files.extend(
                self.fields(root, path, &INCLUDED)
                    .map(|fields| (*file, fields)),
            );
        }
        self.enter(0);
        files.push((0, fields));
        for (_, fields) in &files {
            if let Some(Data::Map(named)) = fields.get("servers").map(|node| &node.data) {
                let names = named.iter().map(|entry| entry.key.clone().into_owned());
                self.names.servers.extend(names);
            }
        }
        self.name_services(fields);
        self.names.likely_servers = self.names.servers.iter().cloned().collect();
        let servers = fields.get("servers");
        if let Some(node) = fields.get("matrix") {
            parts.matrix = self.matrix(node, path.key("matrix"));
        }
        if let Some(matrix) = &parts.matrix {
            // Outside a run, any combination will do to see the plan by.
            let first = || Arc::new(matrix.variants().into_iter().next().unwrap_or_default());
            self.variant.get_or_insert_with(first);
            self.names.under_other_names(&matrix.servers);
        }
        if let Some(node) = fields.get("defaults") {
            self.defaults(node, path.key("defaults"));
        }
        let raw = self.raw_steps(&files);
        if let (Some(node), Some(matrix)) = (fields.get("matrix"), &parts.matrix) {
            self.axes_that_reach_nothing((node, matrix), servers, &raw, path.key("matrix"));
        }
        let ids = ids(&raw);
        for (raw, id) in raw.iter().zip(&ids) {
            for entry in captured(raw) {
                self.names
                    .later_captures
                    .entry(entry.key.clone().into_owned())
                    .or_insert_with(|| id.clone());
            }
        }

        parts.vars = self.vars(fields.get("vars"), given, path.key("vars"));
        self.all_servers(&files, parts);
        parts.services = self.services(fields);
        self.duplicate_ids(&raw);
        let (raw, ids) = self.expand(raw, ids);
        let startups = self.all_startups(&files, parts);
        let of_setup = raw.iter().filter(|raw| raw.section == Section::Setup);
        let of_setup = of_setup.count();
        // The starts stand between set-up and the steps.
        let place = |position: usize| match position < of_setup {
            true => position,
            false => position + startups.len(),
        };
        self.name_startups(&startups, of_setup);
        self.name_steps(&raw, &ids, place);
        self.ids_of_startups(&raw, &ids, &startups);
        let steps = raw.iter().filter(|raw| raw.section == Section::Steps);
        parts.steps.reserve_exact(startups.len() + steps.count());
        parts.steps.extend(startups.iter().cloned());
        for (position, (raw, id)) in raw.iter().zip(&ids).enumerate() {
            self.enter(raw.file);
            let list = path.key(raw.section_key());
            let path = list.index(raw.index);
            if strict {
                self.unknown_server(&raw.node, path);
            }
            if let Some(mut step) = self.step(raw, id, place(position), path) {
                self.used_though_it_refuses(&step, &raw.node, path, &startups);
                self.has_a_url(&step, &raw.node, path, &parts.servers);
                self.sent_in_no_pin(&step, &raw.node, path);
                place_in_file(&mut step, raw.file);
                match raw.section {
                    Section::Setup => parts.setup.push(step),
                    Section::Steps => parts.steps.push(step),
                    Section::Teardown => parts.teardown.push(step),
                }
            }
        }
        self.enter(0);
        self.settle_snapshots(None, None);
        let in_any = |key: &str| files.iter().any(|(_, fields)| fields.get(key).is_some());
        match fields.entry("steps") {
            Some(steps) if strict => {
                let has_others = |(_, root): &(usize, Node<'_>)| root.entry("steps").is_some();
                let none = matches!(&steps.value.data, Data::List(items) if items.is_empty());
                if none && startups.is_empty() && !self.names.incomplete {
                    let (message, hint) = match included.iter().any(has_others) {
                        true => (
                            "there are no steps here",
                            "leave `steps` out: those of the included files are enough",
                        ),
                        false => (
                            "there are no steps, so nothing is tested",
                            "add one, as in `- { tool: NAME }`",
                        ),
                    };
                    self.problem(steps.key_span, path, message).hint(hint);
                }
            }
            Some(_) => {}
            None if in_any("steps") || self.names.incomplete => {}
            None => self.missing_at_start(fields, "steps"),
        }
    }

    /// Those of all files, in their order.
    fn all_servers(&mut self, files: &[(usize, Fields<'_, 't, '_>)], parts: &mut Parts) {
        let path = Path::ROOT.key("servers");
        let mut any = false;
        for (file, fields) in files {
            self.enter(*file);
            let Some(node) = fields.get("servers") else {
                continue;
            };
            any = true;
            for (name, mut server) in self.servers(node, path) {
                server.path = in_file(*file, &server.path);
                if parts.servers.contains_key(&name) {
                    let span = node.entry(&name).map_or(node.span, |entry| entry.key_span);
                    let message = format!("another file defines the server `{name}` too");
                    self.problem(span, path, message)
                        .hint("give one of them another name");
                    continue;
                }
                parts.servers.insert(name, server);
            }
            if matches!(&node.data, Data::Map(named) if named.is_empty()) {
                self.problem(node.span, path, "a plan needs a server");
            }
        }
        for (file, fields) in files {
            self.enter(*file);
            if let Some(node) = fields.get("servers") {
                let is_all = files.len() == 1;
                self.ports_that_reach_nobody(node, &parts.servers, &parts.vars, is_all);
            }
        }
        self.enter(0);
        if let (false, Some((_, fields))) = (any || self.names.incomplete, files.last()) {
            self.missing_at_start(*fields, "servers");
        }
    }

    fn missing_at_start(&mut self, fields: Fields<'_, 't, '_>, key: &str) {
        let start = fields.node.span.start as usize;
        self.missing(fields, key, start..start);
    }

    fn version(&mut self, fields: Fields<'_, 't, '_>) {
        let Some(node) = fields.get("version") else {
            self.missing_at_start(fields, "version");
            return;
        };
        let is_one = match &node.data {
            Data::Number(number) => number.as_u64() == Some(1),
            Data::Null | Data::Bool(_) | Data::String(_) | Data::List(_) | Data::Map(_) => false,
        };
        if !is_one {
            let written = self.written(node).into_owned();
            let message = if node.is_scalar() {
                format!("there is no version `{written}` of the plan format")
            } else {
                format!("expected a number, found {}", node.kind())
            };
            self.problem(node.span, fields.path.key("version"), message)
                .hint("write `version: 1`");
        }
    }

    fn vars(
        &mut self,
        node: Option<&Node<'t>>,
        given: &IndexMap<String, Value>,
        path: Path<'_>,
    ) -> IndexMap<String, Value> {
        let mut vars = given.clone();
        self.names.vars = given.keys().cloned().collect();
        self.names.values.clone_from(given);
        let Some(node) = node else {
            return vars;
        };
        let entries = self.entries(node, path, "variables by name").unwrap_or(&[]);
        self.names.later_vars = entries.iter().map(|e| e.key.clone().into_owned()).collect();
        for entry in entries {
            let path = path.key(&entry.key);
            self.new_name(entry.key_span, &entry.key, path);
            self.templates(
                &entry.value,
                path,
                TemplatePlace::Variable,
                &mut Needs::new(),
            );
            if !given.contains_key(entry.key.as_ref()) {
                let name = entry.key.clone().into_owned();
                self.names.vars.insert(name.clone());
                vars.insert(name, entry.value.to_value());
            }
        }
        self.names.later_vars.clear();
        self.names.values.clone_from(&vars);
        vars
    }

    fn budgets(&mut self, node: &Node<'t>, path: Path<'_>) -> BudgetOverrides {
        let Some(fields) = self.fields(node, path, &BUDGETS) else {
            return BudgetOverrides::default();
        };
        BudgetOverrides {
            max_iterations: self.read(fields, "max_iterations"),
            retries: self.read(fields, "retries"),
            confirms: self.read(fields, "confirms"),
            mcp_repairs: self.read(fields, "mcp_repairs"),
            test_fixes: self.read(fields, "test_fixes"),
            code_refines: self.read(fields, "code_refines"),
            deadline: self.read(fields, "deadline"),
        }
    }

    fn hooks(&mut self, node: &Node<'t>, path: Path<'_>) -> Hooks {
        let Some(fields) = self.fields(node, path, &HOOKS) else {
            return Hooks::default();
        };
        let mut argv = |key: &str| self.argv(fields.get(key)?, path.key(key));
        Hooks {
            refine_code: argv("refine_code"),
            fix_tests: argv("fix_tests"),
        }
    }

    pub(super) fn argv(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Vec<String>> {
        let items = self.list(node, path, "a command and its arguments")?;
        if items.is_empty() {
            self.problem(node.span, path, "a hook needs a command");
            return None;
        }
        for (index, item) in items.iter().enumerate() {
            if item.as_str().is_some_and(|text| text.contains("${")) {
                self.problem(item.span, path.index(index), "a hook can't hold variables")
                    .hint("a hook runs in the project folder, and gets what it needs on stdin");
            }
        }
        let argv = self.words(node, path, "a command and its arguments");
        if argv.first().is_some_and(String::is_empty) {
            self.problem(items[0].span, path.index(0), "a command can't be empty");
        }
        Some(argv)
    }

    fn raw_steps<'n>(&mut self, files: &[(usize, Fields<'n, 't, '_>)]) -> Vec<UnreadStep<'n, 't>> {
        let mut raw = Vec::new();
        for section in [Section::Setup, Section::Steps, Section::Teardown] {
            let key = section_key(section);
            for (file, fields) in files {
                self.enter(*file);
                let Some(node) = fields.get(key) else {
                    continue;
                };
                let items = self
                    .list(node, fields.path.key(key), "steps")
                    .unwrap_or(&[]);
                raw.extend(items.iter().enumerate().map(|(index, node)| UnreadStep {
                    section,
                    file: *file,
                    index,
                    node: Cow::Borrowed(node),
                    case: None,
                }));
            }
        }
        self.enter(0);
        raw
    }

    fn duplicate_ids(&mut self, steps: &[UnreadStep<'_, 't>]) {
        let mut seen: IndexMap<&str, (usize, Span)> = IndexMap::new();
        for raw in steps {
            let Some(entry) = raw.node.entry("id") else {
                continue;
            };
            let Some(id) = entry.value.as_str().filter(|id| !id.is_empty()) else {
                continue;
            };
            self.enter(raw.file);
            if let Some((file, first)) = seen.get(id).copied() {
                let list = Path::ROOT.key(raw.section_key());
                let path = list.index(raw.index);
                let message = format!("two steps have the id `{id}`");
                let elsewhere = self.elsewhere(raw.file, (file, first));
                let problem = self.problem(entry.value.span, path.key("id"), message);
                problem.hint("an id is unique in the plan");
                match elsewhere {
                    Some(place) => problem.hint(format!("the first one is at {place}")),
                    None => problem.also(first.range(), "the first one"),
                };
            } else {
                seen.insert(id, (raw.file, entry.value.span));
            }
        }
        self.enter(0);
    }

    /// Takes note of all steps, for those that name one.
    fn name_steps(
        &mut self,
        steps: &[UnreadStep<'_, 't>],
        ids: &[String],
        place: impl Fn(usize) -> usize,
    ) {
        for (position, (step, id)) in steps.iter().zip(ids).enumerate() {
            let of_all = step.case.as_ref().map(|case| &case.step);
            for name in [id].into_iter().chain(of_all) {
                let named = self.names.steps.entry(name.clone()).or_default();
                named.push((place(position), id.clone()));
            }
        }
    }
}

fn section_key(section: Section) -> &'static str {
    match section {
        Section::Setup => "setup",
        Section::Steps => "steps",
        Section::Teardown => "teardown",
    }
}
