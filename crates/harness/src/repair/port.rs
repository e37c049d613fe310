//! `free_port`: the port is in use, and the plan leaves it to jelly which one
//! to take.

use super::types::{Proposal, RepairId};
use jelly_base::model::{Diagnosis, Failure};
use jelly_plan::{Part, Plan, Server};

pub(super) fn propose(plan: &Plan, failure: &Failure, diagnosis: &Diagnosis) -> Option<Proposal> {
    if diagnosis.root_cause != "port_in_use" {
        return None;
    }
    let server = plan.servers.get(failure.server.as_ref()?)?;
    if !declares_port(server) {
        return None;
    }
    let mut proposal = Proposal::new(
        RepairId::FreePort,
        format!("servers.{}", server.name),
        format!("took another free port for {}", server.name),
    );
    proposal.new_ports_for.push(server.name.clone());
    Some(proposal)
}

fn declares_port(server: &Server) -> bool {
    server
        .templates()
        .flat_map(|template| &template.parts)
        .any(|part| match part {
            Part::Port(None) => true,
            Part::Port(Some(name)) => *name == server.name,
            Part::Text(_)
            | Part::Workspace
            | Part::Tmp
            | Part::Env(_)
            | Part::Secret(_)
            | Part::Name(_) => false,
        })
}
