//! What a server lists, without the secrets that it was given.

use jelly_base::model::Inventory;
use jelly_base::text::one_line;
use jelly_base::text::redact::Redactor;
use serde_json::Value;

/// The lists as a plan may be made of them, and what is left out, in
/// words. What is called by a secret is left out; a value that holds one is
/// none, since what stands in its place means nothing to the server.
pub fn without_secrets(mut inventory: Inventory, redactor: &Redactor) -> (Inventory, Vec<String>) {
    redactor.redact_json(&mut inventory.server_info);
    let mut left_out = Vec::new();
    for (items, what, name) in [
        (&mut inventory.tools, "tool", "name"),
        (&mut inventory.resources, "resource", "uri"),
        (
            &mut inventory.resource_templates,
            "resource template",
            "uriTemplate",
        ),
        (&mut inventory.prompts, "prompt", "name"),
    ] {
        for items in items.iter_mut() {
            items.retain_mut(|item| {
                let stays = clean(item, name, redactor);
                if !stays {
                    let shown = item.get(name).and_then(Value::as_str).unwrap_or_default();
                    let shown = one_line(&redactor.redact(shown), 120);
                    left_out.push(format!(
                        "the {what} `{shown}` is left out: its name contains a secret"
                    ));
                }
                stays
            });
        }
    }
    (inventory, left_out)
}

/// Whether the item can stay.
fn clean(item: &mut Value, name: &str, redactor: &Redactor) -> bool {
    let holds = |value: &Value| {
        let mut after = value.clone();
        redactor.redact_json(&mut after);
        after != *value
    };
    if item.get(name).is_some_and(holds) {
        return false;
    }
    if let Some(schema) = item.get_mut("inputSchema") {
        without_values(schema, redactor);
    }
    if let Some(map) = item.as_object_mut()
        && map.get("outputSchema").is_some_and(holds)
    {
        map.shift_remove("outputSchema");
    }
    redactor.redact_json(item);
    true
}

/// Takes out the texts that hold a secret.
fn without_values(schema: &mut Value, redactor: &Redactor) {
    let mut todo = vec![schema];
    while let Some(value) = todo.pop() {
        match value {
            Value::String(text) if redactor.redact(text) != text.as_str() => *value = Value::Null,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            Value::Array(items) => todo.extend(items),
            Value::Object(members) => todo.extend(members.values_mut()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_secrets;
    use jelly_base::model::Inventory;
    use jelly_base::text::redact::Redactor;
    use serde_json::json;

    #[test]
    fn what_a_server_echoes_of_a_secret_is_in_no_plan() {
        let redactor = Redactor::new([("KEY", "s3cret-value")]);
        let inventory = Inventory {
            server_info: json!({"name": "for s3cret-value"}),
            tools: Some(vec![
                json!({"name": "a", "description": "uses s3cret-value",
                    "inputSchema": {"properties": {"url": {"default": "https://u:s3cret-value@h/"}}},
                    "outputSchema": {"const": "s3cret-value"}}),
                json!({"name": "s3cret-value"}),
            ]),
            resources: Some(vec![
                json!({"uri": "x://s3cret-value"}),
                json!({"uri": "x://y"}),
            ]),
            ..Inventory::default()
        };
        let (clean, left_out) = without_secrets(inventory, &redactor);
        assert!(!format!("{clean:?}").contains("s3cret"), "{clean:?}");
        assert_eq!(
            left_out,
            [
                "the tool `[secret KEY]` is left out: its name contains a secret",
                "the resource `x://[secret KEY]` is left out: its name contains a secret",
            ]
        );
        let tools = clean.tools.unwrap();
        assert_eq!(tools.len(), 1);
        assert_eq!(
            tools[0]["inputSchema"]["properties"]["url"],
            json!({"default": null})
        );
        assert_eq!(clean.resources.unwrap(), [json!({"uri": "x://y"})]);
    }
}
