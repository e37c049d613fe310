//! Texts that no server means to say: stack traces, and what languages say of mistakes
//! in a program.

use jelly_base::text::LazyPattern;
use std::borrow::Cow;

/// Bytes of a text that are looked at, from its begin and from its end.
const LOOKED_AT: usize = 64 << 10;
/// Bytes of a line that is quoted.
const QUOTED: usize = 160;

/// Lines of the stacks of many languages.
static STACK: LazyPattern = LazyPattern::made(|| {
    any_line_of(&[
        r"Traceback \(most recent call last\)",
        // Python's frames, wherever the head is cut.
        r#"^\s*File "[^"\n]+", line \d+, in \S+"#,
        // JavaScript.
        r"^\s*at (?:async )?(?:[^\n(]{1,200} )?\(?(?:file://|node:|/|[A-Za-z]:\\|\w)[^\n()]{0,300}:\d+:\d+\)?\s*$",
        // The JVM.
        r"^\s*at [\w.$]+(?:/[\w.$]+)?\.[\w$<>]+\([\w.]+\.(?:java|kt|scala):\d+\)",
        // .NET.
        r"^\s*at [\w.`<>\[\]]+\([^)\n]{0,200}\) in [^\n]{1,300}:line \d+",
        r"^goroutine \d+ \[",
        r"^stack backtrace:",
        r"^thread '[^'\n]{0,80}' (?:\(\d+\) )?panicked at",
        // Ruby and PHP.
        r"^\s*from [^\s:]+\.rb:\d+:in ",
        r"^#\d+ [^\s(]+\.php\(\d+\): ",
    ])
});

/// What runtimes say of mistakes that a program did not foresee.
static MISTAKE: LazyPattern = LazyPattern::made(|| {
    any_line_of(&[
        r"(?i:^\W*(?:\w*\s?error:\s*)?(?:an? )?(?:unexpected )?internal (?:server )?error\b)",
        r"Cannot read propert(?:y|ies) .{0,60}of (?:undefined|null)",
        r"\b\w[\w.\[\]()]{0,80} is not (?:a function|iterable|defined|a constructor)\b",
        r"Cannot (?:set propert|destructure propert|convert undefined or null)",
        r"Maximum call stack size exceeded|Invalid (?:array|string) length|Invalid count value",
        r"'NoneType' object|object has no attribute|object is not (?:subscriptable|iterable|callable)",
        r"(?:list|string|tuple) (?:assignment )?index out of range",
        r"unsupported operand type|not supported between instances of",
        r"maximum recursion depth exceeded|local variable '\w+' referenced before",
        r"cannot access local variable|name '\w+' is not defined|not enough values to unpack",
        r"\b(?:KeyError|IndexError|AttributeError|UnboundLocalError|RecursionError|NameError)\b",
        r"(?:can only concatenate|must be str, not|argument must be a string|Python int too large)",
        r"runtime error: (?:index|slice|invalid memory)|nil pointer dereference",
        r"NullPointerException|IndexOutOfBoundsException|ClassCastException|StackOverflowError",
        r"Object reference not set|undefined method `?'?\w+'? for nil",
        r"called `(?:Option|Result)::unwrap|index out of bounds: the len",
        // What is left of a KeyError that a framework wrapped.
        r"^Error executing tool [\w.-]+: '[^'\n]{0,200}'$",
    ])
});

fn any_line_of(lines: &[&str]) -> String {
    format!("(?m)(?:{})", lines.join("|"))
}

/// Begin and end of a text, with the line feeds of texts within JSON.
fn looked_at(text: &str) -> Cow<'_, str> {
    let cut = match text.len() > 2 * LOOKED_AT {
        false => Cow::Borrowed(text),
        true => {
            let head = text.floor_char_boundary(LOOKED_AT);
            let tail = text.ceil_char_boundary(text.len() - LOOKED_AT);
            Cow::Owned(format!("{}\n{}", &text[..head], &text[tail..]))
        }
    };
    match cut.contains("\\n") {
        true => Cow::Owned(cut.replace("\\n", "\n").replace("\\\"", "\"")),
        false => cut,
    }
}

/// The line of a text that belongs to a stack trace.
pub(crate) fn stack_line(text: &str) -> Option<String> {
    line_of(&STACK, text)
}

/// The line of a text that a language says of a mistake in a program.
pub(crate) fn mistake_line(text: &str) -> Option<String> {
    line_of(&MISTAKE, text)
}

fn line_of(pattern: &LazyPattern, text: &str) -> Option<String> {
    let text = looked_at(text);
    let found = pattern.find(&text)?;
    let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..]
        .trim_start()
        .lines()
        .next()
        .unwrap_or_default();
    let line = line.trim_end();
    Some(line[..line.floor_char_boundary(QUOTED)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::{mistake_line, stack_line};

    #[test]
    fn stacks_are_told_from_prose() {
        for stack in [
            "Error: Traceback (most recent call last):\n  File \"x.py\", line 3, in f\nKeyError: 'a'",
            "  File \"/srv/x.py\", line 3, in f",
            "TypeError: x\n    at run (/srv/x.js:3:5)\n    at node:internal/y:1:2",
            "    at async Promise.all (index.js:10:2)",
            "java.lang.Error\n\tat com.x.Y.run(Y.java:10)",
            "   at X.Y.Run(String a) in /src/Y.cs:line 3",
            "goroutine 1 [running]:",
            "thread 'main' panicked at src/main.rs:2:5:",
            "{\"error\": \"Traceback (most recent call last):\\n  File\"}",
        ] {
            assert!(stack_line(stack).is_some(), "{stack}");
        }
        for prose in [
            "The meeting is at noon (room 3:15)",
            "at most 10 items",
            "File not found, line 3",
            "look at https://example.com:80:1",
            "",
        ] {
            assert_eq!(stack_line(prose), None, "{prose}");
        }
    }

    #[test]
    fn mistakes_of_a_program_are_told_from_reasons() {
        for mistake in [
            "Cannot read properties of undefined (reading 'x')",
            "Error: Internal error",
            "Internal server error",
            "'NoneType' object is not subscriptable",
            "items.map is not a function",
            "Error executing tool paint: 'purple'",
            "list index out of range",
        ] {
            assert!(mistake_line(mistake).is_some(), "{mistake}");
        }
        for reason in [
            "ENOENT: no such file or directory, open '/x'",
            "Error executing tool divide: b must not be 0",
            "Error executing tool get: no item 'x'",
            "division by zero",
            "a is not a valid date",
            "Access denied - path outside allowed directories",
            "the internal errors of the log: none",
        ] {
            assert_eq!(mistake_line(reason), None, "{reason}");
        }
    }
}
