//! Assertions that compare nothing: their whole message is the error of
//! another tool. `expected no error, got: connection refused` says that the
//! connection was refused.

use super::heads::{class, is_programming_error};
use super::masked::quoted;
use super::noise::statements;
use super::own_message::{
    compares, compares_values, tells_of_network, tells_of_setting, tells_of_system, tells_of_wait,
    tells_whole_error,
};
use crate::engine::instead::tells_of_peers;
use crate::engine::system_names::names_machine;
use jelly_base::model::Failure;
use jelly_base::text::{LazyBytePattern, LazyPattern, ascii_classes};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The error that is all that an assertion says.
///
/// Only the beginning of the statement is looked at: what stands further on
/// may be a value that is compared.
/// `typed` says that the writer names the class of an assertion elsewhere.
pub(super) fn unwrapped(said: &str, typed: bool) -> Option<Cow<'_, str>> {
    said_by_command(said)
        .or_else(|| said_by_program(said))
        .map(Cow::Owned)
        .or_else(|| inner(said, typed).map(Cow::Borrowed))
        .or_else(|| inner(behind_log(said)?, typed).map(Cow::Borrowed))
        .or_else(|| in_own_words(said, typed).map(Cow::Owned))
}

/// The same in what a report says as it is, its compared values included: an
/// error where none was wanted is no value.
pub(super) fn instead_of_none(text: &str, f: &Failure) -> Option<String> {
    // Few texts hold one of these words, so few are looked at any longer.
    static WANTS_NONE: LazyBytePattern = LazyBytePattern::new(
        r"None|nil|[Nn]ull|Ok\(|Expected: \x22\x22|command failed| is null|== (?:''|\x22\x22)|Falsy|Defined|Truthy|undef|falsy|unwanted|reject|exist|no err|wantErr|doesn't throw|operator: error|Value of: ",
    );
    let beginning = text.get(..floor(text, BEGINNING))?;
    if !WANTS_NONE.is_match(beginning) || !tells_of_system(beginning) {
        return None;
    }
    let said = statements(beginning, f);
    let of_condition = || {
        let said = said.trim_start();
        let shown = said.starts_with("Value of: ");
        shown.then(|| in_own_words(said, false)).flatten()
    };
    in_place_of_none(&said)
        .map(str::to_owned)
        .or_else(of_condition)
}

/// The error that stands where nil, null or None was wanted: the assertion
/// compares no values, it wants no error. Only errors of the surroundings are
/// told so; one of the product is the product's.
fn in_place_of_none(said: &str) -> Option<&str> {
    static NONE: LazyPattern = LazyPattern::new(WANTED_NONE);
    let found = NONE.captures(said)?;
    let inner = [
        "rest", "js", "text", "bare", "php", "shell", "chai", "py", "null", "go", "nil", "tap",
        "left",
    ]
    .iter()
    .find_map(|name| found.name(name))?;
    let inner = inner.as_str();
    let is = |names: &[&str]| names.iter().any(|name| found.name(name).is_some());
    // Nothing may be wanted of a product's own message, and a script's own mistakes are
    // its own.
    let told = match inner {
        _ if is(&["text", "bare", "php"]) => tells_whole_error(inner.trim_end_matches('"')),
        _ if is(&["shell"]) => tells_of_network(inner),
        // A test may want an error, and write it there.
        _ if is(&["left"]) => tells_of_system(inner) && names_machine(inner),
        _ => tells_of_system(inner),
    };
    told.then_some(inner)
}

/// Assertions that want nothing, with the error that came instead. Each
/// alternative names its error by the language.
const WANTED_NONE: &str = r"(?x)\A\s*(?:[\w.\\$]*(?:Assert\w*|Expectation\w*|Error|Failure|Failed|Exception)(?:\ \[ERR_ASSERTION\])?:\s+)?(?:
      (?: expected\ promise\ to\ be\ (?:fulfilled|resolved)[^\n]{0,80}?\ but\ it\ was\ rejected\ with
        | promise\ rejected\ [\x22']
        | \(?expect\(received\)\.resolves\b[^\n]*\s+Received\ promise\ rejected\ instead\ of\ resolved\s+Rejected\ to\ value:
        | ifError\ got\ unwanted\ exception:
        | Got\ unwanted\ (?:exception|rejection)\b[^\n]*\s+Actual\ message:
        | (?:[^\n]{1,80}:\d+\s+)?Expected:\ [^\n]{1,80}\ doesn't\ throw\ an\ exception\.\s+Actual:\ it\ throws
        | (?:\s*\S+_test\.go:\d+:\s*)?(?:\s*Error\ Trace:[^\n]*\n(?:\s+/?\S+\.go:\d+\n)*)?\s*Error:\s+Expected\ nil,\ but\ got:
        | not\ ok\ \d+\b[^\n]*\s+(?:---\s+)?operator:\ (?:error|ifError)\b[^A-Z]*?actual:
      )\s*(?:\|-)?\s*['\x22]?(?P<rest>(?s:.+))
    | \(?expect\(received\)\.(?:toBeNull|toBeUndefined|toBeFalsy|not\.toBeDefined|not\.toBeTruthy)\(\)\s+(?:Expected:[^\n]*\s+)?Received:\s+(?P<js>\[?\w*Error\b(?s:.+))
    | (?:[\w\\:\ ]+\s+)?Failed\ asserting\ that\ '(?P<php>[^\n]+)'\ is\ null\b
    | \(?expect\(received\)\.to(?:Be|Equal|StrictEqual)\(expected\)[^\n]*\s+Expected:\ \x22\x22\s+Received:\ [\x22](?P<text>(?s:.+))
    | (?:assert\ )[\x22'](?P<bare>[^\n]+)[\x22']\ ==\ (?:''|\x22\x22)
    | (?:[^\n]*\n){0,8}?--\ command\ failed\ --\s+status\s*:\s*\d+\s+(?:output|stderr)\s*(?:\(\d+\ lines\))?\s*:\s*(?P<shell>(?s:.+))
    | (?:[^\n]{0,80}:\ )?expected\ (?P<chai>\[?\w*Error\b(?s:.+?))\ (?:to\ (?:deeply\ |strictly\ )?(?:equal|be|eql)\ (?:null|undefined|falsy)|(?:to\ not|not\ to)\ exist)\b
    | (?:assert\ )?(?P<py>[\w.]*(?:Error|Exception|Refused|Timeout)\w*\([^\n]+\)|[\w.]*URLError\([^\n]+\))\ is\ (?:not\ )?None\b
    | (?:Assert\.(?:Null|IsNull)\(\)[^\n]*\n\s*)?[Ee]xpected:?\s*[(<\[]?(?:nil|null|None)[)>\]]?\s*(?:but\ was|but\ found|But\ was|Actual|got)\s*:?\s*(?P<null>[<\[(\#\w](?s:.+))
    | (?:[^\n\x22]*?)\b(?:returned|got|have|err(?:or)?)\b(?:\ error)?(?:\ =|:|\ is)?\ (?P<go>[^\n]+?)[,;]\ (?:but\ )?(?:want(?:ed)?|wantErr|expected)\ (?:nil|<nil>|no\ err(?:or)?|none|false)\s*$
    | (?:[^\n]*\n){0,4}?[\#\s]*got:\s*['\x22](?P<tap>[^\n]+)['\x22]\s*\n[\#\s]*expected:\s*undef\b
    | (?:\[FAILED\]\ )?Expected\s+<[^\n]{1,120}>:\ (?P<nil>(?s:.+?))\s+(?:to\ be\ nil|not\ to\ have\ occurred|to\ succeed)\b
    | (?:(?:thread\ '[^'\n]*'[^\n]*\s+)?assertion\ `left\ ==\ right`\ failed[^\n]*\s+left:\ Err\((?P<left>[^\n]+?)\)\s+right:\ Ok\()
    )";

/// Bytes at the beginning of a statement that such assertions take.
const BEGINNING: usize = 8 * 1024;

fn floor(text: &str, limit: usize) -> usize {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// What an assertion says in the test's own words, where it compares nothing
/// but true with false, and those words tell of an error of the system:
/// `self.fail(f"no depot: {error}")`.
fn in_own_words(said: &str, typed: bool) -> Option<String> {
    /// Longer ones hold more than a sentence.
    const SENTENCE: usize = 4 * 1024;
    let said = said.trim_start();
    let said = said.strip_prefix("failed on setup with \"").unwrap_or(said);
    // `Error: …` may be anything.
    let asserts = |class: &str| is_assertion(class) && class != "Error";
    let typed = typed || class(said).is_some_and(asserts);
    let bare = without_assertion_class(said);
    let tells =
        |words: &str| tells_of_system(words) || tells_of_setting(words) || tells_of_wait(words);
    if !(typed || marks_failure(bare)) || bare.len() > SENTENCE || !tells(bare) {
        return None;
    }
    let words = without_bare_truth(bare);
    // A number may be an amount, where nothing else tells of a program.
    let words = match tells_whole_error(&words) {
        true => Cow::Owned(without_exit_code(&words)),
        false => words,
    };
    // Quotes hold what was compared, or what a page shows.
    let plain = quoted(&words, |_| true);
    // What must be so is the condition's story where the error follows for which it is not.
    let told = tells_whole_error(&plain) && !compares_values(&plain);
    let system = tells_of_system(&plain) && (told || !compares(&plain));
    let setting = || tells_of_setting(&plain) && !compares(&plain.replace("must be ", "is not "));
    let waited = || words.len() < bare.len() && tells_of_wait(&plain) && !compares(&plain);
    (system || setting() || waited()).then(|| words.trim().to_owned())
}

/// `Assert.Fail(): …` says by itself what it is, and so does a truth that is none.
fn marks_failure(said: &str) -> bool {
    const MARKS: [&str; 6] = [
        // behave
        "ASSERT FAILED: ",
        "Assert.",
        "Assertion Failed: ",
        "Failed asserting that",
        "Failed: ",
        "Value of: ",
    ];
    let truth = [
        "Expected: True\nActual: ",
        "Expected: False\nActual: ",
        "' returned FALSE. (",
        // @hapi/code
        " to equal specified value: ",
    ];
    MARKS.iter().any(|mark| said.starts_with(mark)) || truth.iter().any(|mark| said.contains(mark))
}

/// The statement without comparisons that only tell that something is true,
/// false or nothing: they stand for a condition, the words for its story.
fn without_bare_truth(said: &str) -> Cow<'_, str> {
    static TRUTH: LazyPattern = LazyPattern::new(
        r"(?mx)
              ^\s*assert\ 127\ ==\ 0\s*$
            # Robot Framework compares what a program exited with.
            | :\ \d{1,3}\ !=\ 0\s*$
            | ^\s*assert\ (?:not\ )?(?:False|True|None|0|1|''|\[\]|\{\})(?:\ is\ not\ None)?\s*$
            | ^\s*\+\s+where\ [^\n]*$
            # A proxy answers so, and says why in words.
            | ^\s*assert\ 50[234]\ ==\ 20[0-4]\s*$
            | :\ [Ee]xpected\ 50[234]\ to\ (?:deeply\ |strictly\ )?(?:equal|be|eql)(?:\ specified\ value:)?\ 20[0-4]\b[^\n]*$
            | ^\s*Failed\ asserting\ that\ (?:false\ is\ (?:true|not\ false)|true\ is\ (?:false|not\ true)|null\ is\ not\ null)\.?\s*$
            | \s*==>\ expected:\ (?:not\ )?<(?:true|false|null)>(?:\ but\ was:\ <(?:true|false|null)>)?
            | ^(?:False\ is\ not\ true|True\ is\ not\ false|None\ is\ not\ true|unexpectedly\ None)\ :\ 
            | :\ expected\ (?:false|true|null|undefined)\ to\ be\ (?:true|false|truthy|falsy|ok|not\ null)\s*$
            | ^\s*(?:Expected|But\ was|Actual):\s+(?:True|False|true|false|null|not\ null)\s*$
            | ^\s*Value\ of:\ [^\n]*$
            | ^\s*Actual:\s+(?:true|false)\s+\(
            | ^Assertion\ Failed:\s*
            # QVERIFY2 of Qt
            | ^'[^\n]{1,200}'\ returned\ FALSE\.\ ?
            | ^\s*Assert\.(?:True|False|IsTrue|IsFalse|Fail|NotNull)(?:\(\))?(?:\ Failure|\ failed)?[.:]?\ ?
            ",
    );
    TRUTH.replace_all(said, "")
}

/// What is said of a program without the comparison of what it ended with, which was to be 0.
fn without_exit_code(said: &str) -> String {
    static EXIT: LazyPattern = LazyPattern::new(
        r"(?mx)
              \s*==>\ expected:\ <0>\ but\ was:\ <-?\d{1,3}>
            | ^-?\d{1,3}\ !=\ 0\ :\ 
            | ^\s*-?\d{1,3}\ !==\ 0\s*$
            | ^\s*assert\ -?\d{1,3}\ ==\ 0\s*$
            ",
    );
    EXIT.replace_all(said, "").into_owned()
}

/// How Python tells that one error came of another.
const CHAINED: [&str; 2] = [
    "During handling of the above exception",
    "was the direct cause of the following exception",
];

/// Whether the last error that a text tells is a mistake of a program, which ended it: what it
/// complained of before, it went on without. An error that it is chained to, one that it fell over
/// nothing after another, and one that tells of nothing to read leave that open.
pub(in crate::engine) fn ended_by_mistake(text: &str) -> bool {
    static HEAD: LazyPattern = LazyPattern::new(
        r"(?x)\A(?:Exception\ in\ thread\ \x22[^\x22]*\x22\ |Caused\ by:\ |Uncaught\ |(?:PHP\ )?Fatal\ error:\ +Uncaught\ )?
              (?P<class>(?:[A-Za-z_][\w.$\\]*)?(?:Error|Exception))\b(?:\ \[\w+\])?(?::|\z)",
    );
    static PANIC: LazyPattern = LazyPattern::new(
        r"\A(?:panic: runtime error: |index out of bounds: |called `Option::\w+\(\)` on a `None` value|attempt to (?:add|calculate|divide|multiply|negate|shift|subtract)\b)",
    );
    static NOTHING_READ: LazyPattern = LazyPattern::new(
        r"Expecting value: line 1 column 1|Unexpected end of JSON input|Unexpected token '?<|unexpected end of input",
    );
    // What was not had of another stands in its place.
    static OF_NOTHING: LazyPattern = LazyPattern::new(
        r"'NoneType' object|\bof (?:undefined|null)\b|\b(?:is|was) (?:null|undefined|nil)\b|\bfor nil\b|\bon null\b|\bnil pointer\b|\bon a `None` value|\bNullPointerException\b",
    );
    // A variable of the environment is no key of the program's data.
    static OF_ENVIRONMENT: LazyPattern =
        LazyPattern::new(r#"(?sm)(?:\bos\.environ\[|<frozen os>|\bos\.py").*^(?:E +)?KeyError: "#);
    let text = text.get(..floor(text, WHOLE)).unwrap_or_default();
    let mut heads = text.lines().rev().filter_map(|line| {
        // The margin of pytest.
        let line = line.strip_prefix("E ").unwrap_or(line).trim();
        // What a test says of a program's end is that program's.
        let line = line.strip_prefix("AssertionError: ").unwrap_or(line);
        if PANIC.is_match(line) {
            return Some((line, true));
        }
        let class = HEAD.captures(line)?.name("class")?.as_str();
        let is_mistake =
            is_programming_error(class) && !NOTHING_READ.is_match(line) && !tells_of_peers(line);
        // An error of no class ends a program as well.
        (class == "Error" || !is_assertion(class)).then_some((line, is_mistake))
    });
    let Some((last, true)) = heads.next() else {
        return false;
    };
    let is_chained = CHAINED.iter().any(|words| text.contains(words));
    let may_come_of_another = is_chained || OF_NOTHING.is_match(last);
    !OF_ENVIRONMENT.is_match(text) && (!may_come_of_another || heads.all(|(_, mistake)| mistake))
}

/// What a command printed before testify refused its exit status, which says
/// no more than that it failed.
fn said_by_command(said: &str) -> Option<String> {
    static REFUSED: LazyPattern = LazyPattern::new(
        r"(?m)^\s*Error Trace:[^\n]*\n(?:\s+/?\S+\.go:\d+\n)*\s*Error:\s+Received unexpected error:\n(?P<inner>[^\n]*)",
    );
    if said.len() >= WHOLE || !said.contains("Received unexpected error:") {
        return None;
    }
    let found = REFUSED.captures(said)?;
    let before = said.get(..found.get(0)?.start())?;
    let inner = found.name("inner")?.as_str();
    (before.trim().lines().count() > 1 && inner.contains("exit status"))
        .then(|| format!("{}\n{}", before.trim_end(), inner.trim()))
}

/// How a test tells that a program ended badly, with what it wrote on stderr below: `tool push
/// exited 3`, a head.
const PROGRAM_ENDED: &str = r"(?x)\A\s*(?:[\w.]*(?:AssertionError|Failed):\ )?[^\n]{0,200}?
      \b(?i:exited(?:\ with)?(?:\ (?:code|status))?|exit\ (?:code|status)|exit(?:code|status)?|rc)
      [\ :=]{1,3}[1-9]\d{0,2}\b[^\n]{0,40}\n
      \s*(?:[-=*\#]{2,}\s*)?(?i:std\ ?err)(?:\s*[-=*\#:]+)?\s*";

/// Whether a test tells so of a program.
pub(super) fn tells_of_program(said: &str) -> bool {
    static ENDED: LazyPattern = LazyPattern::new(PROGRAM_ENDED);
    (said.contains("err") || said.contains("ERR")) && ENDED.is_match(said)
}

/// What a program wrote on stderr, where a test tells it with the exit status that was to be 0:
/// its last words say why it ended.
fn said_by_program(said: &str) -> Option<String> {
    static ENDED: LazyPattern = LazyPattern::new(PROGRAM_ENDED);
    static END: LazyPattern =
        LazyPattern::new(r"\n\s*(?:[-=*#]{2,}\s*)?(?:(?i:std ?out)\b|assert |\+\s+where )");
    static WANTED: LazyPattern = LazyPattern::new(r"(?m)^\s*assert \d{1,3} == (\d{1,3})\s*$");
    if said.len() >= WHOLE || !tells_of_program(said) {
        return None;
    }
    let inner = &said[ENDED.find(said)?.end()..];
    let end = END.find(inner).map_or(inner.len(), |end| end.start());
    let (inner, rest) = (inner[..end].trim(), &inner[end..]);
    let is_frame = |line: &str| line.starts_with([' ', '\t']) || line.starts_with("at ");
    let mut lines = inner.lines().filter(|line| !line.trim().is_empty());
    let last = lines.rfind(|line| !is_frame(line)).unwrap_or(inner).trim();
    let tells = [
        tells_of_system,
        tells_of_setting,
        tells_of_network,
        tells_of_wait,
    ];
    let tells = tells.iter().any(|tells| tells(last)) || last.ends_with("timed out)");
    let wants_well = match WANTED.captures(rest) {
        Some(found) => &found[1] == "0",
        None => rest.contains("returncode"),
    };
    (tells && wants_well && !ended_by_mistake(inner)).then(|| inner.to_owned())
}

/// What testify says of the first check that failed, behind what the test logged before.
fn behind_log(said: &str) -> Option<&str> {
    let at = said.find("Error Trace:")?;
    (at > 0 && said.contains("Received unexpected error:")).then(|| &said[at..])
}

/// What an assertion begins with whose whole message is another error, but for
/// [`CAUGHT`].
const WRAPPERS_BEFORE: &str = r"(?x)\A(?:
              (?:\s*\S+_test\.go:\d+:\s*)?
              (?:\s*Error\ Trace:[^\n]*\n(?:\s+/?\S+\.go:\d+\n)*)?
              (?:\s*Error:\s+)?
              (?: Received\ unexpected\ error:
                | Unexpected\ error:
                | Expected\ success,\ but\ got\ an\ error:
                | (?i:unexpected\ err(?:or)?(?:\ \w+ing(?:\ \w+)?)?(?:\ from\ \S+)?:)
                | (?i:(?:expected|want(?:ed)?|wanting)\ (?:no|nil)\ (?:err(?:or)?|exceptions?),?\ (?:but\ )?(?:got|received|caught)(?:\ (?:one|error|an\ error))?:?)
                | (?i:should\ not\ (?:have\ )?(?:return(?:ed)?|error(?:ed)?|fail(?:ed)?)(?:\ an)?(?:\ error)?[:,])
                | (?i:err(?:or)?\ should\ be\ nil[:,]?\ (?:but\ )?(?:got|was):?)
              )
            | Unexpected\ exception\ thrown:
            | (?:\s*FAILED:\s+)?(?:REQUIRE|CHECK|WARN)_NOTHROW\([^\n]*\)\s+(?:due\ to\ unexpected\ exception\ with\ message|THREW\ exception):
            | Uncaught\ exception,\ not\ in\ assertion\.\s*expected:\ \S+\s*actual:
            | (?:---\s*)?name:\ AssertionError\b(?s:.{0,600}?)\b(?:details|values):\s*\{?\s*['\x22]?(?:Error\ thrown\ in\ test|Rejected\ promise\ returned\ by\ test|Function\ threw|Promise\ rejected\ with|Returned\ promise\ rejected\ with)[^'\x22\n]*['\x22]?:
            | Expected\ no\ exception\ to\ be\ thrown,\ but\ got\ '
            | (?:\s*\S+_test\.go:\d+:\s*)?assertion\ failed:\ (?:error\ is\ not\ nil|expected\ no\ error)[:,]
            | Uncaught\ exception\ in\ test\ body:
            | Expecting\ code\ not\ to\ raise\ a\ throwable\ but\ caught\s+[\x22<]?
            | No\ exception\ expected,\ but\ a[n]?\ (?P<kotest>\S+)\ was\ thrown
            | (?:\s*Expected:\ No\ Exception\ to\ be\ thrown\s+But\ was:\s+<?)
            | expected\ no\ (?:Exception|error),\ got\ \#<
            | XCTAssertNoThrow\ failed:\ threw\ error";
const WRAPPERS_BEHIND: &str = r"
            | \(?expect\(received\)\.not\.toThrow\(\)\s+(?:Error\ name:[^\n]*\s+)?(?:Error\ message|Thrown\ value):
            | expected\ \[Function[^\]]*\]\ to\ not\ throw\ an\ error\ but\ .
            )\s*(?P<inner>(?s:.+))\z";
/// Whatever may stand before it makes it dear to look for, so that is done
/// where its words are.
const CAUGHT: &str = r"
            | (?:[^\n]{0,160}\ :\ )?failed:?\ -?\ ?caught\ error:";

fn inner(said: &str, typed: bool) -> Option<&str> {
    static WRAPPERS: LazyPattern =
        LazyPattern::made(|| ascii_classes(&[WRAPPERS_BEFORE, WRAPPERS_BEHIND].concat()));
    static WITH_CAUGHT: LazyPattern =
        LazyPattern::made(|| ascii_classes(&[WRAPPERS_BEFORE, CAUGHT, WRAPPERS_BEHIND].concat()));
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("caught error:"));
    let whole = said;
    let said = without_assertion_class(said.trim_start());
    let wrappers = match MARK.find(said.as_bytes()) {
        Some(_) => &WITH_CAUGHT,
        None => &WRAPPERS,
    };
    if let Some(found) = wrappers.captures(said) {
        let thrown = said.contains("_NOTHROW(");
        let inner = found.name("inner").map_or("", |inner| inner.as_str());
        // What the product throws in its own words is its own.
        if thrown && !inner.contains('/') && !names_machine(inner) {
            return None;
        }
        return found
            .name("kotest")
            .map(|_| said)
            .or_else(|| found.name("inner").map(|inner| inner.as_str()));
    }
    // Selenium's waits, and anything else that begins as an exception does.
    let waits = said.starts_with("Expected condition failed: waiting for");
    let typed = typed || said.len() < whole.len();
    let inner = class(said).filter(|class| {
        typed && {
            said.starts_with(class) && !is_assertion(class) && said[class.len()..].starts_with(": ")
        }
    });
    if said.len() >= WHOLE {
        return None;
    }
    (waits || (inner.is_some() && said_differs(said))).then_some(said)
}

/// Longer statements are looked at as they are.
const WHOLE: usize = 64 * 1024;

/// `ValueError: 'a' != 'b'` compares all the same.
fn said_differs(said: &str) -> bool {
    let line = said.lines().next().unwrap_or_default();
    !line.contains(" != ") && !line.contains(" == ") && !line.contains(" not raised")
}

pub(super) fn is_assertion(class: &str) -> bool {
    let last = class.rsplit([':', '.', '\\', '$']).next().unwrap_or(class);
    last.contains("Assert")
        || last.contains("Expectation")
        || class.starts_with("Xunit.Sdk.")
        || matches!(
            last,
            "ComparisonFailure"
                | "MismatchError"
                | "MultipleFailuresError"
                | "Failed"
                | "Failure"
                | "Error"
        )
}

/// The message of an assertion, or all of it when no class is written.
fn without_assertion_class(said: &str) -> &str {
    match class(said).filter(|class| is_assertion(class) && said.starts_with(class)) {
        Some(class) => {
            let rest = &said[class.len()..];
            let rest = rest
                .strip_prefix(" [ERR_ASSERTION]")
                .unwrap_or(rest)
                .trim_start_matches([' ', ':']);
            if rest.is_empty() { said } else { rest }
        }
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::{ended_by_mistake, unwrapped};

    #[test]
    fn an_assertion_that_is_another_error_is_unwrapped() {
        for said in [
            "shop_test.go:12: \n\tError Trace:\t/src/shop_test.go:12\n\tError:      \tReceived unexpected error:\n\t            \tdial tcp: refused",
            "Unexpected error:\n    dial tcp: refused",
            "    shop_test.go:9: unexpected error: dial tcp: refused",
            "expected no error, got: dial tcp: refused",
            "org.opentest4j.AssertionFailedError: Unexpected exception thrown: dial tcp: refused",
            "Expected: No Exception to be thrown\n  But was:  <dial tcp: refused",
        ] {
            let inner = unwrapped(said, false).unwrap_or_else(|| panic!("{said}"));
            assert!(inner.starts_with("dial tcp"), "{inner}");
        }
        assert!(
            unwrapped(
                "AssertionError: requests.exceptions.ConnectionError: no route",
                false
            )
            .is_some()
        );
        assert!(
            unwrapped(
                "AssertionError: Expected condition failed: waiting for x",
                false
            )
            .is_some()
        );
    }

    #[test]
    fn what_a_program_went_on_without_did_not_end_it() {
        let refused = "usage is off: [Errno 111] Connection refused";
        for ended in [
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\nKeyError: 'price'\n\nassert 1 == 0",
            "E         KeyError: 'price'\nE       assert 1 == 0\n\ntests/test_cli.py:4: AssertionError",
            "Exception in thread \"main\" java.lang.NullPointerException: x\n\tat a.B.c(B.java:3)",
            "TypeError: x is not a function\n    at main (a.js:3:4)",
            "panic: runtime error: index out of range [3]",
        ] {
            assert!(ended_by_mistake(&format!("{refused}\n{ended}")), "{ended}");
        }
        for ended in [
            "",
            "requests.exceptions.ConnectionError: refused",
            "panic: dial tcp: connection refused",
            "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\nConnectionRefusedError: [Errno 111]",
            "requests.exceptions.HTTPError: 502 Server Error\n\nThe above exception was the direct cause of the following exception:\n\nValueError: cannot load rates",
            "ValueError: no connection to postgres://db:5432: Connection refused",
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            "attempt to write a readonly database",
        ] {
            assert!(!ended_by_mistake(&format!("{refused}\n{ended}")), "{ended}");
        }
    }

    #[test]
    fn the_story_of_a_condition_of_qt_is_its_own_message() {
        let told = |story: &str| {
            let said = format!("'depot.open()' returned FALSE. ({story})");
            unwrapped(&said, false).map(std::borrow::Cow::into_owned)
        };
        for story in [
            "licence check failed: licence file /opt/depot/site.lic expired on 2026-05-31",
            "DEPOT_TOKEN is not set",
            "connect: Connection refused",
        ] {
            assert_eq!(told(story).as_deref(), Some(&*format!("({story})")));
        }
        for story in ["the depot is closed", "the licence of the driver expired"] {
            assert_eq!(told(story), None, "{story}");
        }
    }

    #[test]
    fn an_assertion_that_compares_is_left_alone() {
        for said in [
            "AssertionError: assert 'a' == 'Unexpected error: dial tcp: refused'",
            "java.lang.Exception: Unexpected exception, expected<a.TimeoutException> but was<b.X>",
            "org.opentest4j.AssertionFailedError: Unexpected exception type thrown, expected: <a> but was: <b>",
            "AssertionError: TimeoutError not raised",
            "Expected: \"Unexpected error: refused\"\nReceived: \"\"",
            "java.lang.AssertionError: Expected exception: java.lang.IllegalStateException",
        ] {
            assert_eq!(unwrapped(said, false), None, "{said}");
        }
    }
}
