//! Whatever a server lists: the plan is one, says the same, and nothing breaks
//! out of a comment.

use super::{Called, Draft, Outcome, Settings};
use jelly_base::model::Inventory;
use jelly_plan::{Plan, PlanSource, Request, Scope, load, resolve_json};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn settings() -> Settings {
    let server = json!({"command": "x"});
    Settings {
        name: "it".to_owned(),
        server: server.as_object().cloned().unwrap_or_default(),
        run: "jelly run it.yaml".to_owned(),
        ..Settings::default()
    }
}

fn read(text: &str) -> Plan {
    let source = PlanSource {
        path: "it.yaml".into(),
        text: text.into(),
        variant: None,
    };
    load(source).unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)))
}

fn of(tools: Vec<Value>) -> Draft {
    let inventory = Inventory {
        tools: Some(tools),
        ..Inventory::default()
    };
    Draft::new(&inventory, settings())
}

/// The value that a plan's `${…}` stand for.
fn meant(value: &Value) -> Value {
    resolve_json(value, &Scope::default(), "it").unwrap()
}

/// With what was commented out taken in.
fn uncommented(text: &str) -> String {
    let paragraph = |paragraph: &str| {
        let lines: Vec<&str> = paragraph.lines().collect();
        let from = lines
            .iter()
            .rposition(|line| line.starts_with("  # - id: "))
            .filter(|_| paragraph.contains("  # Left out: "))
            .unwrap_or(lines.len());
        let bare = |line: &&str| format!("  {}\n", line.strip_prefix("  # ").unwrap_or(line));
        let before = lines[..from].iter().map(|line| format!("{line}\n"));
        before
            .chain(lines[from..].iter().map(bare))
            .collect::<String>()
    };
    text.split("\n\n")
        .map(paragraph)
        .collect::<Vec<_>>()
        .join("\n")
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z_]{1,6}",
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "\n",
            "\r\n",
            "\n  - id: x\n",
            "#",
            " # ",
            ": ",
            "${",
            "$${",
            "$",
            "}",
            "\"",
            "'",
            "\\",
            "\u{0}",
            "\u{1b}[31m",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{202e}",
            "- ",
            "? ",
            "&a",
            "*a",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "`",
            "{",
            "[",
            ",",
            "null",
            "yes",
            "1e3",
            "~",
            " ",
            "\t",
            "🦀",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer", "minimum": 3})),
        Just(json!({"type": ["null", "number"]})),
        Just(json!({"type": 12})),
        Just(json!(true)),
        Just(json!(null)),
        Just(json!({"$ref": "#/properties/a"})),
        hostile().prop_map(|text| json!({"const": text})),
        hostile().prop_map(|text| json!({"type": "string", "default": text, "description": text})),
        hostile().prop_map(|text| json!({"enum": [text]})),
        hostile()
            .prop_map(|text| json!({"type": "string", "description": format!("e.g. '{text}'")})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = prop::collection::btree_map(hostile(), inner.clone(), 0..4);
        prop_oneof![
            (names, any::<bool>()).prop_map(|(names, needed)| {
                let required: Vec<String> = names.keys().filter(|_| needed).cloned().collect();
                json!({"type": "object", "properties": names, "required": required,
                    "additionalProperties": false})
            }),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner, 1..3).prop_map(|parts| json!({"oneOf": parts})),
        ]
    })
}

fn tool() -> impl Strategy<Value = Value> {
    let hint = || prop::option::of(any::<bool>());
    (
        hostile(),
        hostile(),
        schema(),
        prop::option::of(schema()),
        hint(),
        hint(),
    )
        .prop_map(|(name, about, input, output, read_only, destructive)| {
            let mut tool = json!({
                "name": name, "description": about, "inputSchema": input,
                "annotations": {"readOnlyHint": read_only, "destructiveHint": destructive},
            });
            if let Some(output) = output {
                tool["outputSchema"] = output;
            }
            tool
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_a_server_lists_the_plan_says_the_same(
        tools in prop::collection::vec(tool(), 0..5),
        texts in prop::collection::vec(hostile(), 4),
        why in hostile(),
    ) {
        let inventory = Inventory {
            server_info: json!({"name": texts[0], "version": texts[1]}),
            era: "legacy".to_owned(),
            protocol_version: "2025-11-25".to_owned(),
            capabilities: json!({}),
            instructions: None,
            tools: Some(tools.clone()),
            resources: Some(vec![json!({"uri": texts[2], "description": texts[1]})]),
            resource_templates: Some(vec![json!({"uriTemplate": texts[3]})]),
            prompts: Some(vec![
                json!({"name": texts[0], "description": texts[3]}),
                json!({"name": texts[1], "arguments": [{"name": texts[2], "required": true}]}),
            ]),
        };
        let mut draft = Draft::new(&inventory, settings());
        let text = draft.text();
        let plan = read(&text);
        prop_assert_eq!(plan.steps.len(), draft.steps());
        for step in &plan.steps {
            match &step.request {
                Request::Tool(name) => {
                    let listed = tools.iter().any(|tool| tool["name"] == name.as_str());
                    prop_assert!(listed, "{name:?} in\n{text}");
                    prop_assert!(meant(&step.args) == Value::Null || step.args.is_object());
                }
                Request::Read(uri) => {
                    prop_assert_eq!(meant(&json!(uri)), json!(texts[2].clone()));
                }
                Request::Prompt(name) => prop_assert!(texts.contains(name)),
                _ => {}
            }
        }
        // What is looked for is what the server lists.
        let listed = json!({
            "tools": tools, "resources": inventory.resources, "prompts": inventory.prompts,
            "resourceTemplates": inventory.resource_templates,
        });
        for step in plan.steps.iter().filter(|step| matches!(step.request, Request::List(_))) {
            for held in &step.expect.json {
                prop_assert!(!held.path.query(&listed).is_empty(), "{} in\n{text}", held.raw_path);
            }
        }
        let named = tools.iter().filter_map(|tool| tool["name"].as_str())
            .filter(|name| !name.is_empty())
            .collect::<std::collections::BTreeSet<_>>();
        if let Some(list) = plan.step("tools") {
            prop_assert_eq!(list.expect.json.len(), named.len(), "{}", text);
        }
        // What is left out is ready: its `#` taken away, the plan is one still.
        let whole = read(&uncommented(&text));
        prop_assert_eq!(whole.steps.len(), draft.steps() + draft.left().len(), "{}", text);
        // A failure's words are the server's too.
        let failed = plan.steps.iter()
            .skip(1)
            .map(|step| Called { id: step.id.clone(), outcome: Outcome::Failed(why.clone()) })
            .collect();
        prop_assert!(draft.learn(failed).is_ok());
        prop_assert_eq!(read(&draft.text()).steps.len(), draft.steps());
    }

    #[test]
    fn what_a_constant_says_is_what_is_sent(value in hostile(), name in "[a-z]{1,8}") {
        let draft = of(vec![json!({
            "name": "t", "annotations": {"readOnlyHint": true},
            "inputSchema": {"properties": {name.clone(): {"const": value}}, "required": [name]},
        })]);
        let plan = read(&draft.text());
        let sent = meant(&plan.step("t").unwrap().args);
        prop_assert_eq!(&sent[&name], &json!(value));
    }
}

#[test]
fn what_is_huge_or_deep_makes_a_plan_of_a_bearable_size() {
    let long = "x ".repeat(1 << 19);
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"]});
    }
    let wide: Map<String, Value> = (0..2000)
        .map(|n| {
            (
                format!("property{n}"),
                json!({"type": "object", "description": long[..50]}),
            )
        })
        .collect();
    let tools = vec![
        json!({"name": "long", "description": long, "annotations": {"readOnlyHint": true}}),
        json!({"name": "deep", "inputSchema": deep, "outputSchema": deep, "annotations": {"readOnlyHint": true}}),
        json!({"name": "wide", "outputSchema": {"type": "object", "properties": wide}, "annotations": {"readOnlyHint": true}}),
        json!({"name": "default", "annotations": {"readOnlyHint": true},
            "inputSchema": {"properties": {"x": {"type": "string", "default": long}}}}),
    ];
    let text = of(tools).text();
    assert!(text.len() < 20_000, "{}", text.len());
    assert!(text.lines().all(|line| line.len() < 4000));
    read(&text);
}

#[test]
fn many_tools_of_one_name_are_one() {
    let tool = json!({"name": "t", "annotations": {"readOnlyHint": true}});
    let draft = of(vec![tool.clone(), tool]);
    assert_eq!(draft.tools_called(), (1, 1));
}

#[test]
fn other_arguments_are_tried_before_a_tool_is_left_out() {
    let tool = json!({"name": "look", "annotations": {"readOnlyHint": true},
        "inputSchema": {"properties": {"path": {"type": "string"}}, "required": ["path"]}});
    let inventory = Inventory {
        tools: Some(vec![tool]),
        ..Inventory::default()
    };
    let folder = super::Folder {
        path: "/p/d".to_owned(),
        written: "${workspace}/d".to_owned(),
        file: Some("f ${x}".to_owned()),
    };
    let settings = Settings {
        folder: Some(folder),
        ..settings()
    };
    let mut draft = Draft::new(&inventory, settings);
    let args = |draft: &Draft| {
        read(&draft.text())
            .step("look")
            .map(|step| step.args.clone())
    };
    assert_eq!(args(&draft), Some(json!({"path": "${workspace}/d"})));
    let failed = || {
        vec![Called {
            id: "look".to_owned(),
            outcome: Outcome::Refused("is a folder".to_owned()),
        }]
    };
    assert_eq!(draft.learn(failed()), Ok(true));
    assert_eq!(
        args(&draft),
        Some(json!({"path": "${workspace}/d/f $${x}"}))
    );
    assert_eq!(draft.learn(failed()), Ok(true));
    assert_eq!(args(&draft), None);
    assert!(
        draft
            .text()
            .contains("# Left out: it was called, and failed: is a folder.")
    );
}
