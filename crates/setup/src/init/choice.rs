//! Which tools may be called without anybody having looked at them.
//!
//! Main function: [`choose`].

use super::tool::Tool;
use heck::ToSnakeCase as _;
use jelly_base::text::WordList;

/// Verbs that say that nothing is changed, as the first word of a name.
const READING: WordList = WordList(
    "browse compare count current describe detect diff echo estimate explain fetch find \
     get has hello inspect is list lookup peek ping preview query read retrieve return \
     search show summarize view whoami",
);

/// What can only be looked at, as the last word of a name.
const SEEN: WordList = WordList(
    "about health healthcheck help info now overview stats status summary time uptime \
     version",
);

/// Whose it is, before such a word.
const WHOSE: WordList = WordList(
    "account api app cluster current database db host local machine my node project repo \
     server service session system user",
);

/// Words in front of the verb of a sentence.
const FILLERS: WordList = WordList(
    "a also an and can command endpoint function it method that the then this to tool \
     which will",
);

/// Words that make such a name doubtful wherever they stand in it, as in
/// `get_and_clear_queue`.
const ACTING: WordList = WordList(
    "abort ack acknowledge acquire activate add apply approve archive assign ban block \
     book buy call cancel change claim clean cleanup clear close commit confirm consume \
     create deactivate decrement delete demote deploy dequeue destroy disable discard \
     dismiss drop edit empty enable erase exec execute expire fix flush forget format \
     generate grant import increment insert install invalidate invoke kill launch leave \
     lock logout mark merge migrate modify move mute new next open order out overwrite \
     patch pay pop post promote prune publish purge push put reboot rebuild redo refresh \
     register reject release reload remove rename renew replace reserve reset restart \
     restore retry revert revoke rid rollback rotate run save schedule seed send set \
     shutdown skip start stop submit subscribe swap switch sync take terminate toggle \
     transfer trash trigger truncate undo uninstall unlock unregister unset unsubscribe \
     update upgrade upload vote wipe write",
);

/// Why a tool is left to a person; each completes "left out: …".
pub(super) const DESTRUCTIVE: &str = "it declares that it may destroy something";
pub(super) const OUTSIDE: &str = "it declares openWorldHint and not readOnlyHint";
pub(super) const CHANGES: &str = "it does not declare readOnlyHint, and it needs arguments";
pub(super) const SILENT: &str =
    "it has no annotations, and its name does not suggest that it is read-only";
pub(super) const TASK: &str = "it can only be called as a task";

/// Whether a tool may be called, or why not.
///
/// Called is what declares itself read-only, or needs no arguments. For a tool
/// that is not read-only, `destructiveHint` is true where it is not said, so
/// one without arguments and without that hint is called only if it was given
/// no hints at all and its name says that it reads.
///
/// Source: MCP 2025-03-26 and later, schema, `ToolAnnotations`.
pub(super) fn choose(tool: &Tool, call_all: bool) -> Result<(), &'static str> {
    if tool.only_as_task {
        return Err(TASK);
    }
    if call_all {
        return Ok(());
    }
    match (tool.read_only, tool.destructive) {
        (Some(true), Some(true)) => Err(DESTRUCTIVE),
        (Some(true), Some(false) | None) => Ok(()),
        (Some(false) | None, Some(true)) => Err(DESTRUCTIVE),
        (Some(false) | None, Some(false) | None) if !tool.required().is_empty() => Err(CHANGES),
        (Some(false), None) => Err(DESTRUCTIVE_UNLESS_SAID),
        (Some(false) | None, Some(false)) if tool.open_world == Some(true) => Err(OUTSIDE),
        (Some(false) | None, Some(false)) => Ok(()),
        (None, None) if reads(tool) && !tells_of_change(tool) => Ok(()),
        (None, None) => Err(SILENT),
    }
}

pub(super) const DESTRUCTIVE_UNLESS_SAID: &str =
    "it is not read-only, and does not say that it destroys nothing";

/// Whether a name says that nothing is changed: its verb, or what it is about,
/// which says little of itself (`email_summary`).
fn reads(tool: &Tool) -> bool {
    let words = words(&tool.name);
    if words.iter().any(|word| ACTING.has(word)) {
        return false;
    }
    match words.as_slice() {
        [] => false,
        [verb, ..] if READING.has(verb) => true,
        [whose @ .., last] if SEEN.has(last) => {
            let first = heads(&tool.description).next();
            whose.iter().all(|word| WHOSE.has(word) || SEEN.has(word))
                || first.is_some_and(|first| stems(&first).any(|stem| READING.has(&stem)))
        }
        [..] => false,
    }
}

/// Whether a value is called like something that is done.
pub(super) fn names_deed(value: &str) -> bool {
    words(value).iter().any(|word| ACTING.has(word))
}

/// Whether its own description says that it does more than read.
fn tells_of_change(tool: &Tool) -> bool {
    heads(&tool.description).any(|head| stems(&head).any(|stem| ACTING.has(&stem)))
}

/// The words of a text where its verbs are likely: at the head of a sentence,
/// behind a comma, behind an `and`.
fn heads(text: &str) -> impl Iterator<Item = String> {
    let mut is_head = true;
    text.split_whitespace().filter_map(move |word| {
        let bare: String = word
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect();
        let passes = bare.is_empty() || FILLERS.has(&bare) || bare.ends_with("ly");
        let found = is_head && !passes;
        let opens = word.ends_with(['.', ';', ',', ':', '!']) || bare == "and" || bare == "then";
        is_head = opens || is_head && passes;
        found.then_some(bare)
    })
}

/// What a verb's form may be a form of: `empties`, `removing`, `deletes`.
fn stems(word: &str) -> impl Iterator<Item = String> {
    let cut = |end: &str, more: &str| word.strip_suffix(end).map(|stem| format!("{stem}{more}"));
    [
        Some(word.to_owned()),
        cut("s", ""),
        cut("es", ""),
        cut("ies", "y"),
        cut("ing", ""),
        cut("ing", "e"),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .into_iter()
}

/// The words of a name, in lower case: `getUserName`, `get-user_name`.
pub(super) fn words(name: &str) -> Vec<String> {
    let name: String = name.chars().take(256).collect();
    let words = name.to_snake_case();
    let words = words.split('_').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        CHANGES, DESTRUCTIVE, DESTRUCTIVE_UNLESS_SAID, OUTSIDE, SILENT, TASK, choose, words,
    };
    use crate::init::tool::Tool;
    use serde_json::json;

    #[test]
    fn what_may_destroy_is_never_chosen_by_itself() {
        let needy = json!({"type": "object", "required": ["x"]});
        for (name, hints, input, chosen) in [
            ("a", json!({"readOnlyHint": true}), needy.clone(), Ok(())),
            (
                "a",
                json!({"readOnlyHint": true, "destructiveHint": true}),
                json!({}),
                Err(DESTRUCTIVE),
            ),
            (
                "a",
                json!({"destructiveHint": true}),
                json!({}),
                Err(DESTRUCTIVE),
            ),
            (
                "get",
                json!({"readOnlyHint": false}),
                json!({}),
                Err(DESTRUCTIVE_UNLESS_SAID),
            ),
            (
                "a",
                json!({"readOnlyHint": false, "destructiveHint": false}),
                json!({}),
                Ok(()),
            ),
            (
                "a",
                json!({"destructiveHint": false}),
                needy.clone(),
                Err(CHANGES),
            ),
            (
                "a",
                json!({"destructiveHint": false, "openWorldHint": true}),
                json!({}),
                Err(OUTSIDE),
            ),
            ("get_time", json!({}), json!({}), Ok(())),
            ("serverStatus", json!({"title": "x"}), json!(null), Ok(())),
            ("get_time", json!({}), needy.clone(), Err(CHANGES)),
            ("wipe", json!({}), json!({}), Err(SILENT)),
            ("get_and_clear", json!({}), json!({}), Err(SILENT)),
            ("resetStats", json!({}), json!({}), Err(SILENT)),
            ("budget", json!({}), json!({}), Err(SILENT)),
        ] {
            let tool = json!({"name": name, "annotations": hints, "inputSchema": input});
            let tool = Tool::read(&tool).unwrap();
            assert_eq!(choose(&tool, false), chosen, "{name} {hints}");
            assert_eq!(choose(&tool, true), Ok(()), "{name} {hints}");
        }
        let task = json!({"name": "t", "execution": {"taskSupport": "required"}});
        assert_eq!(choose(&Tool::read(&task).unwrap(), true), Err(TASK));
    }

    #[test]
    fn a_friendly_name_does_not_hide_what_a_tool_does() {
        for (name, about, chosen) in [
            (
                "email_summary",
                "Emails the weekly summary to all customers.",
                Err(SILENT),
            ),
            ("email_summary", "", Err(SILENT)),
            ("turn_off_display", "", Err(SILENT)),
            ("test_alarm", "Rings the fire alarm.", Err(SILENT)),
            ("print_labels", "", Err(SILENT)),
            (
                "get_queue",
                "This empties the queue, returning its items.",
                Err(SILENT),
            ),
            ("get_queue", "Permanently deletes what is due.", Err(SILENT)),
            (
                "get_queue",
                "Returns the queue, removing its items.",
                Err(SILENT),
            ),
            ("get_queue", "Returns the queue and its length.", Ok(())),
            ("weather_summary", "Returns the weather of today.", Ok(())),
            ("database_info", "", Ok(())),
            ("status", "Whether it is up", Ok(())),
        ] {
            let tool = json!({"name": name, "description": about, "inputSchema": {}});
            assert_eq!(
                choose(&Tool::read(&tool).unwrap(), false),
                chosen,
                "{name}: {about}"
            );
        }
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("getUserName"), ["get", "user", "name"]);
        assert_eq!(words("get-user_name.2"), ["get", "user", "name", "2"]);
        assert_eq!(words("  "), [""; 0]);
    }
}
