//! Edits of real layouts, and of random ones.

#[path = "faithful_tests.rs"]
mod faithful;

use super::{EditError, PlanEdit, apply, diff};
use crate::{DocPath, PlanSource, Segment};
use proptest::prelude::*;
use serde_json::{Value, json};

fn source(path: &str, text: &str) -> PlanSource {
    PlanSource {
        path: path.into(),
        text: text.into(),
        variant: None,
    }
}

fn yaml(text: &str) -> PlanSource {
    source("plan.yaml", text)
}

/// `steps.0.args` as a path; numbers are indices.
fn at(path: &str) -> DocPath {
    DocPath(
        path.split('.')
            .map(|part| match part.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => Segment::Key(part.to_owned()),
            })
            .collect(),
    )
}

fn set(path: &str, value: impl Into<Value>) -> PlanEdit {
    PlanEdit::Set {
        path: at(path),
        value: value.into(),
    }
}

fn rename(path: &str, to: &str) -> PlanEdit {
    PlanEdit::RenameKey {
        path: at(path),
        to: to.to_owned(),
    }
}

fn remove(path: &str) -> PlanEdit {
    PlanEdit::Remove { path: at(path) }
}

#[track_caller]
fn edited(before: &str, edits: &[PlanEdit]) -> String {
    apply(&yaml(before), edits).unwrap().text.to_string()
}

const PLAN: &str = "\
# A plan.
servers:
  files:   # the server
    command: npx
    args: [\"-y\", 'server', ./data]   # argv
    startup_timeout: 30s   # slow in CI

steps:
  # first the write
  - id: write
    args: { path: ./data/a.txt, content: \"x\" }
  # then the read
  - id: read   # note
    args:
      path: './data/a.txt'
      note: |
        one
        two

      # the end of the arguments
  - id: third
";

#[test]
fn a_scalar_changes_and_nothing_else_does() {
    let after = edited(
        PLAN,
        &[
            set("servers.files.startup_timeout", "60s"),
            set("servers.files.args.1", "it's"),
            set("servers.files.args.2", "/a, b"),
            set("steps.0.args.content", 5),
            set("steps.1.args.path", "./d: 2"),
            set("steps.1.args.note", "one\nthree\n"),
        ],
    );
    let expected = PLAN
        .replace("timeout: 30s", "timeout: 60s")
        .replace("'server'", "'it''s'")
        .replace(", ./data]", ", \"/a, b\"]")
        .replace("content: \"x\"", "content: 5")
        .replace("'./data/a.txt'", "'./d: 2'")
        .replace("        two", "        three");
    assert_eq!(after, expected);
}

#[test]
fn a_string_is_quoted_where_it_would_be_something_else() {
    let before = "a: x\n";
    for (value, written) in [
        (json!("plain"), "a: plain\n"),
        (json!("${workspace}/x"), "a: ${workspace}/x\n"),
        (json!("http://h:1/p"), "a: http://h:1/p\n"),
        (json!("12"), "a: \"12\"\n"),
        (json!("true"), "a: \"true\"\n"),
        (json!("no"), "a: \"no\"\n"),
        (json!(""), "a: \"\"\n"),
        (json!("x # y"), "a: \"x # y\"\n"),
        (json!("k: v"), "a: \"k: v\"\n"),
        (json!("- x"), "a: \"- x\"\n"),
        (json!("a\nb\t\u{7f}é"), "a: \"a\\nb\\t\\u007Fé\"\n"),
        (json!(1.5), "a: 1.5\n"),
        (json!(null), "a: null\n"),
        (json!(false), "a: false\n"),
    ] {
        assert_eq!(edited(before, &[set("a", value)]), written);
    }
}

#[test]
fn a_new_key_is_indented_like_its_neighbours() {
    assert_eq!(
        edited(
            PLAN,
            &[
                set("servers.files.request_timeout", "60s"),
                set("steps.0.args.mode", 7),
                set("steps.2.timeout", "5s"),
                set("servers.files.args.3", "more"),
            ]
        ),
        PLAN.replace(
            "    startup_timeout: 30s   # slow in CI\n",
            "    startup_timeout: 30s   # slow in CI\n    request_timeout: 60s\n"
        )
        .replace("content: \"x\" }", "content: \"x\", mode: 7 }")
        .replace("- id: third\n", "- id: third\n    timeout: 5s\n")
        .replace("./data]", "./data, more]")
    );
    assert_eq!(edited("a: {}", &[set("a.b", 1)]), "a: {b: 1}");
    assert_eq!(
        edited("a:\n  b: 1", &[set("a.c", "x")]),
        "a:\n  b: 1\n  c: x"
    );
    assert_eq!(
        edited("a:\r\n  b: 1\r\nc: 2\r\n", &[set("a.d", 3)]),
        "a:\r\n  b: 1\r\n  d: 3\r\nc: 2\r\n"
    );
    assert_eq!(
        edited("a:\n- x\nb: 1\n", &[set("a.1", "w")]),
        "a:\n- x\n- w\nb: 1\n"
    );
}

#[test]
fn an_absent_value_is_filled_in() {
    assert_eq!(
        edited("a:   # note\nb: 1\n", &[set("a", 5)]),
        "a: 5   # note\nb: 1\n"
    );
    assert_eq!(
        edited("{a, b: , c: 1}", &[set("a", 1), set("b", 2)]),
        "{a: 1, b: 2 , c: 1}"
    );
    assert_eq!(
        edited("a:\n  -\n  - x\n", &[set("a.0", "w")]),
        "a:\n  - w\n  - x\n"
    );
}

#[test]
fn a_key_is_renamed_in_its_own_quotes() {
    let before = "steps:\n  - args: { \"pth\": 1, 'b c': 2 }\n    pt: x # pt\n";
    assert_eq!(
        edited(
            before,
            &[
                rename("steps.0.args.pth", "path"),
                rename("steps.0.args.b c", "it's"),
                rename("steps.0.pt", "a: b"),
                set("steps.0.pt", "w"),
            ]
        ),
        "steps:\n  - args: { \"path\": 1, 'it''s': 2 }\n    \"a: b\": w # pt\n"
    );
    assert_eq!(
        apply(&yaml(before), &[rename("steps.0.args.pth", "b c")]),
        Err(EditError::Taken(at("steps.0.args.pth")))
    );
}

#[test]
fn a_step_is_taken_out_and_the_comments_around_it_stay() {
    assert_eq!(
        edited(PLAN, &[remove("steps.1")]),
        PLAN.replace(
            "  - id: read   # note
    args:
      path: './data/a.txt'
      note: |
        one
        two
",
            ""
        )
    );
    assert_eq!(
        edited(
            PLAN,
            &[remove("steps.0"), remove("steps.2"), set("steps.1.id", "r")]
        ),
        PLAN.replace(
            "  - id: write\n    args: { path: ./data/a.txt, content: \"x\" }\n",
            ""
        )
        .replace("  - id: third\n", "")
        .replace("id: read", "id: r")
    );
    assert_eq!(
        edited(
            "steps:   # all\n- a: |\n    x\n-\n  b: 1\nlast: 1\n",
            &[remove("steps.0")]
        ),
        "steps:   # all\n-\n  b: 1\nlast: 1\n"
    );
    assert_eq!(
        edited("steps:\n  - |\n    x\n  # c\n  - b\n", &[remove("steps.0")]),
        "steps:\n  # c\n  - b\n"
    );
}

#[test]
fn a_list_that_loses_its_last_item_says_that_it_is_empty() {
    assert_eq!(
        edited(
            "steps:   # all\n  - a: 1\n  - b: 2\nc: 3\n",
            &[remove("steps.0"), remove("steps.1")]
        ),
        "steps: []   # all\nc: 3\n"
    );
    assert_eq!(
        edited("a: [ x, y ]\n", &[remove("a.0"), remove("a.1")]),
        "a: []\n"
    );
}

#[test]
fn items_in_brackets_go_with_their_commas() {
    let before = "a: [ v, w, x, y ]\n";
    assert_eq!(edited(before, &[remove("a.0")]), "a: [ w, x, y ]\n");
    assert_eq!(
        edited(before, &[remove("a.1"), remove("a.2")]),
        "a: [ v, y ]\n"
    );
    assert_eq!(
        edited(before, &[remove("a.0"), remove("a.1"), remove("a.3")]),
        "a: [ x ]\n"
    );
}

#[test]
fn an_item_on_its_own_line_takes_its_own_comment_along() {
    let before = "a: [\n  x, # one\n  y, # two\n  z # three\n]\n";
    assert_eq!(
        edited(before, &[remove("a.1")]),
        "a: [\n  x, # one\n  z # three\n]\n"
    );
    assert_eq!(
        edited(before, &[remove("a.0"), remove("a.2")]),
        "a: [\n  y, # two\n]\n"
    );
}

#[test]
fn json_stays_json() {
    let before = "{\n  \"a\": {\n    \"b\": \"x\"\n  },\n  \"c\": [\n    1,\n    2\n  ]\n}\n";
    let after = apply(
        &source("plan.json", before),
        &[
            set("a.b", "é\"\n"),
            set("a.d", json!({"k": [1, null]})),
            remove("c.0"),
            rename("c", "e"),
        ],
    )
    .unwrap();
    assert_eq!(
        &*after.text,
        "{\n  \"a\": {\n    \"b\": \"é\\\"\\n\",\n    \"d\": {\"k\":[1,null]}\n  },\n  \"e\": [\n    2\n  ]\n}\n"
    );
    serde_json::from_str::<Value>(&after.text).unwrap();
}

#[test]
fn what_an_anchor_shares_is_not_edited() {
    let before = "base: &b { t: 1 }\nx: *b\ny:\n  <<: *b\n  u: 2\nz: &alone 5\n";
    for path in ["base.t", "x.t", "y.t"] {
        assert!(
            matches!(
                apply(&yaml(before), &[set(path, 2)]),
                Err(EditError::Shared(..))
            ),
            "{path}"
        );
    }
    assert_eq!(
        edited(before, &[set("y.u", 3), set("z", 6), set("y.v", 4)]),
        before
            .replace("u: 2\n", "u: 3\n  v: 4\n")
            .replace("&alone 5", "&alone 6")
    );
}

#[test]
fn edits_that_cannot_be_made_say_why() {
    let refused = |edits: &[PlanEdit]| apply(&yaml(PLAN), edits).unwrap_err();
    assert_eq!(
        refused(&[set("steps.9.id", 1)]),
        EditError::NotFound(at("steps.9"))
    );
    assert_eq!(
        refused(&[set("steps.0", 1)]),
        EditError::NotScalar(at("steps.0"))
    );
    assert_eq!(
        refused(&[set("nope.a", 1)]),
        EditError::NotFound(at("nope"))
    );
    assert_eq!(
        refused(&[rename("nope", "a")]),
        EditError::NotFound(at("nope"))
    );
    assert_eq!(
        refused(&[remove("servers.files")]),
        EditError::NotItem(at("servers.files"))
    );
    assert!(matches!(
        refused(&[remove("steps.0"), set("steps.0.id", "x")]),
        EditError::Conflict(_)
    ));
    assert_eq!(
        apply(&yaml("a: [1"), &[set("a", 1)]),
        Err(EditError::Unreadable)
    );
}

#[test]
fn the_diff_names_the_file_as_patch_wants_it() {
    let before = source("/plans/my plan.yaml", "a: 1\nb: 2");
    let after = apply(&before, &[set("b", 3)]).unwrap();
    assert_eq!(
        diff(&before, &after),
        "--- a/plans/my plan.yaml\t\n+++ b/plans/my plan.yaml\t\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n\\ No newline at end of file\n+b: 3\n\\ No newline at end of file\n"
    );
    assert_eq!(diff(&before, &before), "");
}

#[test]
fn many_edits_cost_one_reading() {
    let steps: String = (0..2000)
        .map(|n| format!("  - id: s{n}\n    server: fils\n"))
        .collect();
    let before = format!("steps:\n{steps}");
    let edits: Vec<_> = (0..2000)
        .map(|n| set(&format!("steps.{n}.server"), "files"))
        .collect();
    assert_eq!(edited(&before, &edits), before.replace("fils", "files"));
    let edits: Vec<_> = (0..2000).map(|n| remove(&format!("steps.{n}"))).collect();
    assert_eq!(edited(&before, &edits), "steps: []\n");
}

/// A document with its layout.
#[derive(Debug, Clone)]
enum Tree {
    Scalar(Value, Quote),
    List(Vec<Tree>, bool),
    Map(Vec<(String, Tree)>, bool),
}

#[derive(Debug, Clone, Copy)]
enum Quote {
    Plain,
    Single,
    Double,
    Literal,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9./${} :#'\"-]{0,12}",
        "[ -~é\\n\\t]{0,12}",
        ".{0,6}",
        Just("true".to_owned()),
        Just("1_000".to_owned()),
        Just("line\nother\n".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<f32>().prop_filter("JSON", |f| f.is_finite()).prop_map(number),
    ]
}

/// As it is once it is written and read.
fn number(float: f32) -> Value {
    serde_json::from_str(&Value::from(float).to_string()).unwrap()
}

fn tree() -> impl Strategy<Value = Tree> {
    let quote = prop_oneof![
        Just(Quote::Plain),
        Just(Quote::Single),
        Just(Quote::Double),
        Just(Quote::Literal)
    ];
    let leaf = (scalar(), quote).prop_map(|(value, quote)| Tree::Scalar(value, quote));
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 1..4), any::<bool>())
                .prop_map(|(items, flow)| Tree::List(items, flow)),
            (
                prop::collection::btree_map("[a-z]{1,4}( [a-z])?", inner, 1..4),
                any::<bool>()
            )
                .prop_map(|(entries, flow)| Tree::Map(entries.into_iter().collect(), flow)),
        ]
    })
}

fn is_simple(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_lowercase())
        && !matches!(text, "true" | "false" | "null")
}

fn write_scalar(value: &Value, quote: Quote, indent: usize, flow: bool) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let one_line = !text.chars().any(char::is_control);
    match quote {
        Quote::Plain if is_simple(text) => text.clone(),
        Quote::Single if one_line && text.is_ascii() => {
            format!("'{}'", text.replace('\'', "''"))
        }
        Quote::Literal if !flow && text.ends_with('\n') && text.lines().all(is_simple) => {
            let pad = " ".repeat(indent);
            let lines: String = text.lines().map(|l| format!("\n{pad}{l}")).collect();
            format!("|  # header{lines}\n")
        }
        _ => super::emit::value(
            value,
            crate::syntax::Style::DoubleQuoted,
            super::emit::Context {
                format: crate::source::Format::Yaml,
                flow,
            },
        ),
    }
}

fn write_flow(tree: &Tree) -> String {
    match tree {
        Tree::Scalar(value, quote) => write_scalar(value, *quote, 0, true),
        Tree::List(items, _) => {
            let items: Vec<_> = items.iter().map(write_flow).collect();
            format!("[ {} ]", items.join(" , "))
        }
        Tree::Map(entries, _) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{key}: {}", write_flow(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

/// The document below `indent`, beginning on a fresh line or behind a space.
fn write_block(tree: &Tree, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match tree {
        Tree::Scalar(value, quote) => {
            let text = write_scalar(value, *quote, indent + 2, false);
            if text.ends_with('\n') {
                format!(" {text}")
            } else {
                format!(" {text}   # after\n")
            }
        }
        Tree::List(_, true) | Tree::Map(_, true) => format!(" {}\n", write_flow(tree)),
        Tree::List(items, false) => {
            let items: String = items
                .iter()
                .map(|item| {
                    format!(
                        "{pad}# before - an item\n{pad}-{}",
                        write_block(item, indent + 2)
                    )
                })
                .collect();
            format!("\n{items}")
        }
        Tree::Map(entries, false) => {
            let entries: String = entries
                .iter()
                .map(|(key, value)| format!("{pad}{key}:{}", write_block(value, indent + 2)))
                .collect();
            format!("  # a map\n{entries}")
        }
    }
}

fn to_value(tree: &Tree) -> Value {
    match tree {
        Tree::Scalar(value, _) => value.clone(),
        Tree::List(items, _) => items.iter().map(to_value).collect(),
        Tree::Map(entries, _) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), to_value(value)))
                .collect(),
        ),
    }
}

fn scalars(value: &Value, path: &DocPath, found: &mut Vec<DocPath>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                scalars(item, &path.index(index), found);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                scalars(item, &path.key(key.clone()), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(path.clone());
        }
    }
}

fn lists(value: &Value, path: &DocPath, found: &mut Vec<(DocPath, usize)>) {
    match value {
        Value::Array(items) => {
            found.push((path.clone(), items.len()));
            for (index, item) in items.iter().enumerate() {
                lists(item, &path.index(index), found);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                lists(item, &path.key(key.clone()), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn pick<'v>(value: &'v mut Value, path: &DocPath) -> &'v mut Value {
    path.0.iter().fold(value, |value, segment| match segment {
        Segment::Key(key) => &mut value[key.as_str()],
        Segment::Index(index) => &mut value[*index],
    })
}

fn read(source: &PlanSource) -> Value {
    let (root, troubles) = crate::syntax::parse(source);
    assert_eq!(troubles, [], "{}", source.text);
    root.unwrap().to_value()
}

fn comments(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.trim_start().starts_with('#'))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(jelly_base::testing::random_cases(400)))]

    #[test]
    fn setting_any_scalar_changes_its_line_only(
        tree in tree(), new in scalar(), which in any::<prop::sample::Index>()
    ) {
        let text = format!("# top\ndoc:{}end: 1\n", write_block(&tree, 2));
        let before = yaml(&text);
        let mut value = json!({"doc": to_value(&tree), "end": 1});
        prop_assert_eq!(&read(&before), &value, "{}", text);
        let mut paths = Vec::new();
        scalars(&value, &DocPath::default(), &mut paths);
        let path = which.get(&paths).clone();
        let after = apply(&before, &[PlanEdit::Set { path: path.clone(), value: new.clone() }]);
        prop_assert!(after.is_ok(), "{:?} at {}\n{}", after, path, text);
        let after = after.unwrap();
        *pick(&mut value, &path) = new;
        prop_assert_eq!(read(&after), value, "{}", after.text);
        prop_assert_eq!(comments(&after.text), comments(&text));
        let diff = diff(&before, &after);
        let removed = diff.lines().filter(|l| l.starts_with('-') && !l.starts_with("---")).count();
        let literal = text.contains("# header");
        prop_assert!(removed <= 1 || literal, "{}", diff);
    }

    #[test]
    fn setting_any_scalar_of_a_json_plan_keeps_it_json(
        tree in tree(), new in scalar(), which in any::<prop::sample::Index>(), pretty in any::<bool>()
    ) {
        let mut value = json!({"doc": to_value(&tree)});
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        let mut paths = Vec::new();
        scalars(&value, &DocPath::default(), &mut paths);
        let path = which.get(&paths).clone();
        let edits = [PlanEdit::Set { path: path.clone(), value: new.clone() }];
        let after = apply(&source("p.json", &text), &edits).unwrap();
        *pick(&mut value, &path) = new;
        prop_assert_eq!(serde_json::from_str::<Value>(&after.text).unwrap(), value.clone());
        // JSON is YAML, but for the few characters that YAML wants escaped.
        if after.text.chars().all(|c| matches!(c, '\n' | ' '..='~' | '\u{a1}'..='\u{1fff}')) {
            prop_assert_eq!(read(&yaml(&after.text)), value);
        }
    }

    #[test]
    fn removing_any_item_leaves_the_others(
        tree in tree(), which in any::<prop::sample::Index>(), item in any::<prop::sample::Index>()
    ) {
        let tree = Tree::List(vec![tree, Tree::Scalar(json!(1), Quote::Plain)], false);
        let text = format!("doc:{}end: 1\n", write_block(&tree, 2));
        let before = yaml(&text);
        let mut value = read(&before);
        let mut found = Vec::new();
        lists(&value, &DocPath::default(), &mut found);
        let (list, length) = which.get(&found).clone();
        let index = item.index(length);
        let after = apply(&before, &[PlanEdit::Remove { path: list.index(index) }]);
        prop_assert!(after.is_ok(), "{:?} {}[{}]\n{}", after, list, index, text);
        pick(&mut value, &list).as_array_mut().unwrap().remove(index);
        prop_assert_eq!(read(&after.unwrap()), value);
    }

    #[test]
    fn adding_to_any_map_or_list_keeps_the_rest(
        tree in tree(), new in scalar(), which in any::<prop::sample::Index>()
    ) {
        let text = format!("doc:{}", write_block(&tree, 2));
        let before = yaml(&text);
        let mut value = read(&before);
        let mut found = Vec::new();
        lists(&value, &DocPath::default(), &mut found);
        let edit = if found.is_empty() {
            value["new"] = new.clone();
            set("new", new)
        } else {
            let (list, length) = which.get(&found).clone();
            pick(&mut value, &list).as_array_mut().unwrap().push(new.clone());
            PlanEdit::Set { path: list.index(length), value: new }
        };
        let after = apply(&before, std::slice::from_ref(&edit));
        prop_assert!(after.is_ok(), "{:?} {:?}\n{}", after, edit, text);
        let after = after.unwrap();
        prop_assert_eq!(comments(&after.text), comments(&text));
        prop_assert_eq!(read(&after), value);
    }

    #[test]
    fn editing_never_panics(text in "[a-c:\\-\\[\\]{}&*|>#'\"\\n ,]{0,40}", index in 0_usize..3) {
        let edits = [set("a", "x: y"), PlanEdit::Remove { path: at("a").index(index) }, rename("b", "c")];
        for edit in edits {
            let _ = apply(&yaml(&text), std::slice::from_ref(&edit));
            let _ = apply(&source("a.json", &text), &[edit]);
        }
    }
}
