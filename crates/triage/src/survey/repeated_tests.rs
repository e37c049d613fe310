//! Failures that tell what others failed of, and those that only say something like it.

use super::signs_tests::of_tests;

/// How many causes the failures with these messages have.
fn number(writer: &str, messages: &[&str]) -> usize {
    let names = ["one", "two", "three", "four", "five"];
    let tests: Vec<(&str, &str, &str)> = messages
        .iter()
        .zip(names)
        .map(|(message, name)| (name, name, *message))
        .collect();
    of_tests(writer, &tests).len()
}

#[test]
fn who_repeats_what_another_failed_of_fails_of_the_same() {
    for (said, around) in [
        (
            "ActionView::Template::Error: The asset \"depot.css\" is not present in the asset pipeline.",
            "expected the response to have status code :ok (200) but it was :internal_server_error (500)\nActionView::Template::Error: The asset \"depot.css\" is not present in the asset pipeline.",
        ),
        (
            "DepotError: unknown gate type 'swing' at G14",
            "expected [Function] to not throw an error but 'DepotError: unknown gate type 'swing' at G14' was thrown",
        ),
        (
            "Error: Could not load the \"sharp\" module using the linux-x64 runtime",
            "PlanError: renderer disabled: Could not load the \"sharp\" module using the linux-x64 runtime",
        ),
        (
            "C++ exception with description \"Rows::at: index (which is 719) is over the size (which is 26)\" thrown in the test body.",
            "C++ exception with description \"Crop::apply -> Rows::at: index (which is 42) is over the size (which is 13)\" thrown in the test body.",
        ),
    ] {
        assert_eq!(number("rspec", &[said, around]), 1, "{said}");
    }
}

#[test]
fn what_any_program_says_is_repeated_by_chance() {
    for (said, around) in [
        (
            "TypeError: Cannot read properties of undefined (reading 'id')",
            "PageError: page 7 is broken: Cannot read properties of undefined (reading 'id')",
        ),
        // The one wants what the other failed of.
        (
            "Error: Could not load the \"sharp\" module using the linux-x64 runtime",
            "Error: Could not load the \"sharper\" module using the linux-x64 runtime",
        ),
        ("Error: depot closed", "AuditError: last was: depot closed"),
    ] {
        assert_eq!(number("jest", &[said, around]), 2, "{said}");
    }
}

#[test]
fn who_names_what_another_lacks_lacks_it() {
    for (lacks, names) in [
        (
            "PG::UndefinedColumn: ERROR:  column crates.net_weight does not exist",
            "NoMethodError: undefined method `net_weight' for an instance of Crate",
        ),
        (
            "PG::UndefinedColumn: ERROR:  column crates.net_weight does not exist",
            "AssertionError: assert 'net_weight' in {'id', 'size'}",
        ),
        (
            "Error: VITE_HALL_ID is not defined",
            "expected undefined to be 'H-03'\n\n  expect(import.meta.env.VITE_HALL_ID).toBe('H-03')",
        ),
    ] {
        assert_eq!(number("rspec", &[lacks, names]), 1, "{names}");
    }
    let lacks = "PG::UndefinedColumn: ERROR:  column crates.net_weight does not exist";
    for other in [
        "AssertionError: assert {'net_weight': 3} == {'net_weight': 4}",
        "NoMethodError: undefined method `gross_weight' for an instance of Crate",
    ] {
        assert_eq!(number("rspec", &[lacks, other]), 2, "{other}");
    }
}

#[test]
fn all_within_an_element_is_gone_with_it() {
    let missing = |element: &str| {
        format!(
            "Timed out retrying after 4000ms: Expected to find element: `{element}`, but never found it."
        )
    };
    let menu = missing("[data-cy=bulk-menu]");
    let item = missing("[data-cy=bulk-menu] > li:nth-child(2)");
    let other = missing("[data-cy=bulk-menu] a.help");
    assert_eq!(number("cypress", &[&menu, &item, &other]), 1);
    // Where it is there, two of its parts are two causes.
    assert_eq!(number("cypress", &[&item, &other]), 2);
}

#[test]
fn values_that_differ_in_one_way_are_one_cause() {
    let celsius = [
        "AssertionError: expected 282.41 to be close to 9.26",
        "AssertionError: expected 274.98 to be close to 1.83",
    ];
    assert_eq!(number("mocha", &celsius), 1);
    let currency = [
        "AssertionError: expected 'EUR 7.50' to equal '7.50 €'",
        "AssertionError: expected 'EUR 1,204.00' to equal '1,204.00 €'",
    ];
    assert_eq!(number("mocha", &currency), 1);
    // What two of them may have by chance, three don't.
    for often in [
        [
            "AssertionError: expected '7,5 kg' to equal '7.5 kg'",
            "AssertionError: expected '12,25 m' to equal '12.25 m'",
            "AssertionError: expected '0,5 l' to equal '0.5 l'",
        ],
        [
            "AssertionError: expected '2024-03-01T11:00Z' to equal '2024-03-01T09:00Z'",
            "AssertionError: expected '18:30' to equal '16:30'",
            "AssertionError: expected '2024-07-01 12:15' to equal '2024-07-01 11:15'",
        ],
        [
            "AssertionError: expected '2024-03-01' to equal '2024-02-29'",
            "AssertionError: expected '2024-12-01' to equal '2024-11-30'",
            "AssertionError: expected '2024-12-25' to equal '2024-12-24'",
        ],
        [
            "AssertionError: expected 24.9 to equal 23.9",
            "AssertionError: expected 5.9 to equal 4.9",
            "AssertionError: expected 17.9 to equal 16.9",
        ],
    ] {
        assert_eq!(number("mocha", &often), 1, "{often:?}");
        assert_eq!(number("mocha", &often[..2]), 2, "{often:?}");
    }
}

#[test]
fn what_shows_that_a_thing_is_there_is_not_about_its_absence() {
    let lacks = "PG::UndefinedColumn: ERROR:  column crates.net_weight does not exist";
    for other in [
        "NotNullViolation: null value in column \"net_weight\" of relation \"bales\" violates not-null constraint",
        "TypeError: pack() got an unexpected keyword argument 'net_weight'",
        "UnrecognizedPropertyException: Unrecognized field \"net_weight\" (class Crate), not marked as ignorable",
    ] {
        assert_eq!(number("rspec", &[lacks, other]), 2, "{other}");
    }
}
