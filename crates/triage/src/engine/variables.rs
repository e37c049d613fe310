//! Which variables a server, or a test, says that it lacks: all of those that it names, and
//! not only the first.

use super::advice::Values;
use jelly_base::model::Failure;
use jelly_base::text::LazyPattern;
use std::collections::BTreeSet;

/// So many are named.
const NAMED: usize = 6;

/// Of a text, this much is looked at.
const LOOKED_AT: usize = 16 * 1024;

/// A variable of the environment, as it is written.
static NAME: LazyPattern = LazyPattern::new(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b");

/// What passes on only the variables that it is told to.
const WRAPPERS: [&str; 5] = ["docker", "podman", "nerdctl", "sudo", "ssh"];

/// Says of all variables that the lines in `quoted`, of `said`, name as missing, where a rule
/// took one of them for `name`: `names`, `missing` for a sentence that goes on with "not
/// set", and `it`.
///
/// What the environment sets is not what is missing, if another one of them is not set:
/// servers often name all that they need.
pub(super) fn missing_variables(
    (said, quoted): (&str, &str),
    failure: &Failure,
    values: &mut Values,
) {
    let Some(name) = values.get("name") else {
        return;
    };
    let (mut all, each) = alongside(said, quoted, name);
    // Node calls its errors as variables are called.
    let is_code = |name: &String| name.starts_with("ERR_");
    if all.iter().any(is_code) {
        let others = NAME
            .find_iter(quoted)
            .map(|found| found.as_str().to_owned());
        all.retain(|name| !is_code(name));
        for other in others.filter(|other| !is_code(other)) {
            if !all.contains(&other) {
                all.push(other);
            }
        }
    }
    if all.is_empty() {
        return;
    }
    let program = failure.argv.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_unset = |name: &&String| {
        let value = failure.env_delta.get(*name);
        value.is_none_or(|value| value.as_str() == Some(""))
    };
    let unset: Vec<String> = all.iter().filter(is_unset).cloned().collect();
    let mut names = match unset.is_empty() || WRAPPERS.contains(&program) {
        true => all,
        false => unset,
    };
    names.truncate(NAMED);
    let Some((last, before)) = names.split_last() else {
        return;
    };
    let (list, missing, it) = match before {
        [] => (last.clone(), format!("The variable {last} is"), "it"),
        _ => {
            let list = format!("{} and {last}", before.join(", "));
            let missing = match each {
                true => format!("The variables {list} are"),
                false => format!("At least one of the variables {list} is"),
            };
            (list, missing, "them")
        }
    };
    let first = names[0].clone();
    for (key, value) in [
        ("name", first),
        ("names", list),
        ("missing", missing),
        ("it", it.to_owned()),
    ] {
        values.insert(key.to_owned(), value);
    }
}

/// The variables that are told as this one is, in one list with it or on a line of the same
/// form; and whether each of them is told as missing, and not what is needed.
fn alongside(said: &str, quoted: &str, name: &str) -> (Vec<String>, bool) {
    let end = (0..=said.len().min(LOOKED_AT))
        .rev()
        .find(|at| said.is_char_boundary(*at));
    let said = &said[..end.unwrap_or(0)];
    let lines: Vec<&str> = said.lines().collect();
    let is_it = |line: &&str| names_it(line, name) && quoted.contains(line.trim());
    let Some(at) = lines.iter().rposition(is_it) else {
        return (vec![name.to_owned()], true);
    };
    let (mut names, each) = match list_with(lines[at], name) {
        Some(list) => list,
        None => (same_form(&lines, at, name), true),
    };
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    (names, each)
}

fn names_it(line: &str, name: &str) -> bool {
    NAME.find_iter(line).any(|found| found.as_str() == name)
}

/// `A, B and C` around the name, where all of them are needed; and whether what is missing
/// was counted up: `missing variables: A, B`.
fn list_with(line: &str, name: &str) -> Option<(Vec<String>, bool)> {
    static ALTERNATIVES: LazyPattern = LazyPattern::new(r"(?i)\b(?:(?:one|any) of|either)\b");
    static COUNTED: LazyPattern = LazyPattern::new(r"(?i)\b(?:missing|unset|not set)\b[^:]*: ");
    let found: Vec<_> = NAME.find_iter(line).collect();
    let at = found.iter().position(|found| found.as_str() == name)?;
    let between = |left: usize| {
        let between = &line[found[left].end()..found[left + 1].start()];
        between.replace(['\'', '"', '`', '$', ' ', '{', '}'], "")
    };
    let is_joined = |left: usize| matches!(&*between(left), "," | "and" | ",and" | "&" | "+");
    let is_other = |left: usize| matches!(&*between(left), "or" | ",or" | "/" | "|");
    let first = (0..at).rev().find(|left| !is_joined(*left));
    let first = first.map_or(0, |left| left + 1);
    let last = (at..found.len() - 1).find(|left| !is_joined(*left));
    let last = last.unwrap_or(found.len() - 1);
    let is_choice = ALTERNATIVES.is_match(line)
        || first > 0 && is_other(first - 1)
        || last + 1 < found.len() && is_other(last);
    if last == first || is_choice {
        return None;
    }
    let names = found[first..=last].iter();
    let counted = COUNTED.is_match(&line[..found[first].start()]);
    Some((
        names.map(|found| found.as_str().to_owned()).collect(),
        counted,
    ))
}

/// The variables of lines that differ from the one at `at` in the name alone. Where a line
/// is no more than a name, its neighbours are asked: others may be of another list.
fn same_form(lines: &[&str], at: usize, name: &str) -> Vec<String> {
    let form = lines[at].trim().replace(name, "\0");
    let of_form = |line: &&&str| {
        let mut names = NAME.find_iter(line);
        let found = names.find(|found| line.trim().replace(found.as_str(), "\0") == form)?;
        Some(found.as_str().to_owned())
    };
    let is_bare = !form.contains(char::is_alphabetic);
    if !is_bare {
        return lines.iter().filter_map(|line| of_form(&line)).collect();
    }
    let before = lines[..at].iter().rev().map_while(|line| of_form(&line));
    let mut names: Vec<String> = before.collect();
    names.reverse();
    names.extend(lines[at..].iter().map_while(|line| of_form(&line)));
    names
}

#[cfg(test)]
mod tests {
    use super::missing_variables;
    use crate::engine::advice::Values;
    use jelly_base::model::Failure;

    fn told(said: &str, name: &str, env: &[(&str, &str)]) -> String {
        let mut values = Values::from([("name".to_owned(), name.to_owned())]);
        let env = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let failure = Failure {
            env_delta: env.collect(),
            ..Failure::default()
        };
        missing_variables((said, said), &failure, &mut values);
        format!("{} not set", values["missing"])
    }

    #[test]
    fn an_error_code_of_node_is_no_variable() {
        let said = "AssertionError [ERR_ASSERTION]: ACME_ZZ must be set";
        for name in ["ERR_ASSERTION", "ACME_ZZ"] {
            assert_eq!(told(said, name, &[]), "The variable ACME_ZZ is not set");
        }
    }

    #[test]
    fn all_that_are_told_alike_are_named() {
        for (said, expected) in [
            ("A_URL is not set", "The variable A_URL is not set"),
            (
                "Error: missing required environment variables: A_URL, A_TOKEN",
                "The variables A_URL and A_TOKEN are not set",
            ),
            (
                "Please set `A_URL`, `A_USER` and `A_TOKEN`; see README_FIRST",
                "At least one of the variables A_URL, A_USER and A_TOKEN is not set",
            ),
            (
                "A_URL: Required\nA_TOKEN: Required\nA_LEVEL: Invalid value",
                "The variables A_URL and A_TOKEN are not set",
            ),
            (
                "Set:\n  - A_HOME\n\nMissing:\n  - A_URL\n  - A_TOKEN\n\nexit",
                "The variables A_URL and A_TOKEN are not set",
            ),
            // One is enough.
            (
                "A_URL or A_TOKEN must be set",
                "The variable A_URL is not set",
            ),
            (
                "A_URL, B_URL or C_URL must be set",
                "The variable A_URL is not set",
            ),
            ("set A_URL/B_URL", "The variable A_URL is not set"),
            (
                "at least one of A_URL, B_URL must be set",
                "The variable A_URL is not set",
            ),
            (
                "A_URL is not set, A_TOKEN is",
                "The variable A_URL is not set",
            ),
            ("nothing", "The variable A_URL is not set"),
        ] {
            assert_eq!(told(said, "A_URL", &[]), expected, "{said}");
        }
    }

    #[test]
    fn what_is_set_is_not_missing_beside_one_that_is_not() {
        let said = "A_URL and A_TOKEN must be set";
        let set = [("A_URL", "https://acme.test")];
        let only = told(said, "A_URL", &set);
        assert_eq!(only, "The variable A_TOKEN is not set");
        let both = [("A_URL", "https://acme.test"), ("A_TOKEN", "x")];
        assert_eq!(
            told(said, "A_URL", &both),
            "At least one of the variables A_URL and A_TOKEN is not set"
        );
    }

    #[test]
    fn only_the_lines_that_tell_it_count() {
        let said = "Reading API_URL, API_TOKEN\nAPI_TOKEN is not set";
        let mut values = Values::from([("name".to_owned(), "API_TOKEN".to_owned())]);
        missing_variables(
            (said, "API_TOKEN is not set"),
            &Failure::default(),
            &mut values,
        );
        assert_eq!(values["missing"], "The variable API_TOKEN is");
    }
}
