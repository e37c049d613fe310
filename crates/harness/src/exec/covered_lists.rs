//! The lists of a server whose coverage is counted.

use super::open_server::list;
use super::server_lane::ServerLane;
use jelly_base::mcp::ListKind;
use jelly_contract::listed_items;
use jelly_wire::Session;
use serde_json::Value;

impl ServerLane {
    /// Asks for the lists of a server that is ready, where its coverage is counted. One
    /// that does not come has nothing to cover; a step that needs it tells why.
    pub(super) async fn list_for_coverage(&self, session: &Session) {
        let Some(record) = &self.shared.coverage else {
            return;
        };
        let mut lists: [Vec<Value>; 3] = Default::default();
        let kinds = [
            ListKind::Prompts,
            ListKind::Resources,
            ListKind::ResourceTemplates,
        ];
        let (facts, limit) = (&self.prepared.facts, self.server.request_timeout);
        for (items, kind) in lists.iter_mut().zip(kinds) {
            let listed = tokio::select! {
                // That it has none is known at once, in a run that is being stopped too.
                biased;
                listed = list(session, facts, kind, limit) => listed,
                _ = self.shared.stop() => return,
            };
            *items = listed.ok().flatten().unwrap_or_default();
        }
        let tools = session.tools().iter();
        let tools = tools.map(|tool| (tool.name.as_str(), tool.input_schema.as_ref()));
        let [prompts, resources, templates] = &lists;
        let items = listed_items(tools, prompts, resources, templates);
        record.list(&self.server.name, items);
    }
}
