//! Which steps of a plan a run is about.

use jelly_base::model::Section;
use jelly_base::text::close_names;
use jelly_plan::{Plan, Step};
use std::collections::{BTreeMap, BTreeSet};

/// `--only` and `--skip`: each names a step's id, a server or a tag, plainly
/// or as `step:ID`, `server:NAME`, `tag:NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub only: Vec<String>,
    pub skip: Vec<String>,
    /// Whether a step was selected when the run began, by id.
    settled: BTreeMap<String, bool>,
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
    #[must_use]
    pub fn new(only: Vec<String>, skip: Vec<String>) -> Self {
        Self {
            only,
            skip,
            settled: BTreeMap::new(),
        }
    }

    fn selects_all(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty()
    }

    /// The filters that match nothing: most likely slips.
    pub fn unmatched(&self, plan: &Plan) -> Vec<NoSuchFilter> {
        self.only
            .iter()
            .chain(&self.skip)
            .filter(|filter| !plan.all_steps().any(|step| matches(filter, step)))
            .map(|filter| NoSuchFilter {
                filter: filter.clone(),
                plan: plan.name.clone(),
                candidates: close_names(
                    filter.rsplit_once(':').map_or(filter, |(_, name)| name),
                    names(plan),
                ),
            })
            .collect()
    }

    /// The ids of the selected steps. What a selected step captures from is
    /// selected with it; set-up and teardown always are, unless skipped. What
    /// is skipped takes along the steps that capture from it.
    #[must_use]
    pub fn select(&self, plan: &Plan) -> BTreeSet<String> {
        if self.selects_all() {
            return match plan.steps.as_slice() {
                [] => BTreeSet::new(),
                _ => plan.all_steps().map(|step| step.id.clone()).collect(),
            };
        }
        let steps: Vec<&Step> = plan.all_steps().collect();
        // Captures point backwards: one pass from the start finds all that
        // are skipped, and one from the end all that are needed.
        let mut skipped: BTreeSet<&str> = BTreeSet::new();
        for step in &steps {
            let by_name = self.skip.iter().any(|filter| matches(filter, step));
            if by_name || step.needs.iter().any(|id| skipped.contains(id.as_str())) {
                skipped.insert(&step.id);
            }
        }
        let mut selected: BTreeSet<String> = steps
            .iter()
            .filter(|step| !skipped.contains(step.id.as_str()))
            .filter(|step| {
                step.section != Section::Steps
                    || self.only.is_empty()
                    || self.only.iter().any(|filter| matches(filter, step))
            })
            .map(|step| step.id.clone())
            .collect();
        for step in &steps {
            // A repair may have renamed what a filter names.
            match self.settled.get(&step.id) {
                Some(true) => selected.insert(step.id.clone()),
                Some(false) => selected.remove(&step.id),
                None => false,
            };
        }
        for step in steps.iter().rev() {
            if selected.contains(&step.id) {
                selected.extend(step.needs.iter().cloned());
            }
        }
        if plan.steps.iter().all(|step| !selected.contains(&step.id)) {
            // Set-up alone is no test.
            selected.clear();
        }
        selected
    }

    /// The same for the whole run: what is selected now stays so, whatever a
    /// repair renames. Steps that come later are held against the filters.
    #[must_use]
    pub fn settle(mut self, plan: &Plan) -> Self {
        if self.selects_all() {
            return self;
        }
        let selected = self.select(plan);
        self.settled = plan
            .all_steps()
            .map(|step| (step.id.clone(), selected.contains(&step.id)))
            .collect();
        self
    }
}

fn matches(filter: &str, step: &Step) -> bool {
    match filter.split_once(':') {
        Some(("step", id)) => step.is_called(id),
        Some(("server", name)) => step.server == name,
        Some(("tag", tag)) => step.tags.iter().any(|t| t == tag),
        Some(_) | None => {
            step.is_called(filter) || step.server == filter || step.tags.iter().any(|t| t == filter)
        }
    }
}

fn names(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.all_steps().flat_map(|step| {
        let of_all = step.case.as_ref().map(|case| case.step.as_str());
        [step.id.as_str(), step.server.as_str()]
            .into_iter()
            .chain(of_all)
            .chain(step.tags.iter().map(String::as_str))
    })
}

#[cfg(test)]
mod tests {
    use super::Selection;
    use jelly_plan::{Plan, PlanSource, load};

    fn plan(server: &str) -> Plan {
        let text = format!(
            "version: 1
servers: {{ m: {{ command: x }}, n: {{ command: x }} }}
setup:
  - {{ id: up, server: n, tool: t }}
steps:
  - {{ id: make, server: m, tool: t, capture: {{ it: $.content }}, tags: [slow] }}
  - {{ id: use, server: m, tool: t, args: {{ a: '${{it}}' }} }}
  - {{ id: far, server: {server}, tool: t }}
teardown:
  - {{ id: down, server: n, tool: t }}
"
        );
        load(PlanSource {
            path: "p.yaml".into(),
            text: text.into(),
            variant: None,
        })
        .unwrap()
    }

    fn selected(only: &[&str], skip: &[&str]) -> Vec<String> {
        selection(only, skip)
            .select(&plan("n"))
            .into_iter()
            .collect()
    }

    fn selection(only: &[&str], skip: &[&str]) -> Selection {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Selection::new(owned(only), owned(skip))
    }

    #[test]
    fn without_filters_all_steps_are_selected() {
        assert_eq!(selected(&[], &[]), ["down", "far", "make", "up", "use"]);
    }

    #[test]
    fn a_step_brings_what_it_captures_from_and_set_up_and_teardown() {
        assert_eq!(selected(&["use"], &[]), ["down", "make", "up", "use"]);
        assert_eq!(selected(&["server:n"], &[]), ["down", "far", "up"]);
        assert_eq!(selected(&["tag:slow"], &["up"]), ["down", "make"]);
    }

    #[test]
    fn a_skipped_step_is_never_sent_and_takes_its_users_along() {
        assert_eq!(selected(&[], &["make"]), ["down", "far", "up"]);
        assert_eq!(selected(&["use"], &["slow"]), [""; 0]);
    }

    #[test]
    fn set_up_alone_is_no_selection() {
        assert_eq!(selected(&["up"], &[]), [""; 0]);
        assert_eq!(selected(&[], &["m", "far"]), [""; 0]);
    }

    #[test]
    fn a_filter_that_matches_nothing_is_told_with_its_neighbours() {
        let unmatched = selection(&["far", "step:ues"], &["tag:fast"]).unmatched(&plan("n"));
        assert_eq!(unmatched.len(), 2);
        assert_eq!(unmatched[0].filter, "step:ues");
        assert_eq!(unmatched[0].candidates, ["use"]);
    }

    #[test]
    fn a_renamed_server_changes_no_selection() {
        let before = plan("nn");
        for (only, skip) in [(["server:nn"], ["server:m"]), (["server:m"], ["server:nn"])] {
            let settled = selection(&only, &skip).settle(&before);
            assert_eq!(settled.select(&plan("n")), settled.select(&before));
        }
    }
}
