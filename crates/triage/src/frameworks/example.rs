//! Examples in the files of this folder, each of which is a test.

use super::Text;

described! {
    /// A test, and the command that runs it again.
    pub(crate) struct Example {
        pub(crate) test: Case,
        pub(crate) run: Text,
        pub(crate) also: Text,
    }

    /// A test as its report names it.
    pub(crate) struct Case {
        pub(crate) report: Text,
        pub(crate) suite: Text,
        pub(crate) class: Text,
        pub(crate) name: Text,
        pub(crate) file: Text,
    }
}
