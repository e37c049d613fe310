//! The output of a command that failed: an exit status, with what it wrote.

use jelly_base::text::LazyPattern;

/// A line that tells an exit status is no longer.
const STATUS_LINE: usize = 120;
/// It stands among the first lines, or is the last one.
const HEAD: usize = 4;
/// Lines of ordinary output that may come along; more is data.
const OUTPUT: usize = 20;

/// What a line of the output is.
enum OutputPart<'a> {
    /// The number, and a command that is named with it.
    Status(i64),
    /// What follows came from stderr, or from stdout.
    Heading {
        stderr: bool,
        rest: &'a str,
    },
    Text(&'a str),
}

/// What a failed command said: its stderr, or all that it wrote where nothing
/// is marked as that.
pub(super) fn read(text: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines.len().checked_sub(1)?;
    let mut failed = None;
    let (mut errors, mut output) = (Vec::new(), Vec::new());
    let mut in_stderr = false;
    for (index, line) in lines.iter().enumerate() {
        let may_tell = index < HEAD || index == last;
        match part(line, may_tell) {
            OutputPart::Status(0) => return None,
            OutputPart::Status(_) if failed.is_none() => failed = Some(*line),
            OutputPart::Heading { stderr, rest } => {
                in_stderr = stderr;
                if !rest.is_empty() {
                    if stderr { &mut errors } else { &mut output }.push(rest);
                }
            }
            OutputPart::Status(_) => {}
            OutputPart::Text(line) => if in_stderr { &mut errors } else { &mut output }.push(line),
        }
    }
    let status = failed?;
    if output.len() > OUTPUT {
        return None;
    }
    let mut said: Vec<String> = if errors.is_empty() { output } else { errors }
        .into_iter()
        .map(str::to_owned)
        .collect();
    said.push(status.trim().to_owned());
    Some(said)
}

fn part(line: &str, may_tell: bool) -> OutputPart<'_> {
    static HEADING: LazyPattern = LazyPattern::new(
        r"(?i)\A[\s\[<(#*=-]*(?:(std ?err(?:or)?|standard error|error output)|(?:std ?out(?:put)?|standard output|output|command|cmd|cwd|directory))(?: output)?[\])>*=-]*\s*(?::\**|=|\z)\s*",
    );
    if may_tell
        && line.len() <= STATUS_LINE
        && let Some(status) = status(line)
    {
        return OutputPart::Status(status);
    }
    let Some(found) = HEADING.captures(line) else {
        return OutputPart::Text(line);
    };
    let rest = found.get(0).map_or("", |head| &line[head.end()..]).trim();
    let rest = match rest {
        "" | "(empty)" | "(none)" | "<empty>" | "''" | "\"\"" => "",
        rest => rest,
    };
    OutputPart::Heading {
        stderr: found.get(1).is_some(),
        rest,
    }
}

/// The exit status that a line tells.
fn status(line: &str) -> Option<i64> {
    static FORMS: LazyPattern = LazyPattern::new(
        r"(?ix)
            \b(?: exit(?:ed|s)?(?:[ _-]?(?:status|code|value))?
                | return(?:ed|s)?[ _-]?(?:code|status|value)
                | return(?:ed|s)?
                | rc
                | (?:terminated|finished|failed|died|ended)
            )
            (?: \s+with )? (?: \s+an? )? (?: \s+non-?zero )?
            (?: \s+(?:exit|return)[ _-]?(?:status|code) | \s+(?:status|code) (?:\s+code)? )?
            (?: \s+of | \s+is | \s+was )?
            \s* [:=]? \s* \(? [\x60'\x22]? (-?\d{1,10}) \b",
    );
    let found = FORMS.captures(line)?;
    let whole = found.get(0)?;
    let number = found.get(1)?.as_str().parse().ok()?;
    // A status of HTTP is no exit status, nor is a count.
    let told = whole.as_str().to_ascii_lowercase();
    let says_exit = told.contains("exit")
        || told.starts_with("return") && !told.contains("status code")
        || told.starts_with("rc");
    let rest = line[whole.end()..].trim_start_matches([')', '`', '\'', '"', ']', '*', ' ']);
    let counts = rest.starts_with(|c: char| c.is_ascii_alphabetic()) && told.starts_with("return");
    let bare_return = ["returned", "returns", "return"].iter().any(|word| {
        told.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-')
            .trim()
            == *word
    });
    (says_exit && !counts && (rest.is_empty() || !bare_return)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{read, status};

    #[test]
    fn an_exit_status_is_read_in_every_form() {
        for (line, wanted) in [
            ("Exit status: 1", 1),
            ("exit code: 127", 127),
            ("Exit code 2", 2),
            ("[exit code: 1]", 1),
            ("(exit code 3)", 3),
            ("Command failed with exit code 2: npm test", 2),
            ("Command exited with non-zero status 4", 4),
            ("Process exited with code 1", 1),
            ("Command 'ls' returned non-zero exit status 2.", 2),
            ("Return code: -9", -9),
            ("returncode=1", 1),
            ("exit_code: 0", 0),
            ("exited with 1", 1),
        ] {
            assert_eq!(status(line), Some(wanted), "{line}");
        }
        for line in [
            "returned 3 rows",
            "status code 500",
            "failed 3 times",
            "code: 1",
            "exit the room",
            "status: 1",
        ] {
            assert_eq!(status(line), None, "{line}");
        }
    }

    #[test]
    fn what_it_wrote_on_stderr_is_what_it_says() {
        let said = read("Exit status: 1\nSTDOUT:\nchecking\nSTDERR:\nfatal: no remote\n");
        assert_eq!(said.unwrap(), ["fatal: no remote", "Exit status: 1"]);
        let said = read("make: *** [all] Error 2\nCommand failed with exit code 2");
        assert_eq!(said.unwrap()[0], "make: *** [all] Error 2");
        assert_eq!(read("Exit code: 0\nSTDERR:\nwarning: x"), None);
        let long = format!("Exit code: 1\n{}", "row\n".repeat(50));
        assert_eq!(read(&long), None);
    }
}
