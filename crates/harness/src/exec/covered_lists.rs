//! The lists of a server whose coverage is counted.

use super::server_lane::ServerLane;
use jelly_base::mcp::ListKind;
use jelly_contract::listed_items;
use jelly_wire::{ReplyOutcome, Session};
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
        for (list, kind) in lists.iter_mut().zip(kinds) {
            if session.capabilities().get(kind.capability()).is_none() {
                continue;
            }
            let limit = self.server.request_timeout;
            let reply = tokio::select! {
                reply = session.list(kind, Value::Null, limit) => reply,
                _ = self.shared.stop() => return,
            };
            if let ReplyOutcome::Answered(mut result) = reply.outcome
                && let Some(Value::Array(items)) = result.get_mut(kind.key()).map(Value::take)
            {
                *list = items;
            }
        }
        let tools = session.tools().iter();
        let tools = tools.map(|tool| (tool.name.as_str(), tool.input_schema.as_ref()));
        let [prompts, resources, templates] = &lists;
        let items = listed_items(tools, prompts, resources, templates);
        record.list(&self.server.name, items);
    }
}
