//! Which of many numbers were seen, a bit for each.

/// A set of small numbers: far cheaper to fill and to walk through in order
/// than a list that is sorted afterwards.
#[derive(Debug, Clone, Default)]
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

    /// Forgets the numbers that are not in `others`, which has as much room.
    pub(super) fn keep(&mut self, others: &Self) {
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            *word &= other;
        }
    }

    /// Calls `take` with the marked numbers, rising.
    pub(super) fn each(&self, take: impl FnMut(usize)) {
        self.each_of(self, true, take);
    }

    /// The same, of the numbers that are among `others` or, unless `among`,
    /// are not.
    pub(super) fn each_of(&self, others: &Self, among: bool, mut take: impl FnMut(usize)) {
        let flip = if among { 0 } else { u64::MAX };
        for (at, (word, other)) in self.0.iter().zip(&others.0).enumerate() {
            let mut left = word & (other ^ flip);
            while left != 0 {
                take(at * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Marks;

    fn marked(numbers: &[usize]) -> Marks {
        let mut marks = Marks::new(130);
        numbers.iter().for_each(|number| marks.set(*number));
        marks
    }

    fn listed(marks: &Marks) -> Vec<usize> {
        let mut numbers = Vec::new();
        marks.each(|number| numbers.push(number));
        numbers
    }

    #[test]
    fn marked_numbers_are_told_in_their_order() {
        let marks = marked(&[129, 3, 64, 3, 500]);
        assert_eq!(listed(&marks), [3, 64, 129]);
        assert!(marks.has(64) && !marks.has(65) && !marks.has(500));
    }

    #[test]
    fn two_sets_are_told_apart_and_brought_together() {
        let (mut one, other) = (marked(&[3, 64, 129]), marked(&[4, 64, 65]));
        let mut seen = Vec::new();
        one.each_of(&other, true, |number| seen.push(number));
        one.each_of(&other, false, |number| seen.push(number));
        assert_eq!(seen, [64, 3, 129]);
        one.keep(&other);
        assert_eq!(listed(&one), [64]);
    }
}
