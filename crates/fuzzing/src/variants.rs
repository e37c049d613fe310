//! Values for one place of a schema: valid ones, and ones that are invalid in one way.
//!
//! Main function: [`variants`].

use super::case::{Input, Way};
use super::schema::{Kind, alternatives, count, is_required, kind, listed, properties, segment};
use super::strings::{self, LONG, SPECIAL, UNICODE, VERY_LONG};
use super::values::{Bounds, Fullness, items, numeral, object, of_plain};
use serde_json::{Map, Value, json};

/// Members of an object, and values that are listed, that are looked at.
const MEMBERS: usize = 48;
/// Items of a list that is long.
const MANY: usize = 200;
/// Words in names and descriptions of numbers that say how long something takes:
/// what takes as long as it was told does not hang.
const WAITING: [&str; 9] = [
    "duration", "delay", "timeout", "seconds", "millis", "sleep", "wait", "interval", "minutes",
];

/// A value for one place.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// JSON pointer to what is tried, from here.
    pub pointer: String,
    /// What is tried, as in `empty`.
    pub label: &'static str,
    pub input: Input,
    /// None where the member is left out.
    pub value: Option<Value>,
    /// What is tried first: 0 to 4.
    pub rank: u8,
}

impl Variant {
    fn new(label: &'static str, input: Input, value: Value, rank: u8) -> Self {
        Self {
            pointer: String::new(),
            label,
            input,
            value: Some(value),
            rank,
        }
    }
}

/// All that is tried at one place.
pub(crate) fn variants(root: &Value, schema: &Value, name: &str, depth: usize) -> Vec<Variant> {
    if depth == 0 {
        return Vec::new();
    }
    let plain = alternatives(root, schema);
    let mut all = Vec::new();
    for (index, one) in plain.iter().enumerate() {
        if let Some(value) = of_plain(root, one, Fullness::Required, depth) {
            let rank = if index == 0 { 2 } else { 1 };
            all.push(Variant::new("plain", Input::Valid, value, rank));
        }
        match kind(one) {
            Kind::Listed => of_listed(&listed(one), &mut all),
            Kind::String => of_string(one, &mut all),
            Kind::Integer | Kind::Number => of_number(one, is_waiting(name, one), &mut all),
            Kind::Boolean => {
                for value in [true, false] {
                    all.push(Variant::new("boolean", Input::Valid, json!(value), 1));
                }
            }
            Kind::Array => of_array(root, one, name, depth, &mut all),
            Kind::Object => all.extend(of_object(root, one, depth)),
            Kind::Null | Kind::Any => {}
        }
    }
    all.extend(wrong_types(&plain));
    all
}

fn is_waiting(name: &str, schema: &Map<String, Value>) -> bool {
    let about = schema.get("description").and_then(Value::as_str);
    let text = format!("{name} {}", about.unwrap_or_default()).to_ascii_lowercase();
    WAITING.iter().any(|word| text.contains(word))
}

fn of_listed(values: &[Value], all: &mut Vec<Variant>) {
    for value in values.iter().take(MEMBERS) {
        all.push(Variant::new("enum_value", Input::Valid, value.clone(), 1));
    }
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    if let Some(first) = texts.first() {
        let other = format!("{first}-not-listed");
        all.push(Variant::new(
            "not_in_enum",
            Input::Invalid(Way::Enum),
            json!(other),
            1,
        ));
        all.push(Variant::new(
            "empty",
            Input::Invalid(Way::Enum),
            json!(""),
            3,
        ));
    }
    let numbers = values.iter().filter_map(Value::as_i64);
    if let Some(greatest) = numbers.max() {
        let other = json!(greatest.saturating_add(1));
        all.push(Variant::new(
            "not_in_enum",
            Input::Invalid(Way::Enum),
            other,
            1,
        ));
    }
}

fn of_string(schema: &Map<String, Value>, all: &mut Vec<Variant>) {
    let mut push = |label, input, text: String, rank| {
        all.push(Variant::new(label, input, Value::from(text), rank));
    };
    let least = count(schema, "minLength").unwrap_or(0);
    let most = count(schema, "maxLength");
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let is_formatted = strings::is_known_format(schema);
    if let Some(pattern) = pattern {
        let mut rng = fastrand::Rng::with_seed(0);
        for _ in 0..3 {
            if let Some(text) = strings::of_pattern(pattern, Some(&mut rng)) {
                push("pattern", Input::Valid, text, 2);
            }
        }
        push(
            "no_match",
            Input::Invalid(Way::Pattern),
            "\u{1}".to_owned(),
            2,
        );
    }
    if is_formatted {
        push(
            "not_the_format",
            Input::Invalid(Way::Format),
            "not-the-format".to_owned(),
            2,
        );
        push("empty", Input::Invalid(Way::Format), String::new(), 3);
    }
    // What a pattern or a format forbids is tried above.
    if pattern.is_none() && !is_formatted {
        push("empty", Input::Valid, String::new(), 1);
        for text in UNICODE {
            push("unicode", Input::Valid, text.to_owned(), 2);
            if least > 1 {
                push("unicode", Input::Valid, text.repeat(least), 2);
            }
        }
        push("long", Input::Valid, "a".repeat(LONG), 2);
        for text in SPECIAL {
            push("special", Input::Valid, text.to_owned(), 3);
        }
        push("long", Input::Valid, "a".repeat(VERY_LONG), 4);
        for bound in [Some(least), most, most.map(|most| most.saturating_sub(1))] {
            if let Some(text) = bound.and_then(strings::of_length) {
                push("boundary", Input::Valid, text, 1);
            }
        }
        if let Some(most) = most.filter(|most| *most > 1) {
            push("unicode", Input::Valid, "é".repeat(most.min(LONG)), 2);
        }
    }
    if least > 0
        && let Some(text) = strings::of_length(least - 1)
    {
        push("too_short", Input::Invalid(Way::Bound), text, 1);
    }
    if let Some(text) = most.and_then(|most| strings::of_length(most + 1)) {
        push("too_long", Input::Invalid(Way::Bound), text, 1);
    }
}

fn of_number(schema: &Map<String, Value>, is_waiting: bool, all: &mut Vec<Variant>) {
    let bounds = Bounds::of(schema);
    let mut push = |label, input, number: f64, rank| {
        if let Some(value) = numeral(number) {
            all.push(Variant::new(label, input, value, rank));
        }
    };
    let step = bounds.step.unwrap_or(1.0);
    let read = |key: &str| schema.get(key).and_then(Value::as_f64);
    for (end, inwards) in [(bounds.least, step), (bounds.most, -step)] {
        let Some(end) = end else { continue };
        let is_long = is_waiting && end > 1.0;
        if !is_long {
            push("boundary", Input::Valid, end, 1);
            push("inside", Input::Valid, end + inwards, 1);
        }
    }
    for (bound, outwards) in [(read("minimum"), -step), (read("maximum"), step)] {
        if let Some(bound) = bound {
            push(
                "out_of_bounds",
                Input::Invalid(Way::Bound),
                bound + outwards,
                1,
            );
            let far = bound + outwards * 1_000.0;
            push("out_of_bounds", Input::Invalid(Way::Bound), far, 3);
        }
    }
    let exclusive = [read("exclusiveMinimum"), read("exclusiveMaximum")];
    for bound in exclusive.into_iter().flatten() {
        push("out_of_bounds", Input::Invalid(Way::Bound), bound, 1);
    }
    for (number, rank) in [
        (0.0, 1),
        (-1.0, 1),
        (2.0, 3),
        (-100.0, 3),
        (-2_147_483_649.0, 3),
    ] {
        let label = if number < 0.0 { "negative" } else { "small" };
        push(label, Input::Valid, number, rank);
    }
    if !is_waiting {
        for number in [
            100.0,
            1_000.0,
            65_536.0,
            2_147_483_648.0,
            9_007_199_254_740_991.0,
        ] {
            push("large", Input::Valid, number, 3);
        }
    }
    if bounds.whole {
        push(
            "fraction",
            Input::Invalid(Way::Type),
            bounds.least.unwrap_or(0.0) + 0.5,
            2,
        );
    } else {
        push(
            "fraction",
            Input::Valid,
            bounds.least.unwrap_or(0.0) + 0.5,
            3,
        );
        if !is_waiting {
            push("large", Input::Valid, 1e100, 4);
        }
    }
    if bounds.step.is_some() {
        let off = bounds.least.unwrap_or(0.0) + step / 2.0;
        push("not_a_multiple", Input::Invalid(Way::Multiple), off, 2);
    }
}

fn of_array(
    root: &Value,
    schema: &Map<String, Value>,
    name: &str,
    depth: usize,
    all: &mut Vec<Variant>,
) {
    let mut sized = |label, input, wanted: usize, rank| {
        if let Some(made) = items(root, schema, wanted, Fullness::Required, depth) {
            all.push(Variant::new(label, input, Value::from(made), rank));
        }
    };
    let least = count(schema, "minItems").unwrap_or(0);
    let most = count(schema, "maxItems");
    sized("empty_list", Input::Valid, 0, 1);
    sized("one_item", Input::Valid, 1, 1);
    sized("two_items", Input::Valid, 2, 2);
    sized("boundary", Input::Valid, least, 1);
    if let Some(most) = most {
        sized("boundary", Input::Valid, most, 1);
        sized("too_many", Input::Invalid(Way::Bound), most + 1, 1);
    }
    if least > 0 {
        sized("too_few", Input::Invalid(Way::Bound), least - 1, 1);
    }
    sized("long_list", Input::Valid, MANY, 3);
    let Some(inner) = schema.get("items").filter(|inner| inner.is_object()) else {
        return;
    };
    let around = items(root, schema, least.max(1), Fullness::Required, depth).unwrap_or_default();
    for variant in variants(root, inner, name, depth - 1) {
        let Some(value) = variant.value else { continue };
        let mut list = around.clone();
        match list.first_mut() {
            Some(first) => *first = value.clone(),
            None => list.push(value.clone()),
        }
        let pointer = format!("/0{}", variant.pointer);
        let mut second = list.clone();
        all.push(Variant {
            pointer,
            value: Some(Value::from(list)),
            ..variant
        });
        // What the first item survives the second may not.
        if variant.rank == 1 && around.len() == 1 {
            second.insert(0, around[0].clone());
            all.push(Variant {
                pointer: format!("/1{}", variant.pointer),
                value: Some(Value::from(second)),
                rank: 3,
                ..variant
            });
        }
    }
    if schema.get("uniqueItems").and_then(Value::as_bool) == Some(true)
        && let Some(one) = around.first()
    {
        let twice = json!([one, one]);
        all.push(Variant::new(
            "duplicate",
            Input::Invalid(Way::Unique),
            twice,
            2,
        ));
    }
}

/// What is tried in an object: at each of its members, and with members that it has
/// not.
pub(crate) fn of_object(root: &Value, schema: &Map<String, Value>, depth: usize) -> Vec<Variant> {
    let mut all = Vec::new();
    let Some(base) = object(root, schema, Fullness::Required, depth) else {
        return all;
    };
    let full = object(root, schema, Fullness::All, depth).filter(|full| *full != base);
    if let Some(full) = &full {
        let value = Value::Object(full.clone());
        all.push(Variant::new("all_members", Input::Valid, value, 1));
    }
    let mut put = |name: &str, variant: Variant, into: &Map<String, Value>, rank: u8| {
        let mut object = into.clone();
        match variant.value {
            Some(value) => {
                object.insert(name.to_owned(), value);
            }
            None => {
                object.shift_remove(name);
            }
        }
        all.push(Variant {
            pointer: format!("{}{}", segment(name), variant.pointer),
            value: Some(Value::Object(object)),
            rank,
            ..variant
        });
    };
    for (name, property) in properties(schema).take(MEMBERS) {
        if is_required(schema, name) {
            let missing = Variant {
                value: None,
                ..Variant::new("missing", Input::Invalid(Way::Missing), Value::Null, 1)
            };
            put(name, missing, &base, 1);
        }
        for variant in variants(root, property, name, depth - 1) {
            // With all the others as well: some mistakes show only then.
            if let (Some(full), Input::Valid, 1) = (&full, variant.input, variant.rank) {
                put(name, variant.clone(), full, 3);
            }
            let rank = variant.rank;
            put(name, variant, &base, rank);
        }
    }
    if let Some(values) = schema
        .get("additionalProperties")
        .filter(|it| it.is_object())
    {
        for variant in variants(root, values, "key", depth - 1) {
            let rank = variant.rank.max(2);
            put("key", variant, &base, rank);
        }
        if let Some(value) = super::values::plain(root, values, Fullness::Required) {
            for key in ["", "é", "__proto__"] {
                let named = Variant::new("key", Input::Valid, value.clone(), 3);
                put(key, named, &base, 3);
            }
        }
    } else {
        let forbids = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let input = match forbids {
            true => Input::Invalid(Way::Extra),
            false => Input::Valid,
        };
        let extra = Variant::new("extra_member", input, json!("a"), 3);
        put("unexpected_member", extra, &base, 3);
    }
    all
}

/// Values of types that do not fit. The plainest first.
fn wrong_types(plain: &[Map<String, Value>]) -> Vec<Variant> {
    let mut kinds: Vec<Kind> = plain.iter().map(kind).collect();
    for one in plain.iter().filter(|one| kind(one) == Kind::Listed) {
        kinds.extend(listed(one).iter().map(|value| match value {
            Value::String(_) => Kind::String,
            Value::Number(_) => Kind::Number,
            Value::Bool(_) => Kind::Boolean,
            Value::Null => Kind::Null,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }));
    }
    if kinds.contains(&Kind::Any) {
        return Vec::new();
    }
    let mut all: Vec<Variant> = Vec::new();
    for value in [
        json!({}),
        json!([]),
        json!("abc"),
        json!(12),
        json!(true),
        json!("12"),
        json!(null),
    ] {
        let own: &[Kind] = match &value {
            Value::String(_) => &[Kind::String],
            Value::Number(_) => &[Kind::Number, Kind::Integer],
            Value::Bool(_) => &[Kind::Boolean],
            Value::Null => &[Kind::Null],
            Value::Array(_) => &[Kind::Array],
            Value::Object(_) => &[Kind::Object],
        };
        if own.iter().any(|kind| kinds.contains(kind)) {
            continue;
        }
        let input = match is_coercible(&value, &kinds) {
            true => Input::Invalid(Way::Coercible),
            false => Input::Invalid(Way::Type),
        };
        let is_first = all.iter().all(|known| known.input != input);
        let rank = match (input, is_first) {
            (Input::Invalid(Way::Type), true) => 1,
            (_, _) => 3,
        };
        all.push(Variant::new("wrong_type", input, value, rank));
    }
    all
}

/// Whether a lenient reader may take it for one of these without guessing.
fn is_coercible(value: &Value, kinds: &[Kind]) -> bool {
    let has = |wanted: &[Kind]| wanted.iter().any(|kind| kinds.contains(kind));
    match value {
        Value::Null => true,
        Value::String(text) => {
            text == "12" && has(&[Kind::Number, Kind::Integer]) || has(&[Kind::Array])
        }
        Value::Number(_) | Value::Bool(_) => {
            has(&[Kind::String, Kind::Number, Kind::Integer, Kind::Array])
        }
        Value::Array(_) | Value::Object(_) => false,
    }
}
