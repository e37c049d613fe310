//! Tests of Go that had not ended when their package did.

/// Whether a text is all that Go prints of a test that was running when a panic ended its
/// package: that it runs, and no word of how it ended.
pub(super) fn is_unfinished(text: &str) -> bool {
    let mut runs = false;
    for line in text.lines().map(str::trim) {
        runs |= line.starts_with("=== RUN ");
        if !line.is_empty() && !line.starts_with("=== ") {
            return false;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::is_unfinished;

    #[test]
    fn a_test_without_a_word_of_its_end_is_unfinished() {
        let running = "=== RUN   TestSends/one\n=== PAUSE TestSends/one\n=== CONT  TestSends/one\n";
        assert!(is_unfinished(running));
        for ended in [
            "",
            "=== PAUSE TestSends/one",
            "=== RUN   TestSends\n--- FAIL: TestSends (0.01s)",
            "=== RUN   TestSends\n    sends_test.go:9: got 3, want 4",
        ] {
            assert!(!is_unfinished(ended), "{ended}");
        }
    }
}
