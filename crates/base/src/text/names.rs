//! "Did you mean": which of the offered names somebody may have meant.

/// The candidates that are close to `name`, best first, ties by name; names
/// that differ only in case or in `-`, `_`, `.` count as equal in meaning.
///
/// Close means a Damerau-Levenshtein distance of at most a third of the
/// longer name, and of three at most: enough for a slip of the finger, too
/// little to turn one word into another.
#[must_use]
pub fn close_names<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = fold(name);
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let (ours, theirs) = (wanted.chars().count(), folded.chars().count());
            // What differs more in length differs more; and some names are
            // megabytes.
            if ours.abs_diff(theirs) > 3 {
                return None;
            }
            let longer = ours.max(theirs);
            let distance = strsim::damerau_levenshtein(&wanted, &folded);
            (distance <= (longer / 3).min(3)).then_some((distance, candidate))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    // A name that is the same but for its spelling leaves no doubt.
    if found.first().is_some_and(|(distance, _)| *distance == 0) {
        found.retain(|(distance, _)| *distance == 0);
    }
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// A question for the candidate that is closest to `name`.
#[must_use]
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let close = close_names(name, candidates);
    close
        .first()
        .map(|close| format!("did you mean `{close}`?"))
}

fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::close_names;

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        let tools = ["read_file", "write_file", "list_directory"];
        assert_eq!(close_names("raed_file", tools), ["read_file"]);
        assert_eq!(close_names("readFile", tools), ["read_file"]);
        assert_eq!(close_names("write-file", tools), ["write_file"]);
    }

    #[test]
    fn another_word_is_not_close() {
        assert!(close_names("delete_file", ["write_file", "read_file"]).is_empty());
        assert!(close_names("get", ["set_all"]).is_empty());
        assert!(close_names("ab", ["xy"]).is_empty());
    }

    #[test]
    fn the_name_itself_is_no_suggestion_and_spelling_variants_beat_neighbours() {
        assert!(close_names("echo", ["echo"]).is_empty());
        assert_eq!(
            close_names("read_files", ["readFiles", "read_file"]),
            ["readFiles"]
        );
    }
}
