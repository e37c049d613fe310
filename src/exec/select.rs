//! Which steps of a plan a run is about.

use crate::plan::Plan;
use crate::text::close_names;
use std::collections::BTreeSet;

/// `--only` and `--skip`: each names a step's id, a server or a tag, plainly
/// or as `step:ID`, `server:NAME`, `tag:NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub only: Vec<String>,
    pub skip: Vec<String>,
}

/// A filter that nothing in the plan answers to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{filter}` matches no step, server or tag of {plan}")]
pub struct NoSuchFilter {
    pub filter: String,
    pub plan: String,
    /// Names in the plan that are close.
    pub candidates: Vec<String>,
}

impl Selection {
    /// The ids of the selected steps. What a selected step captures from is
    /// selected with it; set-up and teardown always are, unless skipped.
    ///
    /// # Errors
    /// The first filter that matches nothing: most likely a slip.
    pub fn select(&self, plan: &Plan) -> Result<BTreeSet<String>, NoSuchFilter> {
        for filter in self.only.iter().chain(&self.skip) {
            if !plan.all_steps().any(|step| matches(filter, step)) {
                return Err(NoSuchFilter {
                    filter: filter.clone(),
                    plan: plan.name.clone(),
                    candidates: close_names(
                        filter.rsplit_once(':').map_or(filter, |(_, name)| name),
                        names(plan),
                    ),
                });
            }
        }
        let skipped = |step: &crate::plan::Step| self.skip.iter().any(|f| matches(f, step));
        let mut selected: BTreeSet<String> = plan
            .steps
            .iter()
            .filter(|step| self.only.is_empty() || self.only.iter().any(|f| matches(f, step)))
            .chain(&plan.setup)
            .chain(&plan.teardown)
            .filter(|step| !skipped(step))
            .map(|step| step.id.clone())
            .collect();
        // Captures point backwards, so one pass from the end finds them all.
        let steps: Vec<_> = plan.all_steps().collect();
        for step in steps.iter().rev() {
            if selected.contains(&step.id) {
                selected.extend(step.needs.iter().cloned());
            }
        }
        if plan.steps.iter().all(|step| !selected.contains(&step.id)) {
            // Set-up alone is no test.
            selected.clear();
        }
        Ok(selected)
    }
}

fn matches(filter: &str, step: &crate::plan::Step) -> bool {
    match filter.split_once(':') {
        Some(("step", id)) => step.id == id,
        Some(("server", name)) => step.server == name,
        Some(("tag", tag)) => step.tags.iter().any(|t| t == tag),
        Some(_) | None => {
            step.id == filter || step.server == filter || step.tags.iter().any(|t| t == filter)
        }
    }
}

fn names(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.all_steps().flat_map(|step| {
        [step.id.as_str(), step.server.as_str()]
            .into_iter()
            .chain(step.tags.iter().map(String::as_str))
    })
}
