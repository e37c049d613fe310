//! What an answer names of the call, of the result that was made of it, and of what the server
//! was started with.

use super::live::any_text;
use super::live::arguments;
use jelly_base::model::Failure;
use jelly_base::text::{LazyPattern, holds_whole};
use serde_json::Value;

/// What the server answered in words, as a result or as an error.
fn answered(failure: &Failure) -> Option<&str> {
    match (&failure.tool_result, &failure.rpc_error) {
        (Some(result), _) => Some(&result.text),
        (None, Some(error)) => Some(&error.message),
        (None, None) => None,
    }
}

/// Whether the answer names an address that the server was started with, in its arguments or its
/// variables, and none of the call's.
pub(super) fn setting_refused(failure: &Failure) -> bool {
    const LETTERS: usize = 6;
    let Some(answer) = answered(failure) else {
        return false;
    };
    let given = arguments(failure).map_or_else(String::new, Value::to_string);
    let args = failure.argv.iter().skip(1).map(String::as_str);
    let args = args.map(|arg| arg.split_once('=').map_or(arg, |(_, value)| value));
    let variables = failure.env_delta.values().filter_map(Value::as_str);
    let mut values = args.chain(variables).map(str::trim);
    // A word such as `production` may stand in any answer.
    let is_address = |value: &str| value.len() >= LETTERS && value.contains(['.', ':']);
    values.any(|value| is_address(value) && answer.contains(value) && !given.contains(value))
}

/// Whether the answer names a variable that the server was started with, which stands nowhere in
/// the call.
pub(super) fn variable_named(failure: &Failure) -> bool {
    let Some(answer) = answered(failure) else {
        return false;
    };
    let given = arguments(failure).map_or_else(String::new, Value::to_string);
    let mut names = failure.env_delta.keys();
    names.any(|name| holds_whole(answer, name) && !given.contains(name.as_str()))
}

/// Whether an argument of the call is a page of HTML, or a part of one.
pub(super) fn page_given(failure: &Failure) -> bool {
    let given = arguments(failure).map_or_else(String::new, Value::to_string);
    let given = given.to_ascii_lowercase();
    given.contains("<html") || given.contains("<!doctype")
}

/// Whether Python misses an argument of the tool's own function that the call leaves out.
pub(super) fn argument_left_out(failure: &Failure) -> bool {
    static MISSES: LazyPattern = LazyPattern::ascii(
        r"\b(\w+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: '(\w+)'",
    );
    let params = failure.request.as_ref().and_then(|it| it.params.as_ref());
    let tool = params.and_then(|params| params.get("name")?.as_str());
    let Some((answer, tool)) = answered(failure).zip(tool) else {
        return false;
    };
    let given = arguments(failure).and_then(Value::as_object);
    MISSES.captures(answer).is_some_and(|found| {
        let is_left_out = given.is_none_or(|given| !given.contains_key(&found[2]));
        found[1] == *tool && is_left_out
    })
}

/// Whether an argument of the call names an operating system or an architecture.
pub(super) fn platform_given(failure: &Failure) -> bool {
    static PLATFORM: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:linux|darwin|macos|win32|windows|arm64|aarch64|x64|x86_64|amd64)\b",
    );
    let given = arguments(failure).map_or_else(String::new, Value::to_string);
    PLATFORM.is_match(&given)
}

/// Whether the answer refuses what the server made of the result: the model that Python's SDK
/// makes of it, which is called by the tool's name (that of the arguments has another ending, and
/// one that a program declares has a name of its own), or the result as MCP has it.
pub(super) fn own_result_refused(failure: &Failure) -> bool {
    static REFUSED: LazyPattern = LazyPattern::new(
        r"\AError executing tool (\S{1,200}): \d+ validation errors? for (\w{1,200})Output\n",
    );
    static OF_MCP: LazyPattern = LazyPattern::new(
        r#"\A\d+ validation errors? for (?:CallTool|GetPrompt|ReadResource)Result\n|\A(?:[^\n:{}]{0,200}: )?\s*\[\s*\{[\s\S]{0,400}?"path": \[\s*"(content|contents|messages)",\s*\d+,"#,
    );
    let Some(answer) = answered(failure) else {
        return false;
    };
    if let Some(found) = REFUSED.captures(answer) {
        return found[1] == found[2];
    }
    OF_MCP.captures(answer).is_some_and(|found| {
        let given = arguments(failure).map_or_else(String::new, Value::to_string);
        let member = found.get(1).map(|member| member.as_str());
        let asked = failure.request.as_ref().map(|it| it.method.as_str());
        // Another service may be asked for messages; and a part of an argument may be called so.
        member.is_none_or(|member| {
            let is_own = match asked {
                Some("prompts/get") => member == "messages",
                Some("resources/read") => member == "contents",
                Some(_) | None => member == "content",
            };
            is_own && !given.contains(member)
        })
    })
}

/// Whether a value that the answer refuses, as pydantic shows it behind
/// `input_value=`, stood in the call's arguments. Of a list or a map, its first
/// word tells.
pub(super) fn value_given(failure: &Failure) -> Option<bool> {
    const SHOWN: usize = 64;
    const NO_VALUES: [&str; 4] = [
        "Invalid count value: ",
        "could not convert string to float: ",
        "invalid literal for int() with base 10: ",
        "Invalid isoformat string: ",
    ];
    let answer = answered(failure)?;
    let given = arguments(failure).map_or_else(String::new, Value::to_string);
    let is_given = |shown: &str| {
        // A map is given where one of its keys is.
        if let Some(map) = shown.strip_prefix('{').filter(|map| map.starts_with('\'')) {
            let first = map[1..].split('\'').next().unwrap_or_default();
            return given.contains(&format!("\"{first}\":"));
        }
        let word = shown
            .split(|c: char| "{}[]()'\",: ".contains(c))
            .find(|word| !word.is_empty());
        match word {
            // An empty map is what a call without arguments sends.
            None => true,
            Some("None") => given.contains("null"),
            Some("True") => given.contains("true"),
            Some("False") => given.contains("false"),
            Some(word) => given.contains(word),
        }
    };
    let shown = answer.split("input_value=").skip(1).take(SHOWN);
    let shown = shown.map(|rest| rest.split(", input_type=").next().unwrap_or(rest));
    let mut told: Vec<bool> = shown.map(is_given).collect();
    // Python shows the whole text that is no number or date.
    let whole = NO_VALUES.into_iter().flat_map(|words| {
        let places = answer.split(words).skip(1).take(SHOWN);
        places.map(|rest| rest.lines().next().unwrap_or_default())
    });
    let values = |shown: &str| {
        let bare = shown.trim().trim_matches(['\'', '"']);
        arguments(failure).is_some_and(|given| holds(given, bare))
    };
    told.extend(whole.map(values));
    let tool = failure
        .request
        .as_ref()
        .and_then(|request| request.params.as_ref());
    let tool = tool.and_then(|params| params.get("name")?.as_str());
    told.extend(of_schema_library(answer, tool, arguments(failure)));
    (!told.is_empty()).then(|| told.contains(&true))
}

/// The same of what libraries of other languages refuse: of each issue of zod, whether it is about
/// an argument, or one that may lack; of Jackson and BigInt, whether the value was one.
fn of_schema_library(answer: &str, tool: Option<&str>, given: Option<&Value>) -> Vec<bool> {
    static ISSUE: LazyPattern = LazyPattern::ascii(
        r#""path": ?\[\s*"(?P<first>[^"\n]{1,80})"(?P<rest>[^\]]{0,200})\],\s*"message": ?"(?P<said>[^"\n]*)""#,
    );
    static VALUE: LazyPattern = LazyPattern::ascii(
        r#"\bCannot deserialize value of type \S+ from (?:String "([^"\n]*)"|number (\S+))|\bThe number (\S+) cannot be converted to a BigInt\b"#,
    );
    // The SDK for TypeScript says of which values it speaks.
    if let Some((before, refused)) = answer.split_once("Invalid arguments for tool ")
        && before.len() < BEFORE
    {
        // Another tool refuses what the server sent it, or passed on.
        let is_own = tool.is_none_or(|tool| {
            let rest = refused
                .trim_start_matches(['\'', '"', '`'])
                .strip_prefix(tool);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        if is_own {
            return vec![true];
        }
    }
    const PART: usize = 8;
    const BEFORE: usize = 48;
    let holds_key = |key: &str| given.is_some_and(|given| given.get(key).is_some());
    let issues = ISSUE.captures_iter(answer).map(|issue| {
        let at = issue.get(0).map_or(0, |whole| whole.start());
        let begin = answer[..at].rfind('{').unwrap_or(at);
        let told = &answer[begin..at];
        let said = &issue["said"];
        let is_there = |text: &str| text.contains("received") && !text.contains("undefined");
        // Its author's own words say nothing of what came, and the code does: what is too small
        // is there.
        let lacks = ["undefined", "Required"]
            .iter()
            .any(|word| said.contains(word));
        let is_of_type = told.contains("\"invalid_type\"") && !is_there(told) && !is_there(said);
        let may_lack = issue["rest"].trim().is_empty() && (lacks || is_of_type);
        holds_key(&issue["first"]) || may_lack
    });
    let values = VALUE.captures_iter(answer).filter_map(|found| {
        let value = (1..=3).find_map(|at| found.get(at))?;
        let value = value.as_str();
        // A part of what was given is given.
        let is_part =
            |given: &Value| value.len() >= PART && any_text(given, &|text| text.contains(value));
        Some(given.is_some_and(|given| holds(given, value) || is_part(given)))
    });
    // One that is surely of something else tells what all are of.
    let of_issues = issues.reduce(|all, one| all && one);
    of_issues.into_iter().chain(values).collect()
}

/// Whether a value among the arguments is this text, or one of the parts of a list in one.
fn holds(given: &Value, text: &str) -> bool {
    match given {
        Value::String(value) => {
            let mut parts = value.split([',', ';', '|', '\t', '\n']).map(str::trim);
            value == text || parts.any(|part| part == text) && !text.is_empty()
        }
        Value::Array(all) => all.iter().any(|one| holds(one, text)),
        Value::Object(all) => all.values().any(|one| holds(one, text)),
        Value::Number(number) => number.to_string() == text,
        Value::Null => text == "None",
        Value::Bool(value) => text == if *value { "True" } else { "False" },
    }
}
/// Whether an argument of the call is a text in which something is to be parsed; `None` where it
/// is not known what was sent.
pub(super) fn text_given(failure: &Failure) -> Option<bool> {
    let params = failure.request.as_ref()?.params.as_ref()?;
    let Some(arguments) = params.get("arguments") else {
        return Some(false);
    };
    Some(any_text(arguments, &|text| {
        text.contains(['{', '[', '=', '\n', '"'])
    }))
}

/// Whether the program that a shell did not find for the tool stood in the call's arguments;
/// `None` where no shell says so, or it is not known what was sent.
pub(super) fn program_given(failure: &Failure) -> Option<bool> {
    static MISSED: LazyPattern = LazyPattern::ascii(
        r"(?m)\b(?:ba|da|z|a)?sh: (?:line )?(?:\d+: )?([\w./+-]+): (?:command )?not found\b",
    );
    let missed = MISSED.captures(answered(failure)?)?;
    Some(arguments(failure)?.to_string().contains(&missed[1]))
}
