//! How much of a report is kept and followed.

/// Bounds of the reader. What goes over them is cut and said, and is never a
/// reason to lose the rest of the report, but for `depth` and `doctype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderLimits {
    /// Bytes of a failure's text that are kept from its beginning, and as
    /// many from its end.
    pub text: usize,
    /// The same of a message.
    pub message: usize,
    /// The same of captured output, of a case and of a suite.
    pub output: usize,
    /// Bytes of a name, a class, a file or a type.
    pub name: usize,
    /// Bytes of one piece of markup or text that are held at a time.
    pub token: usize,
    /// Elements inside each other.
    pub depth: usize,
    /// `<failure>`s of one case that are handed on; later ones are counted.
    pub failures_per_case: usize,
    /// Bytes of failing cases that wait for the end of their suite, where
    /// some writers put the cause.
    pub held: usize,
    /// Identities of cases that are remembered, to see that one is repeated.
    pub identities: usize,
}

impl Default for ReaderLimits {
    fn default() -> Self {
        Self {
            text: 16 << 10,
            message: 4 << 10,
            output: 8 << 10,
            name: 2 << 10,
            token: 64 << 10,
            depth: 1_000,
            failures_per_case: 16,
            held: 2 << 20,
            identities: 2_000_000,
        }
    }
}
