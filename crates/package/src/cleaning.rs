//! What publishers commonly get wrong in an argument, mended.
//!
//! Entries that were made of lines in a README are the most of it: a flag
//! with its value in its name, the flag once more in the value, a word that
//! somebody was to replace.

use super::types::{Argument, ArgumentKind, Format, Input};
use jelly_base::text::is_placeholder;

/// An argument as it is meant.
pub(super) struct Cleaned {
    pub argument: Argument,
    /// What was mended.
    pub said: Vec<String>,
}

/// Makes an argument of what its definition says.
///
/// # Errors
/// Nothing on a command line could be meant.
pub(super) fn clean(
    raw: Argument,
    is_named: bool,
    name: Option<String>,
    hint: Option<String>,
) -> Result<Cleaned, String> {
    let mut said = Vec::new();
    let argument = if is_named {
        named(raw, name, hint, &mut said)?
    } else {
        positional(raw, name, hint, &mut said)
    };
    Ok(Cleaned { argument, said })
}

fn positional(
    mut argument: Argument,
    name: Option<String>,
    hint: Option<String>,
    said: &mut Vec<String>,
) -> Argument {
    if hint.is_none() && name.is_some() {
        said.push("a positional argument has no `name`; taken for its `valueHint`".into());
    }
    blank_out(&mut argument.input, said);
    // The schema asks for one of both.
    if hint.is_none() && name.is_none() && argument.input.value.is_none() {
        said.push(
            "a positional argument without `valueHint` and `value` is known by its position only"
                .into(),
        );
    }
    argument.kind = ArgumentKind::Positional {
        hint: hint
            .or(name)
            .map(|hint| hint.trim().to_owned())
            .filter(|hint| !hint.is_empty()),
    };
    argument
}

fn named(
    mut argument: Argument,
    name: Option<String>,
    hint: Option<String>,
    said: &mut Vec<String>,
) -> Result<Argument, String> {
    let Some(written) = name.as_deref().map(str::trim).filter(|n| !n.is_empty()) else {
        let input = &argument.input;
        if input.value.is_none() && input.default.is_none() && hint.is_none() {
            return Err("a named argument needs its `name`".into());
        }
        said.push("a named argument without a `name`; taken for a positional one".into());
        return Ok(positional(argument, None, hint, said));
    };
    let has_dash = written.starts_with('-');
    let dashed = |text: &str| match has_dash {
        true => text.to_owned(),
        false => format!("--{text}"),
    };
    let whole = dashed(written);
    let is_its_name = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim);
        text == Some(written) || text == Some(&whole)
    };
    let is_a_value = !has_dash && argument.input.value.as_deref().map(str::trim) == Some(written);
    // The whole line stands in both.
    let repeats_itself = is_its_name(&argument.input.value);
    if repeats_itself {
        argument.input.value = None;
    }
    if is_its_name(&argument.input.default) {
        argument.input.default = None;
    }
    if is_a_value {
        said.push(format!(
            "`{written}` is a value, not the name of a flag; taken for a positional argument"
        ));
        argument.input.value = Some(written.to_owned());
        return Ok(positional(argument, None, hint, said));
    }
    let (flag, tail) = match written.split_once(char::is_whitespace) {
        // In `--a=b c`, the blank belongs to the value.
        Some((flag, tail)) if has_dash && !flag.contains('=') => {
            said.push(format!(
                "`{written}` holds more than the name of a flag; taken for `{flag}`"
            ));
            (flag.to_owned(), Some(tail.trim().to_owned()))
        }
        Some(_) if !has_dash => {
            return Err(format!(
                "`{written}` can't be the name of a flag: it contains a space"
            ));
        }
        Some(_) | None => match written.split_once('=') {
            Some((flag, tail)) if !tail.is_empty() => {
                if !repeats_itself {
                    said.push(format!(
                        "`{written}` holds more than the name of a flag; taken for `{flag}=`"
                    ));
                }
                (format!("{flag}="), Some(tail.to_owned()))
            }
            Some(_) | None => (written.to_owned(), None),
        },
    };
    let passed = dashed(&flag);
    for text in [&mut argument.input.value, &mut argument.input.default] {
        let mut rest = text.as_deref().unwrap_or_default();
        let before = rest.len();
        while let Some(shorter) = without_flag(rest, &passed) {
            rest = shorter;
        }
        if rest.len() < before {
            said.push(format!(
                "`{flag}` stands in its own value too; taken out of it"
            ));
            *text = (!rest.is_empty()).then(|| rest.to_owned());
        }
    }
    // What stood behind the flag is all that is known of its value.
    if let Some(tail) = tail
        && argument.input.value.is_none()
    {
        let tail = tail.trim_matches(['"', '\'']).to_owned();
        if repeats_itself || is_blank(&tail) {
            argument.input.value = Some(tail);
        } else if argument.input.default.is_none() {
            argument.input.default = Some(tail);
        }
    }
    let is_flag_alone = argument.variables.is_empty()
        && (repeats_itself && argument.input.value.is_none() || says_nothing(&argument));
    blank_out(&mut argument.input, said);
    if !has_dash {
        said.push(format!(
            "the flag `{written}` has no dashes; `{passed}` is passed"
        ));
    }
    argument.kind = ArgumentKind::Named {
        written: (passed != written).then(|| written.to_owned()),
        flag: passed,
        bare: is_flag_alone,
    };
    Ok(argument)
}

/// `--port 80` and `--port=80` without `--port`; nothing is left of itself.
fn without_flag<'t>(text: &'t str, flag: &str) -> Option<&'t str> {
    let bare = flag.trim_end_matches('=');
    let rest = text.trim_start().strip_prefix(bare)?;
    rest.strip_prefix('=').or_else(|| {
        let value = rest.trim_start();
        (value.len() < rest.len() || rest.is_empty()).then_some(value)
    })
}

/// A definition with a name and nothing else is that flag and nothing else:
/// there would be nothing to ask a person for.
fn says_nothing(argument: &Argument) -> bool {
    let plain = Argument {
        kind: argument.kind.clone(),
        ..Argument::default()
    };
    argument.input.format == Format::String && *argument == plain
}

/// A word that somebody was to replace is no value.
pub(super) fn blank_out(input: &mut Input, said: &mut Vec<String>) {
    for text in [&mut input.value, &mut input.default] {
        let Some(blank) = text.take_if(|text| is_blank(text)) else {
            continue;
        };
        said.push(format!(
            "`{blank}` only stands for a value, which has to be given"
        ));
        input.placeholder.get_or_insert(blank);
    }
}

/// `<path>`, `YOUR_API_KEY`, `$NAME`, and whatever holds a `${NAME}`: no shell
/// and no client ever fills these in.
fn is_blank(text: &str) -> bool {
    let text = text.trim();
    let is_shell_variable = text.strip_prefix('$').is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    is_shell_variable || holds_reference(text) || is_placeholder(text)
}

/// `${NAME}`, `${input:NAME}`.
pub(super) fn holds_reference(text: &str) -> bool {
    text.split("${").skip(1).any(|rest| {
        rest.split_once('}')
            .is_some_and(|(name, _)| !name.is_empty())
    })
}
