//! Which of many numbers were seen, a bit for each.

/// A set of small numbers: far cheaper to fill and to walk through in order
/// than a list that is sorted afterwards.
pub(super) struct Marks(Vec<u64>);

impl Marks {
    /// None of the numbers below `count`.
    pub(super) fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    pub(super) fn set(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.0
            .get(number / 64)
            .is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The marked numbers, rising.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Marks;

    #[test]
    fn marked_numbers_are_told_in_their_order() {
        let mut marks = Marks::new(130);
        for number in [129, 3, 64, 3, 500] {
            marks.set(number);
        }
        assert_eq!(marks.iter().collect::<Vec<_>>(), [3, 64, 129]);
        assert!(marks.has(64) && !marks.has(65) && !marks.has(500));
    }
}
