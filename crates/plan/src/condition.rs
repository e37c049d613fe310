//! Whether a step runs, by what is known before anything is answered.

use crate::{Condition, Scope, Server, Unresolved, resolve_json};
use jelly_base::mcp::{Era, Revision};
use jelly_base::text::same;
use serde_json::Value;

impl Condition {
    /// Whether it holds of a step of `server`, on `platform`.
    ///
    /// # Errors
    /// The first variable without a value: then nobody can say.
    pub fn holds(
        &self,
        server: Option<&Server>,
        platform: &str,
        scope: &Scope,
    ) -> Result<bool, Unresolved> {
        let Self {
            platforms,
            era,
            vars,
        } = self;
        let on_platform = platforms.is_empty() || platforms.iter().any(|name| name == platform);
        let of_era = era.is_none_or(|era| server.and_then(Server::pinned_era) == Some(era));
        if !on_platform || !of_era {
            return Ok(false);
        }
        let name = server.map_or("", |server| &server.name);
        for asked in vars {
            let value = resolve_json(&asked.value, scope, name)?;
            let wanted = resolve_json(&asked.wanted, scope, name)?;
            if !alike(&value, &wanted) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Flags and the environment have only texts, so that a text is like the number
/// or the boolean that it spells.
fn alike(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::String(text), other @ (Value::Bool(_) | Value::Number(_)))
        | (other @ (Value::Bool(_) | Value::Number(_)), Value::String(text)) => {
            let spelled = other.to_string();
            *text == spelled
        }
        _ => same(value, wanted),
    }
}

impl Server {
    /// The era that it is pinned to, by itself or by the matrix.
    #[must_use]
    pub fn pinned_era(&self) -> Option<Era> {
        let revision = self.protocol.as_deref().and_then(Revision::find);
        revision.map(|revision| revision.era).or(self.era)
    }
}
