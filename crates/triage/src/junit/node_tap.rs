//! What Node's test runner says of a failed test in TAP: a block of YAML, which holds what
//! its JUnit report tells in the words of `util.inspect`.

use jelly_base::model::Failure;
use std::fmt::Write;

/// The members of such a block, whose values may go on below them.
const MEMBERS: [&str; 14] = [
    "duration_ms",
    "type",
    "location",
    "failureType",
    "error",
    "exitCode",
    "signal",
    "code",
    "name",
    "expected",
    "actual",
    "operator",
    "generatedMessage",
    "stack",
];

/// The failure that a block tells, in the words of Node's JUnit report, so that both are
/// classified alike; nothing where the block is none of Node's.
pub(super) fn failure(said: &str) -> Option<Failure> {
    let members = members(said);
    let member = |name: &str| {
        let found = members.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.as_str())
    };
    let kind = member("failureType")?;
    let error = member("error")?;
    let code = member("code").filter(|code| *code != "ERR_TEST_FAILURE");
    let text = match member("stack") {
        Some(stack) => {
            let class = member("name").unwrap_or("Error");
            let coded = code.filter(|code| code.starts_with("ERR_"));
            let coded = coded.map_or(String::new(), |code| format!(" [{code}]"));
            let inner = error.trim_end().replace('\n', "\n  ");
            let mut text = format!(
                "[Error [ERR_TEST_FAILURE]: {error}] {{\n  code: 'ERR_TEST_FAILURE',\n  \
                 failureType: '{kind}',\n  cause: {class}{coded}: {inner}"
            );
            for frame in stack.lines().filter(|line| !line.trim().is_empty()) {
                let _ = write!(text, "\n      at {}", frame.trim());
            }
            let members = [
                ("code", code.map(|code| format!("'{code}'"))),
                ("actual", member("actual").map(str::to_owned)),
                ("expected", member("expected").map(str::to_owned)),
            ];
            let told = members
                .into_iter()
                .filter_map(|(name, value)| {
                    Some(format!("\n    {name}: {}", value?.replace('\n', "\n    ")))
                })
                .collect::<Vec<_>>();
            if !told.is_empty() {
                let _ = write!(text, " {{{}\n  }}", told.join(","));
            }
            text + "\n}"
        }
        None => format!(
            "[Error [ERR_TEST_FAILURE]: {error}] {{ code: 'ERR_TEST_FAILURE', failureType: \
             '{kind}', cause: '{error}' }}"
        ),
    };
    let place = member("location").and_then(|at| {
        let (file, column) = at.rsplit_once(':')?;
        let (file, line) = file.rsplit_once(':')?;
        let _: u64 = column.parse().ok()?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    let (file, line) = place.unzip();
    Some(Failure {
        element: Some("failure".to_owned()),
        type_: Some(kind.to_owned()),
        message: Some(error.trim().to_owned()),
        text: Some(text),
        file,
        line,
        ..Failure::default()
    })
}

/// The members of a block with their values, without quotation marks or margin.
fn members(said: &str) -> Vec<(&str, String)> {
    let margin = |line: &str| line.len() - line.trim_start().len();
    let filled = said.lines().filter(|line| !line.trim().is_empty());
    let outer = filled.map(margin).min().unwrap_or(0);
    let mut members: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in said.lines() {
        let begun = line.trim_start().split_once(':').filter(|(name, rest)| {
            margin(line) == outer
                && MEMBERS.contains(name)
                && (rest.is_empty() || rest.starts_with(' '))
        });
        match (begun, members.last_mut()) {
            (Some((name, value)), _) => members.push((name, vec![value.trim()])),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    let values = members.into_iter();
    values.map(|(name, lines)| (name, value(&lines))).collect()
}

fn value(lines: &[&str]) -> String {
    let (first, below) = lines.split_first().unwrap_or((&"", &[]));
    if !matches!(*first, "" | "|" | "|-" | ">" | ">-") {
        return unquoted(first);
    }
    let filled = below.iter().filter(|line| !line.trim().is_empty());
    let margin = filled
        .map(|line| line.len() - line.trim_start().len())
        .min();
    let bare = |line: &&str| {
        line.get(margin.unwrap_or(0)..)
            .unwrap_or_default()
            .to_owned()
    };
    below.iter().map(bare).collect::<Vec<_>>().join("\n")
}

/// A scalar of YAML as the text that it is.
pub(super) fn unquoted(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    match inner {
        Some(inner) => serde_json::from_str(value).unwrap_or_else(|_| inner.to_owned()),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::failure;

    #[test]
    fn a_block_of_node_is_told_as_its_report_does() {
        let told = failure(
            "duration_ms: 0.36\nlocation: '/srv/a.test.js:12:3'\nfailureType: 'testCodeFailure'\n\
             error: |-\n  Expected values to be strictly equal:\n  \n  2 !== 3\n  \n\
             code: 'ERR_ASSERTION'\nname: 'AssertionError'\nexpected: 3\nactual: 2\n\
             operator: 'strictEqual'\nstack: |-\n  TestContext.<anonymous> (/srv/a.test.js:12:9)\n",
        )
        .unwrap();
        assert_eq!(
            told.message.unwrap(),
            "Expected values to be strictly equal:\n\n2 !== 3"
        );
        assert_eq!(
            (told.file.as_deref(), told.line),
            (Some("/srv/a.test.js"), Some(12))
        );
        let text = told.text.unwrap();
        assert!(text.contains(
            "\n  cause: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n"
        ));
        assert!(text.ends_with(
            "\n      at TestContext.<anonymous> (/srv/a.test.js:12:9) {\n    code: 'ERR_ASSERTION',\n    \
             actual: 2,\n    expected: 3\n  }\n}"
        ));
        let told = failure("failureType: 'x'\nerror: \"open '/x'\"\ncode: 'EMFILE'\n").unwrap();
        assert_eq!(told.message.as_deref(), Some("open '/x'"));
        assert_eq!(failure("message: 'not of Node'\nseverity: fail\n"), None);
    }
}
