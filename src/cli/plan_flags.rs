//! What a command that runs one plan of a call again repeats of the call.

use super::call::RunCall;
use super::invalid::{placed_variables, read};
use super::matrix::jobs;
use jelly_harness::exec::Selection;
use jelly_harness::triage_loop::{CallFlag, CallFlags};
use jelly_plan::Plan;
use std::rc::Rc;

/// What of the flags of the call makes sense for one of its plans: a filter or a variable that is
/// another one's would be a slip, where this plan is run alone.
pub fn flags_for(call: &RunCall, plan: &Plan, plan_copy: Option<String>) -> CallFlags {
    let mut flags = CallFlags {
        folder: call.world.cwd.display().to_string(),
        plan_copy,
        ..call.args.again.clone()
    };
    if !call.several {
        return flags;
    }
    // Coverage is counted over all plans.
    flags.whole.clear();
    let vars = call.vars();
    let foreign = foreign_filters(call, plan, &flags);
    let source = std::slice::from_ref(&plan.source);
    let placed = placed_variables(source, &vars, call.project());
    let is_placed = |name: &str| placed.as_ref().is_none_or(|all| all.contains(name));
    let is_own = |flag: &CallFlag| {
        let value = flag.value.as_deref().unwrap_or_default();
        let name = value.split('=').next().unwrap_or_default();
        let is_foreign = is_filter(flag) && foreign.iter().any(|filter| filter == value);
        let is_stray = flag.name == "--var" && !is_placed(name);
        !is_foreign && !is_stray
    };
    flags.kept.retain(is_own);
    for (_, taken) in &mut flags.elsewhere {
        taken.retain(is_own);
    }
    flags
}

/// The filters of the call that select nothing of a plan.
fn foreign_filters(call: &RunCall, plan: &Plan, flags: &CallFlags) -> Rc<[String]> {
    let values = flags.kept.iter().filter(|flag| is_filter(flag));
    let filters: Vec<&str> = values.filter_map(|flag| flag.value.as_deref()).collect();
    if filters.is_empty() {
        return Rc::default();
    }
    let path = &plan.source.path;
    if let Some(known) = call.foreign_filters.borrow().get(path) {
        return Rc::clone(known);
    }
    // All combinations of the plan would be run.
    let vars = call.vars();
    let plans = jobs(std::slice::from_ref(path), &vars, call.project()).into_iter();
    let plans = plans.map(|job| read(&job.path, job.variant, &vars, call.project()));
    let plans: Vec<Plan> = plans.filter_map(Result::ok).collect();
    let is_foreign = |filter: &&str| {
        let one = Selection::new(vec![(*filter).to_owned()], Vec::new());
        plans.iter().all(|plan| !one.unmatched(plan).is_empty())
    };
    let foreign = filters.into_iter().filter(is_foreign);
    let foreign: Rc<[String]> = foreign.map(str::to_owned).collect();
    let mut known = call.foreign_filters.borrow_mut();
    known.insert(path.clone(), Rc::clone(&foreign));
    foreign
}

fn is_filter(flag: &CallFlag) -> bool {
    ["--only", "--skip"].contains(&flag.name.as_str())
}
