//! Examples in the files of this folder, each of which is a test.

use super::StaticText;

described! {
    /// A test, and the command that runs it again.
    pub(crate) struct RerunExample {
        pub(crate) test: ExampleTest,
        pub(crate) run: StaticText,
        pub(crate) also: StaticText,
    }

    /// A report, and who is known to have written it; `junit` if nobody is.
    pub(crate) struct ReportExample {
        pub(crate) writer: StaticText,
        pub(crate) report: StaticText,
    }

    /// A test as its report names it.
    pub(crate) struct ExampleTest {
        pub(crate) report: StaticText,
        pub(crate) suite: StaticText,
        pub(crate) class: StaticText,
        pub(crate) name: StaticText,
        pub(crate) file: StaticText,
        /// The file of the test in the words of its failure.
        pub(crate) place: StaticText,
        /// The failure, where a command needs what only it tells.
        pub(crate) failure: StaticText,
    }
}
