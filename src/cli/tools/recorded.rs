//! What a recorded session showed of a server.

use jelly_base::mcp::{DISCOVER, Era, INITIALIZE, ListKind};
use jelly_base::model::Inventory;
use jelly_replay::Exchange;
use serde_json::Value;

/// What the server listed and said of itself. A list that nobody asked for is not
/// known.
pub fn recorded_inventory(exchanges: &[Exchange]) -> Inventory {
    let mut inventory = Inventory::default();
    for exchange in exchanges {
        let result = exchange.answer().and_then(|(_, it)| it.get("result"));
        let Some(result) = result else {
            continue;
        };
        let method = exchange.method();
        let era = match method {
            DISCOVER => Some(Era::Modern),
            INITIALIZE => Some(Era::Legacy),
            _ => None,
        };
        if let Some(era) = era {
            let word = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
            inventory.era = era.to_string();
            inventory.protocol_version = word("protocolVersion").unwrap_or_default();
            inventory.server_info = result.get("serverInfo").cloned().unwrap_or_default();
            inventory.capabilities = result.get("capabilities").cloned().unwrap_or_default();
            inventory.instructions = word("instructions");
        }
        let Some(kind) = ListKind::listed_by(method) else {
            continue;
        };
        let list = match kind {
            ListKind::Tools => &mut inventory.tools,
            ListKind::Resources => &mut inventory.resources,
            ListKind::ResourceTemplates => &mut inventory.resource_templates,
            ListKind::Prompts => &mut inventory.prompts,
        };
        let cursor = exchange.message.pointer("/params/cursor");
        if cursor.is_none() {
            *list = Some(Vec::new());
        }
        if let (Some(items), Some(Value::Array(page))) = (list, result.get(kind.key())) {
            items.extend(page.iter().cloned());
        }
    }
    inventory
}
