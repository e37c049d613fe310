//! Cases of one test that fail at one line: a table of values is one cause,
//! however each row puts it.

use crate::engine::skeleton;
use jelly_base::model::FailureView;
use std::collections::HashMap;

/// What cases of one test share that fail at one line, and that line.
type SharedPlace<'v> = (&'v str, &'v str, String, &'v str, &'v str);

/// Which failures are of one test function that is run with several values, and
/// fail of one kind of cause at one line. `first_of` are places in `views`, and
/// `failed_at` tells lines by fingerprint.
pub(super) fn one_line_each(
    views: &[FailureView<'_>],
    first_of: impl Iterator<Item = (usize, usize)>,
    failed_at: &HashMap<String, String>,
) -> Vec<Vec<usize>> {
    let mut shared: HashMap<SharedPlace<'_>, Vec<usize>> = HashMap::new();
    for (group, first) in first_of {
        let view = &views[first];
        let (Some(place), Some(function)) = (failed_at.get(view.fingerprint), function(view.name))
        else {
            continue;
        };
        let root_cause = view.kind.root_cause.as_str();
        let key = (view.report, view.classname, function, root_cause, &**place);
        shared.entry(key).or_default().push(group);
    }
    let mut found: Vec<Vec<usize>> = shared.into_values().filter(|all| all.len() > 1).collect();
    found.sort_unstable();
    found
}

/// The test without the values that it was run with, which stand behind it:
/// `adds[1-2]`, `adds(int)[1]`, `TestAdds/one`, `adds #01`; nothing where there
/// are none.
fn function(name: &str) -> Option<String> {
    let values = name.find(['[', '(', '/', '#', '{']);
    // PHPUnit: `testAdds with data set "one"`
    let set = name.find(" with data set ");
    let end = [values, set].into_iter().flatten().min()?;
    let function = name[..end].trim_end();
    (!function.is_empty()).then(|| skeleton(function))
}

#[cfg(test)]
mod tests {
    use super::function;

    #[test]
    fn the_values_of_a_test_are_no_part_of_it() {
        for (name, wanted) in [
            ("test_adds[1-2]", Some("test_adds")),
            ("adds(int)[1]", Some("adds")),
            ("adds [1] 2, 3", Some("adds")),
            ("TestAdds/one", Some("TestAdds")),
            ("adds #01", Some("adds")),
            ("testAdds with data set \"one\"", Some("testAdds")),
            ("test_adds", None),
            ("[1] 2, 3", None),
        ] {
            assert_eq!(function(name).as_deref(), wanted, "{name}");
        }
    }
}
