//! What is alike, told once with its number.

/// The first of each kind, with the number of all of it: one cause may have a
/// repair for each of hundreds of steps.
pub(super) fn kinds<'t, T>(
    all: impl Iterator<Item = &'t T>,
    is_like: impl Fn(&T, &T) -> bool,
) -> Vec<(&'t T, usize)> {
    let mut kinds: Vec<(&'t T, usize)> = Vec::new();
    for one in all {
        match kinds.iter_mut().find(|kind| is_like(kind.0, one)) {
            Some(kind) => kind.1 += 1,
            None => kinds.push((one, 1)),
        }
    }
    kinds
}

/// Behind one of so many that are alike.
pub(super) fn more_alike(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        more => format!(", and {} more in the same way", more - 1),
    }
}
