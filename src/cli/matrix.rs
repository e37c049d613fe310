//! A plan with a matrix: what it is run as, and what its runs come to together.

use super::call::PlanEnd;
use super::plan_files::read_source;
use crate::report::{Ran, compare};
use indexmap::IndexMap;
use jelly_base::model::MatrixReport;
use jelly_plan::{Plan, Variant, load_in};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One plan to run, in one combination of its matrix where it has one.
pub struct Job {
    pub path: PathBuf,
    pub variant: Option<Arc<Variant>>,
    /// What the file said when the call began, where it can be read: a hook of
    /// another plan may change it before its turn comes.
    pub text: Option<Arc<str>>,
}

impl Job {
    /// What its report folder is named after.
    pub fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        match &self.variant {
            None => stem.into_owned(),
            Some(variant) => format!("{stem}-{}", variant.label().replace(", ", "-")),
        }
    }
}

/// What to run for the plans: each as often as its matrix says. One that can't
/// be read is run once, and says so then.
pub fn jobs(paths: &[PathBuf], vars: &IndexMap<String, Value>, project: Option<&Path>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for path in paths {
        let variants = variants(path, vars, project);
        // Nobody but another run of this call could change it meanwhile.
        let alone = paths.len() == 1 && variants.is_empty();
        let text = (!alone).then(|| read_source(path).ok().map(|source| source.text));
        let text = text.flatten();
        if variants.is_empty() {
            jobs.push(Job {
                path: path.clone(),
                variant: None,
                text: text.clone(),
            });
        }
        jobs.extend(variants.into_iter().map(|variant| Job {
            path: path.clone(),
            variant: Some(Arc::new(variant)),
            text: text.clone(),
        }));
    }
    jobs
}

fn variants(path: &Path, vars: &IndexMap<String, Value>, project: Option<&Path>) -> Vec<Variant> {
    let matrix = read_source(path)
        .ok()
        // Most plans have none, and need not be read twice.
        .filter(|source| source.text.contains("matrix"))
        .and_then(|source| load_in(source, vars, project).ok()?.matrix);
    matrix.map_or_else(Vec::new, |matrix| matrix.variants())
}

/// Which combination of which matrix a run was of.
pub struct InMatrix {
    /// The plan's name without that of the combination.
    plan: String,
    axes: IndexMap<String, Vec<String>>,
    name: String,
    values: IndexMap<String, String>,
    /// By step, as `file:line:column`.
    places: IndexMap<String, String>,
}

impl InMatrix {
    pub fn locate(plan: &Plan) -> Option<Self> {
        let variant = plan.source.variant.as_ref()?;
        let name = variant.label();
        let whole = plan.name.strip_suffix(&format!(" [{name}]"));
        Some(Self {
            plan: whole.unwrap_or(&plan.name).to_owned(),
            axes: plan.matrix.as_ref()?.axes().into_iter().collect(),
            values: variant.values(),
            places: plan
                .all_steps()
                .map(|step| (step.id.clone(), plan.at(step.at)))
                .collect(),
            name,
        })
    }
}

/// The runs of each plan with a matrix, side by side.
pub fn compare_all(ends: &[PlanEnd]) -> Vec<MatrixReport> {
    let mut by_plan: IndexMap<&str, (&InMatrix, Vec<Ran<'_>>)> = IndexMap::new();
    for end in ends {
        let Some((place, answers)) = &end.matrix else {
            continue;
        };
        let runs = by_plan.entry(&end.report.plan.path);
        runs.or_insert_with(|| (place, Vec::new())).1.push(Ran {
            name: &place.name,
            values: &place.values,
            report: &end.report,
            answers,
            places: &place.places,
        });
    }
    by_plan
        .into_values()
        .map(|(first, runs)| compare(&first.plan, first.axes.clone(), &runs))
        .collect()
}
