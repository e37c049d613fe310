//! Text that no parser takes → what was meant, and how that is written.
//!
//! Main function: [`explain`]. Judges by the line that the parser stopped at and those
//! around it, since one slip makes several errors, and one error has several causes.

use super::in_comment::closed_in_comment;
use super::in_flow::bracket_in_text;
use super::line::{LINES_BACK, Line, lines_before};
use super::node::Trouble;
use super::second_key::{map_in_line, second_key};
use std::ops::Range;

/// The trouble with what the parser stopped at; `said` is its own word for it.
pub(super) fn explain(text: &str, at: usize, said: &str) -> Trouble {
    let at = text.floor_char_boundary(at.min(text.len()));
    let line = Line::at(text, at);
    odd_blanks(text, line)
        .or_else(|| braces_before(text, at, line))
        .or_else(|| bracket_left_open(text, at, said))
        .or_else(|| quote_left_open(text, at, said))
        .or_else(|| in_quotes(text, at))
        .or_else(|| open_bracket(text, at).and_then(|open| bracket_in_text(text, at, open)))
        .or_else(|| reserved(text, at))
        .or_else(|| reference_in_brackets(text, at))
        .or_else(|| beside_a_dash(text, line, said))
        .or_else(|| second_key(line, at))
        .or_else(|| map_in_line(text, line, at))
        .or_else(|| colon(line, at))
        .or_else(|| too_deep(text, line))
        .or_else(|| between_depths(text, line))
        .or_else(|| colon_without_space(text, line))
        .unwrap_or_else(|| {
            let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            Trouble::new(at..end, said)
                .hint("check the indentation of this line and the one before, and its quotes")
        })
}

/// The line before is a key whose colon has no space behind it, so that it is a text.
fn colon_without_space(text: &str, line: Line<'_>) -> Option<Trouble> {
    let before = lines_before(text, line).next()?;
    let (at, item) = before.item();
    // In a list it may be a text: `node:20`.
    let (key, value) = item.split_once(':').filter(|_| at == before.depth())?;
    let in_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_key = !key.is_empty() && key.chars().all(in_key);
    let is_value = value.starts_with(|c: char| c.is_alphanumeric() || "'\"[{$".contains(c));
    let start = before.start + at;
    let trouble = Trouble::new(
        start..start + item.len(),
        "a key needs a colon followed by a space",
    );
    (is_key && is_value).then(|| trouble.hint(format!("write `{key}: {value}`")))
}

/// A tab, or a blank that is none to YAML, before the text of this line or the next.
fn odd_blanks(text: &str, line: Line<'_>) -> Option<Trouble> {
    let next = std::iter::successors(line.next(text), |line| line.next(text));
    let next = next.take(LINES_BACK).find(|line| !line.is_empty());
    [Some(line), next]
        .into_iter()
        .flatten()
        .find_map(|line| odd_blank(text, line))
}

fn odd_blank(text: &str, line: Line<'_>) -> Option<Trouble> {
    let content = line.text.trim_start();
    let blanks = &line.text[..line.text.len() - content.len()];
    let (at, odd) = blanks.char_indices().find(|(_, c)| *c != ' ')?;
    let what = match odd {
        '\t' => "a tab".to_owned(),
        other => format!("the blank U+{:04X}", other as u32),
    };
    let at = line.start + at;
    let message = format!("{what} indents this line, and YAML takes nothing but spaces");
    // As deep as the line before it has it, if that has spaces.
    let before = lines_before(text, line).next();
    let depth = match before.map(|before| (before, before.item())) {
        Some((before, (depth, item))) if odd_blank_at(before).is_none() => {
            depth + if item.ends_with(':') { 2 } else { 0 }
        }
        _ => blanks.chars().map(|c| if c == '\t' { 2 } else { 1 }).sum(),
    };
    let hint = format!(
        "write `{}{}`, with spaces",
        " ".repeat(depth),
        content.trim_end()
    );
    Some(Trouble::new(at..at + odd.len_utf8(), message).hint(hint))
}

fn odd_blank_at(line: Line<'_>) -> Option<usize> {
    let blanks = line.text.len() - line.text.trim_start().len();
    line.text[..blanks].find(|c| c != ' ')
}

/// A key with a blank before it that the parser takes for a letter.
pub(super) fn odd_key(text: &str, at: usize) -> Option<Trouble> {
    let odd = text[at..].starts_with(char::is_whitespace);
    odd.then(|| odd_blank(text, Line::at(text, at)))?
}

/// What a variable in the notation of another tool is in a plan.
pub(crate) fn reference_meant(inner: &str) -> Option<String> {
    let inner = inner
        .trim()
        .trim_start_matches(['{', '%', '$'])
        .trim_end_matches(['}', '%']);
    let inner = inner.trim();
    let name = |name: &str| {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        (name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(plain))
            .then(|| name.to_owned())
    };
    match inner.rsplit_once(['.', ':']) {
        None => name(inner).map(|name| format!("${{{name}}}")),
        Some(("secrets" | "secret", rest)) => name(rest).map(|name| format!("${{secret:{name}}}")),
        Some(("env" | "process.env" | "environment", rest)) => {
            name(rest).map(|name| format!("${{env:{name}}}"))
        }
        Some(("vars" | "inputs" | "input" | "matrix" | "", rest)) => {
            name(rest).map(|name| format!("${{{name}}}"))
        }
        Some(_) => None,
    }
}

/// `{{x}}`, which opens at `at`.
pub(super) fn braces(text: &str, at: usize) -> Trouble {
    let line = Line::at(text, at);
    let rest = &text[at..line.end()];
    let close = rest.find("}}").map_or(rest.len(), |close| close + 2);
    let written = &rest[..close];
    let span = at..at + close;
    let trouble = Trouble::new(span, format!("`{written}` is not a variable of a plan"));
    match reference_meant(written) {
        Some(_) => {
            let token = token(text, value_start(text, at));
            let whole = with_variables(&text[token]);
            trouble.hint(match whole.contains(['"', '\\']) {
                true => format!("write '{}'", whole.replace('\'', "''")),
                false => format!("write \"{whole}\""),
            })
        }
        None => {
            trouble.hint("a variable is written `${NAME}`, a text that begins with `{` in quotes")
        }
    }
}

/// With each variable in the notation of another tool as a plan has it.
fn with_variables(text: &str) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let Some(close) = rest[open..].find("}}") else {
            break;
        };
        let end = open + close + 2;
        let Some(meant) = reference_meant(&rest[open..end]) else {
            break;
        };
        whole.push_str(&rest[..open]);
        whole.push_str(&meant);
        rest = &rest[end..];
    }
    whole.push_str(rest);
    whole
}

/// `{{x}}` on the line, at the place or before it.
fn braces_before(text: &str, at: usize, line: Line<'_>) -> Option<Trouble> {
    let until = text.floor_char_boundary((at + 2).min(line.end()));
    let open = text[line.start..until].rfind("{{")?;
    let before = &text[line.start..line.start + open];
    let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
    (!quoted).then(|| braces(text, line.start + open))
}

/// Where the plain value begins that goes on at `at`.
fn value_start(text: &str, at: usize) -> usize {
    let line = Line::at(text, at);
    let before = &text[line.start..at];
    let in_brackets = open_bracket(text, at).is_some();
    let mut start = line.item().0.min(before.len());
    for (i, c) in before.char_indices() {
        let ends = match c {
            ':' => before[i + 1..].starts_with(' '),
            ',' | '[' => in_brackets,
            '{' => in_brackets && !before[..i].ends_with('$'),
            _ => false,
        };
        if ends {
            start = i + 1;
        }
    }
    at - before[start..].trim_start().len()
}

/// The value that begins at `at`, to where it would end if it were plain. A reference is one
/// piece, braces and all.
fn token(text: &str, at: usize) -> Range<usize> {
    let line = Line::at(text, at);
    let in_brackets = open_bracket(text, at).is_some();
    let rest = &text[at..line.end()];
    let mut depth = 0_usize;
    let mut end = rest.len();
    for (i, c) in rest.char_indices() {
        match c {
            '{' if depth > 0 || rest[..i].ends_with('$') || rest[i..].starts_with("{{") => {
                depth += 1
            }
            '}' if depth > 0 => depth -= 1,
            ',' | ']' | '}' if in_brackets && depth == 0 => {
                end = i;
                break;
            }
            '#' if rest[..i].ends_with(' ') => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    at..at + rest[..end].trim_end().len()
}

/// The innermost bracket that is open at `at`.
fn open_bracket(text: &str, at: usize) -> Option<usize> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut before = ' ';
    let mut comment = false;
    for (i, c) in text[..at].char_indices() {
        let begins = matches!(before, ' ' | '\n' | '[' | '{' | ',' | ':');
        match (quote, c) {
            (_, '\n') => comment = false,
            _ if comment => {}
            (Some('"'), '"') if before == '\\' => {}
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if begins => quote = Some(c),
            (None, '#') if matches!(before, ' ' | '\n') => comment = true,
            (None, '[' | '{') if begins || !open.is_empty() => open.push(i),
            (None, ']' | '}') => {
                open.pop();
            }
            (None, _) => {}
        }
        before = c;
    }
    open.pop()
}

/// A bracket of a line before this one that nothing closes.
fn bracket_left_open(text: &str, at: usize, said: &str) -> Option<Trouble> {
    let open = match said.starts_with("unclosed bracket") {
        true => at,
        false => open_bracket(text, at)?,
    };
    let line = Line::at(text, open);
    let goes_on = at != open && at <= line.end() || Line::at(text, at).depth() > line.depth();
    if goes_on && !text[at..].trim().is_empty() {
        return None;
    }
    if let Some(trouble) = closed_in_comment(text, open) {
        return Some(trouble);
    }
    let bracket = &text[open..=open];
    let close = if bracket == "[" { ']' } else { '}' };
    let message = format!("the `{bracket}` that opens here is never closed");
    let hint = format!(
        "write `{close}` where it ends, as in `{}{close}`",
        line.text.trim()
    );
    Some(Trouble::new(open..open + 1, message).hint(hint))
}

/// A quote that swallows the lines after it.
fn quote_left_open(text: &str, at: usize, said: &str) -> Option<Trouble> {
    if !said.contains("quoted scalar") {
        return None;
    }
    let here = Line::at(text, at);
    let line = std::iter::once(here)
        .chain(lines_before(text, here))
        .find(|line| {
            line.text.matches('"').count() % 2 == 1 || line.text.matches('\'').count() == 1
        })?;
    if line.start == here.start && here.next(text).is_some() && text[at..].trim().is_empty() {
        return None;
    }
    let open = line.start + line.text.rfind(['"', '\''])?;
    let quote = &text[open..=open];
    let message = format!("the `{quote}` that opens here is never closed in this line");
    let hint = format!("write `{quote}` where the text ends");
    Some(Trouble::new(open..open + 1, message).hint(hint))
}

/// Where the quoted text begins that ends before `at`.
fn last_quoted(text: &str, from: usize, at: usize) -> Option<usize> {
    let (mut quote, mut last, mut before) = (None, None, ' ');
    for (i, c) in text[from..at].char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') && matches!(before, ' ' | '[' | '{' | ',' | ':') => {
                quote = Some(c);
                last = Some(from + i);
            }
            Some(_) | None => {}
        }
        before = c;
    }
    last
}

/// A quote within quotes, more text behind them, or a backslash that begins no escape.
fn in_quotes(text: &str, at: usize) -> Option<Trouble> {
    let line = Line::at(text, at);
    let start = match text[at..].chars().next() {
        Some('"' | '\'') => at,
        _ => last_quoted(text, line.start, at)?,
    };
    let quote = text[start..].chars().next()?;
    let span = token(text, start);
    let written = &text[span.clone()];
    let inner = written.strip_prefix(quote)?;
    let (inside, behind) = inner.split_once(quote)?;
    if behind.is_empty() {
        if quote == '"' && inside.contains('\\') && !inside.contains('\'') {
            let message =
                "a backslash between double quotes begins an escape, and here it begins none";
            let hint = format!("write '{inside}' in single quotes");
            return Some(Trouble::new(span, message).hint(hint));
        }
        return None;
    }
    let other = if quote == '"' { '\'' } else { '"' };
    let (message, whole) = match behind.strip_suffix(quote) {
        // The outer quotes are the others.
        Some(middle) => (
            "a quote within the text ends it",
            format!("{inside}{quote}{middle}"),
        ),
        None if !behind.contains(quote) => {
            ("more text follows the quotes", format!("{inside}{behind}"))
        }
        None => return None,
    };
    let outer = if whole.contains(quote) { other } else { quote };
    if whole.contains(outer) || (outer == '"' && whole.contains('\\')) {
        return None;
    }
    Some(Trouble::new(span, message).hint(format!("write {outer}{whole}{outer}")))
}

/// A value that begins with what YAML keeps for itself.
fn reserved(text: &str, at: usize) -> Option<Trouble> {
    let first = text[at..].chars().next()?;
    let begins = text[..at].ends_with([' ', '[', '{', ',', '\n']);
    if !begins
        || !matches!(
            first,
            '@' | '`' | '%' | '*' | '&' | '!' | '|' | '>' | '?' | '-'
        )
    {
        return None;
    }
    let span = token(text, at);
    let written = &text[span.clone()];
    let line = Line::at(text, at);
    let key = text[line.start..at].trim_end();
    if written.starts_with("- ") && key.ends_with(':') && open_bracket(text, at).is_none() {
        let message = "a list begins on the line after its key";
        let deeper = " ".repeat(line.item().0 + 2);
        let hint =
            format!("write `{deeper}{written}` on a line of its own, and what follows below it");
        return Some(Trouble::new(span, message).hint(hint));
    }
    let outer = if written.contains(['"', '\\']) {
        '\''
    } else {
        '"'
    };
    if written.is_empty() || written.contains(outer) {
        return None;
    }
    let message = match first {
        '*' => format!(
            "no anchor is called `{}`; a text that begins with `*` needs quotes",
            &written[1..]
        ),
        _ => format!("a text that begins with `{first}` needs quotes"),
    };
    Some(Trouble::new(span, message).hint(format!("write {outer}{written}{outer}")))
}

/// An anchor or a tag with nothing behind it, which ends at `end`: a text that somebody meant.
pub(super) fn sign_alone(text: &str, end: usize) -> Option<Trouble> {
    let before = text.get(..end)?.trim_end();
    let from = before
        .rfind([' ', '[', '{', ',', '\n'])
        .map_or(0, |at| at + 1);
    let sign = before.get(from..)?;
    let behind = text.get(end..)?;
    let is_text = match sign.strip_prefix('&') {
        Some(name) => !is_referred(behind, name),
        None => sign.starts_with('!'),
    };
    is_text.then(|| reserved(text, from))?
}

/// Whether an alias of this name stands in a text, so that its anchor is one.
fn is_referred(text: &str, name: &str) -> bool {
    let alias = format!("*{name}");
    let ends =
        |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n', ',', ']', '}']);
    let mut found = text.match_indices(&alias);
    found.any(|(at, alias)| text.get(at + alias.len()..).is_some_and(ends))
}

/// `${…}` between brackets, where its braces are those of a map.
fn reference_in_brackets(text: &str, at: usize) -> Option<Trouble> {
    let dollar = text[..at].strip_suffix('$').map(str::len)?;
    if !text[at..].starts_with('{') {
        return None;
    }
    let line = Line::at(text, at);
    let begins = |before: &str| before.ends_with([' ', '[', '{', ',']);
    let start = (line.start..=dollar)
        .rev()
        .find(|start| text.is_char_boundary(*start) && begins(&text[line.start..*start]))?;
    let span = token(text, start);
    let written = &text[span.clone()];
    let message = "a value with `${…}` needs quotes between brackets";
    let hint = format!("write \"{written}\"");
    Some(Trouble::new(span, message).hint(hint))
}

/// What a line was to say whose key has no colon, or none with a blank behind it.
pub(crate) fn one_word(text: &str) -> Option<String> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))?;
    let (key, rest) = text.split_at(end);
    let value = match rest.strip_prefix(':') {
        Some(value) => value,
        None => rest.trim_start().strip_prefix('=')?.trim_start(),
    };
    let is_key = key.starts_with(|c: char| c.is_ascii_lowercase());
    // `http://…` and `C:\…` are values.
    (is_key && !value.starts_with(['/', '\\', ' ', '=']) && !value.is_empty())
        .then(|| format!("{key}: {value}"))
}

/// A key where the list has its `-`, instead of below it.
fn beside_a_dash(text: &str, line: Line<'_>, said: &str) -> Option<Trouble> {
    let (from, content) = line.item();
    let depth = line.depth();
    if !said.contains("'-' indicator") || from != depth || !content.contains(':') {
        return None;
    }
    let is_item = |line: Line<'_>| line.depth() == depth && line.item().0 > depth;
    let item = lines_before(text, line).find(|before| before.depth() <= depth)?;
    if !is_item(item) {
        return None;
    }
    let number = |line: Line<'_>| text[..line.start].matches('\n').count() + 1;
    let after = std::iter::successors(line.next(text), |line| line.next(text));
    let last = after
        .take(LINES_BACK)
        .filter(|line| !line.is_empty())
        .take_while(|line| line.depth() >= depth && !is_item(*line))
        .last();
    let lines = match (number(line), number(last.unwrap_or(line))) {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("lines {first} to {last}"),
    };
    let key = content.split(':').next().unwrap_or(content);
    let message = format!("`{key}` stands where the `-` of the list does, and belongs below it");
    let hint = format!("indent {lines} by {} more spaces", item.item().0 - depth);
    let at = line.start + depth;
    Some(Trouble::new(at..at + key.len(), message).hint(hint))
}

fn colon(line: Line<'_>, at: usize) -> Option<Trouble> {
    let (start, item) = line.item();
    let place = |from: usize, length: usize| line.start + from..line.start + from + length;
    if let Some(meant) = one_word(item) {
        let message = format!("`{item}` is one word: a key needs a colon followed by a space");
        return Some(
            Trouble::new(place(start, item.len()), message).hint(format!("write `{meant}`")),
        );
    }
    let (key, value) = item.split_once(": ")?;
    let value_at = start + key.len() + 2 + value.len() - value.trim_start().len();
    let value = value.trim_start();
    let second = value.find(": ")?;
    if line.start + value_at + second != at || value.contains('"') || key.contains(['{', '[']) {
        return None;
    }
    let message = "a value that contains `: ` needs quotes";
    let hint = format!("write `{key}: \"{value}\"`");
    Some(Trouble::new(place(value_at, value.len()), message).hint(hint))
}

/// A line below one that has its value already.
fn too_deep(text: &str, line: Line<'_>) -> Option<Trouble> {
    let before = lines_before(text, line).next()?;
    let (at, item) = before.item();
    let (key, value) = item.split_once(": ")?;
    let (from, content) = line.item();
    if from <= at || value.trim_start().starts_with(['|', '>']) || !content.contains(':') {
        return None;
    }
    let message = format!("this line stands below `{key}`, which has its value already");
    let hint = format!(
        "begin it where `{key}` begins: `{}{content}`",
        " ".repeat(at)
    );
    let span = line.start + from..line.start + from + content.len();
    Some(Trouble::new(span, message).hint(hint))
}

/// A line that stands neither where the lines before it do, nor below the last of them.
fn between_depths(text: &str, line: Line<'_>) -> Option<Trouble> {
    let (_, content) = line.item();
    let depth = line.depth();
    if let Some(plain) = content.strip_suffix(',') {
        let end = line.start + line.text.trim_end().len();
        let trouble = Trouble::new(end - 1..end, "a line of YAML ends without a comma");
        return Some(trouble.hint(format!("write `{plain}`")));
    }
    // Below a key any depth will do, and between brackets too.
    let before = lines_before(text, line).next();
    let is_below = before.is_some_and(|before| {
        let (at, item) = before.item();
        at < depth && item.ends_with(':')
    });
    if is_below || open_bracket(text, line.start).is_some() {
        return None;
    }
    let mut least = usize::MAX;
    let mut depths: Vec<(usize, &str)> = Vec::new();
    for before in lines_before(text, line) {
        let (at, item) = before.item();
        for depth in [at, before.depth()] {
            if depth < least {
                least = depth;
                depths.push((
                    depth,
                    if depth == at {
                        item
                    } else {
                        before.text.trim()
                    },
                ));
            }
        }
        if least == 0 {
            break;
        }
    }
    if content.is_empty() || depths.iter().any(|(known, _)| *known == depth) {
        return None;
    }
    let (meant, beside) = depths
        .iter()
        .min_by_key(|(known, _)| known.abs_diff(depth))?;
    let is_item = beside.starts_with("- ") && !line.text.trim_start().starts_with("- ");
    let (meant, beside) = match is_item {
        true => (meant + 2, beside.trim_start_matches("- ")),
        false => (*meant, *beside),
    };
    let key = beside.split(':').next().unwrap_or(beside);
    let message = format!("this line is indented by {depth} spaces, like no line before it");
    let whole = line.text.trim();
    let hint = format!(
        "to put it beside `{key}`, write `{}{whole}`",
        " ".repeat(meant)
    );
    let at = line.start + depth;
    Some(Trouble::new(at..at + whole.len(), message).hint(hint))
}
