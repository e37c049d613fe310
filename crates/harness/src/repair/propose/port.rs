//! `free_port`: the port is in use, and the plan leaves it to jelly which one
//! to take.

use crate::repair::case::{FailureCase, server_target};
use crate::repair::types::{Proposal, RepairId};
use jelly_plan::Server;

pub(super) fn choose_another(case: &FailureCase<'_>) -> Option<Proposal> {
    let server = case.server()?;
    if case.diagnosis.root_cause != "port_in_use" || !declares_port(server) {
        return None;
    }
    let explanation = format!("took another free port for {}", server.name);
    Some(Proposal {
        new_ports_for: vec![server.name.clone()],
        ..Proposal::new(RepairId::FreePort, server_target(&server.name), explanation)
    })
}

fn declares_port(server: &Server) -> bool {
    let mut parts = server.templates().flat_map(|template| &template.parts);
    let own = Some(server.name.as_str());
    parts.any(|part| part.port(own) == own)
}
