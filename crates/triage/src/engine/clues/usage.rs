//! A usage message without its help: what the options are for says nothing of
//! what went wrong.

use std::borrow::Cow;

/// Without the lines below the headings that follow `Usage:`. What is not indented is
/// kept, and from the first of it that is no heading on, all.
pub(super) fn without_help(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(before) = text.split_inclusive('\n').position(is_usage) else {
        return text;
    };
    let mut lines = text.split_inclusive('\n');
    let mut kept: String = lines.by_ref().take(before + 1).collect();
    let rest: Vec<&str> = lines.collect();
    let mut at = 0;
    // The usage itself may take several lines.
    while rest.get(at).is_some_and(|line| is_indented(line)) {
        kept.push_str(rest[at]);
        at += 1;
    }
    while let Some(line) = rest.get(at) {
        let blank = line.trim().is_empty();
        if !blank && !is_indented(line) && !is_heading(line) {
            break;
        }
        if blank || !is_indented(line) {
            kept.push_str(line);
        }
        at += 1;
    }
    kept.extend(rest[at..].iter().copied());
    kept.into()
}

fn is_usage(line: &str) -> bool {
    let word = line.get(.."usage".len());
    word.is_some_and(|word| word.eq_ignore_ascii_case("usage"))
        && line.contains(':')
        && line["usage".len()..].trim_start().starts_with(':')
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty()
}

/// `Options:`, `Available commands:`, and no `Traceback (most recent call last):`.
fn is_heading(line: &str) -> bool {
    const OF_ERRORS: [&str; 13] = [
        "problem",
        "detail",
        "issue",
        "trace",
        "stack",
        "warn",
        "error",
        "cause",
        "reason",
        "panic",
        "exception",
        "fatal",
        "fail",
    ];
    let line = line.trim_end();
    let lower = line.to_ascii_lowercase();
    line.ends_with(':')
        && !OF_ERRORS.iter().any(|word| lower.contains(word))
        && line.split(' ').count() <= 4
        && line
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | ':' | '-' | '/'))
}

#[cfg(test)]
mod tests {
    use super::without_help;

    #[test]
    fn help_is_no_evidence() {
        for (text, wanted) in [
            (
                "Usage: acme <url>\n\nExamples:\n  acme db://x\n  # connection refused? see the port\n",
                "Usage: acme <url>\n\nExamples:\n",
            ),
            (
                "USAGE:\n  acme [OPTIONS] --db <URL>\n\nOPTIONS:\n  --key <KEY>  else unauthorized\n",
                "USAGE:\n  acme [OPTIONS] --db <URL>\n\nOPTIONS:\n",
            ),
            (
                "usage: srv [-h]\n           [--db DB]\n\noptions:\n  --db DB\nsrv: error: no such table\n  in a\n",
                "usage: srv [-h]\n           [--db DB]\n\noptions:\nsrv: error: no such table\n  in a\n",
            ),
            (
                "Usage: srv\nTraceback (most recent call last):\n  File \"a.py\"\n",
                "Usage: srv\nTraceback (most recent call last):\n  File \"a.py\"\n",
            ),
            (
                "Usage: srv\n\nCaused by:\n    0: connection refused\n",
                "Usage: srv\n\nCaused by:\n    0: connection refused\n",
            ),
            (
                "memory usage: 12 MB\n  of 16\n",
                "memory usage: 12 MB\n  of 16\n",
            ),
            ("", ""),
        ] {
            assert_eq!(without_help(text.into()), wanted, "{text}");
        }
    }
}
