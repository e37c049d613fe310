//! Mutations of what real servers list, each labelled by what it does to clients:
//! every breaking one is told as breaking, and no text-only one is.
//!
//! The lists are those of the servers of `fixtures/npm`, as they answered
//! `tools/list`.

use super::change::ChangeKind::{self, Breaking, Compatible, Text};
use super::{Lock, compare};
use jelly_base::model::Inventory;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const LISTS: [(&str, &str); 4] = [
    (
        "everything",
        include_str!("../../../fixtures/contract/everything.json"),
    ),
    (
        "filesystem",
        include_str!("../../../fixtures/contract/filesystem.json"),
    ),
    (
        "memory",
        include_str!("../../../fixtures/contract/memory.json"),
    ),
    (
        "brave",
        include_str!("../../../fixtures/contract/brave.json"),
    ),
];

fn lock(tools: &[Value]) -> Lock {
    let mut lock = Lock::new();
    let inventory = Inventory {
        era: "legacy".to_owned(),
        tools: Some(tools.to_vec()),
        ..Inventory::default()
    };
    lock.add("s", &inventory);
    lock
}

/// A mutation of one tool, if it can be made there: nothing where it can't, and no
/// tool where that is the mutation.
type Mutation = (
    &'static str,
    ChangeKind,
    fn(&Value) -> Option<Option<Value>>,
);

fn with(tool: &Value, change: impl FnOnce(&mut Value) -> Option<()>) -> Option<Option<Value>> {
    let mut tool = tool.clone();
    change(&mut tool)?;
    Some(Some(tool))
}

fn properties(tool: &mut Value) -> Option<&mut Map<String, Value>> {
    tool.pointer_mut("/inputSchema/properties")?.as_object_mut()
}

/// The first property that fits.
fn property(tool: &mut Value, fits: fn(&Value) -> bool) -> Option<&mut Value> {
    properties(tool)?
        .values_mut()
        .find(|property| fits(property))
}

fn is(property: &Value, kind: &str) -> bool {
    property.get("type").and_then(Value::as_str) == Some(kind)
}

fn is_open_text(property: &Value) -> bool {
    is(property, "string") && property.get("enum").is_none()
}

fn required(tool: &mut Value) -> Option<&mut Vec<Value>> {
    tool.pointer_mut("/inputSchema/required")?.as_array_mut()
}

const MUTATIONS: &[Mutation] = &[
    ("another description", Text, |tool| {
        with(tool, |tool| {
            tool["description"] = json!("Says something else");
            Some(())
        })
    }),
    ("another title", Text, |tool| {
        with(tool, |tool| {
            tool["title"] = json!("Something else");
            Some(())
        })
    }),
    ("an argument is described in other words", Text, |tool| {
        with(tool, |tool| {
            property(tool, |_| true)?["description"] = json!("Something else");
            Some(())
        })
    }),
    ("an argument has examples", Text, |tool| {
        with(tool, |tool| {
            property(tool, |_| true)?["examples"] = json!(["an example"]);
            Some(())
        })
    }),
    ("the schema has a title", Text, |tool| {
        with(tool, |tool| {
            tool["inputSchema"]["title"] = json!("Arguments");
            Some(())
        })
    }),
    ("the output is described in other words", Text, |tool| {
        with(tool, |tool| {
            tool.get_mut("outputSchema")?["description"] = json!("Something else");
            Some(())
        })
    }),
    ("the tool is gone", Breaking, |_| Some(None)),
    ("the tool has another name", Breaking, |tool| {
        with(tool, |tool| {
            tool["name"] = json!("renamed_tool");
            Some(())
        })
    }),
    ("a new argument is required", Breaking, |tool| {
        with(tool, |tool| {
            let schema = tool.get_mut("inputSchema")?;
            schema["properties"]["fresh"] = json!({"type": "string"});
            match schema.get_mut("required").and_then(Value::as_array_mut) {
                Some(required) => required.push(json!("fresh")),
                None => schema["required"] = json!(["fresh"]),
            }
            Some(())
        })
    }),
    ("an argument is gone", Breaking, |tool| {
        with(tool, |tool| {
            let all = properties(tool)?;
            let name = all.keys().next()?.clone();
            all.shift_remove(&name);
            Some(())
        })
    }),
    ("an argument has another name", Breaking, |tool| {
        with(tool, |tool| {
            let all = properties(tool)?;
            let name = all.keys().next()?.clone();
            let property = all.shift_remove(&name)?;
            all.insert(format!("{name}_renamed"), property);
            Some(())
        })
    }),
    ("an argument is of another type", Breaking, |tool| {
        with(tool, |tool| {
            let property = property(tool, |it| it.get("type").is_some())?;
            let other = if is(property, "boolean") {
                "number"
            } else {
                "boolean"
            };
            property["type"] = json!(other);
            Some(())
        })
    }),
    ("a text may be no longer", Breaking, |tool| {
        with(tool, |tool| {
            property(tool, is_open_text)?["maxLength"] = json!(10);
            Some(())
        })
    }),
    ("a text has a pattern", Breaking, |tool| {
        with(tool, |tool| {
            property(tool, is_open_text)?["pattern"] = json!("^[a-z]+$");
            Some(())
        })
    }),
    ("a text is one of a list", Breaking, |tool| {
        with(tool, |tool| {
            property(tool, is_open_text)?["enum"] = json!(["a", "b"]);
            Some(())
        })
    }),
    ("a number has a higher minimum", Breaking, |tool| {
        with(tool, |tool| {
            property(tool, |it| is(it, "number") || is(it, "integer"))?["minimum"] = json!(1000);
            Some(())
        })
    }),
    ("a list has a limit", Breaking, |tool| {
        with(tool, |tool| {
            property(tool, |it| is(it, "array"))?["maxItems"] = json!(1);
            Some(())
        })
    }),
    (
        "the items of a list are of another type",
        Breaking,
        |tool| {
            with(tool, |tool| {
                property(tool, |it| is(it, "array"))?["items"] = json!({"type": "null"});
                Some(())
            })
        },
    ),
    ("a value of a list is gone", Breaking, |tool| {
        with(tool, |tool| {
            let property = property(tool, |it| it.get("enum").is_some())?;
            property.get_mut("enum")?.as_array_mut()?.pop();
            Some(())
        })
    }),
    ("an optional argument is required", Breaking, |tool| {
        with(tool, |tool| {
            let known = required(tool).map(|list| list.clone()).unwrap_or_default();
            let all = properties(tool)?;
            let free = all.keys().find(|name| !known.contains(&json!(name)))?;
            let free = json!(free);
            let mut list = known;
            list.push(free);
            tool["inputSchema"]["required"] = Value::Array(list);
            Some(())
        })
    }),
    ("a default is another", Breaking, |tool| {
        with(tool, |tool| {
            property(tool, |it| it.get("default").is_some())?["default"] = json!("another");
            Some(())
        })
    }),
    ("nothing fits any more", Breaking, |tool| {
        with(tool, |tool| {
            tool["inputSchema"] = json!({"type": "object", "not": {}});
            Some(())
        })
    }),
    ("the output is not described any more", Breaking, |tool| {
        with(tool, |tool| {
            tool.as_object_mut()?
                .shift_remove("outputSchema")
                .map(|_| ())
        })
    }),
    ("a member of the output is gone", Breaking, |tool| {
        with(tool, |tool| {
            let all = tool
                .pointer_mut("/outputSchema/properties")?
                .as_object_mut()?;
            let name = all.keys().next()?.clone();
            all.shift_remove(&name).map(|_| ())
        })
    }),
    (
        "a member of the output is of another type",
        Breaking,
        |tool| {
            with(tool, |tool| {
                let all = tool
                    .pointer_mut("/outputSchema/properties")?
                    .as_object_mut()?;
                *all.values_mut().next()? = json!({"type": "null"});
                Some(())
            })
        },
    ),
    ("a member of the output may be left out", Breaking, |tool| {
        with(tool, |tool| {
            tool.pointer_mut("/outputSchema/required")?
                .as_array_mut()?
                .pop()
                .map(|_| ())
        })
    }),
    ("it does not only read any more", Breaking, |tool| {
        with(tool, |tool| {
            let hints = tool.get_mut("annotations")?;
            (hints.get("readOnlyHint") == Some(&json!(true))).then_some(())?;
            hints["readOnlyHint"] = json!(false);
            Some(())
        })
    }),
    ("a new argument is optional", Compatible, |tool| {
        with(tool, |tool| {
            tool["inputSchema"]["properties"]["fresh"] = json!({"type": "string"});
            Some(())
        })
    }),
    ("a required argument is optional", Compatible, |tool| {
        with(tool, |tool| required(tool)?.pop().map(|_| ()))
    }),
    ("an argument may be null", Compatible, |tool| {
        with(tool, |tool| {
            let property = property(tool, is_open_text)?;
            property["type"] = json!(["string", "null"]);
            Some(())
        })
    }),
    ("a list has one value more", Compatible, |tool| {
        with(tool, |tool| {
            let property = property(tool, |it| it.get("enum").is_some())?;
            property
                .get_mut("enum")?
                .as_array_mut()?
                .push(json!("one more"));
            Some(())
        })
    }),
    ("the output is described", Compatible, |tool| {
        with(tool, |tool| {
            tool.get("outputSchema").is_none().then_some(())?;
            tool["outputSchema"] = json!({"type": "object"});
            Some(())
        })
    }),
    ("the output has one member more", Compatible, |tool| {
        with(tool, |tool| {
            let schema = tool.get_mut("outputSchema")?;
            // Of a closed one, who checks it would refuse the new member.
            (schema.get("additionalProperties") != Some(&json!(false))).then_some(())?;
            schema["properties"]["fresh"] = json!({"type": "string"});
            Some(())
        })
    }),
    ("it only reads now", Compatible, |tool| {
        with(tool, |tool| {
            (tool.pointer("/annotations/readOnlyHint") != Some(&json!(true))).then_some(())?;
            tool["annotations"]["readOnlyHint"] = json!(true);
            Some(())
        })
    }),
];

#[test]
fn mutations_of_real_lists_are_told_by_what_they_do() {
    let mut made: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (server, list) in LISTS {
        let tools: Vec<Value> = serde_json::from_str(list).unwrap();
        let old = lock(&tools);
        assert_eq!(compare(&old, &lock(&tools), true), [], "{server}");
        let mut reversed = tools.clone();
        reversed.reverse();
        assert_eq!(
            compare(&old, &lock(&reversed), true),
            [],
            "{server}, in another order"
        );
        for (at, tool) in tools.iter().enumerate() {
            for (what, kind, mutate) in MUTATIONS {
                let Some(mutated) = mutate(tool) else {
                    continue;
                };
                let mut mutant = tools.clone();
                match mutated {
                    Some(tool) => mutant[at] = tool,
                    None => {
                        mutant.remove(at);
                    }
                }
                *made.entry(kind.name()).or_default() += 1;
                let changes = compare(&old, &lock(&mutant), true);
                let found = changes.iter().map(|change| change.kind).min();
                if found != Some(*kind) {
                    wrong.push(format!("{server} {}: {what}: {found:?}", tool["name"]));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "of {made:?}");
    assert!(made.values().sum::<usize>() >= 200, "{made:?}");
    assert!(made["breaking"] >= 100 && made["text"] >= 50, "{made:?}");
}
