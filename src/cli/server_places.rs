//! What a look at the machine shows of a server of a plan that did not start.

use super::doctor::sight::Machine;
use jelly_base::model::{Diagnosis, Failure};
use jelly_base::text::redact::Redactor;
use jelly_plan::{Format, Location, Plan};
use jelly_setup::doctor::{Place, PlanServer, look};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// By the names of the servers, where each is defined: the file, which may be
/// one that the plan includes, how that is written, and the place in it.
pub struct ServerPlaces(BTreeMap<String, (PathBuf, Format, Location)>);

impl ServerPlaces {
    pub fn of(plan: &Plan) -> Self {
        let place = |at: Location| {
            let file = plan.file(at);
            (file.path.clone(), file.format(), at)
        };
        let servers = plan.servers.iter();
        Self(
            servers
                .map(|(name, server)| (name.clone(), place(server.at)))
                .collect(),
        )
    }

    /// Makes the diagnosis of a server more precise by what stands there.
    pub fn look(
        &self,
        diagnosis: &mut Diagnosis,
        failure: &Failure,
        redactor: &Redactor,
        env: &BTreeMap<String, String>,
    ) {
        let place = failure.server.as_ref().and_then(|name| self.0.get(name));
        let Some((plan, format, at)) = place else {
            return;
        };
        let server = PlanServer {
            plan,
            is_json: *format == Format::Json,
            place: Place {
                line: at.line,
                column: at.column,
            },
            redactor,
            home: env.get("HOME").map(Path::new),
            sight: &Machine {
                path: env.get("PATH").map_or("", String::as_str),
            },
        };
        look(diagnosis, failure, &server);
    }
}
