//! How programs of several languages look when they die: stack traces in the
//! manner of each, so that a client's reading of stderr can be tested.

use super::fault::PanicStyle;

/// The text on stderr and the exit code of a death in this style.
#[must_use]
pub fn death(style: PanicStyle) -> (&'static str, i32) {
    match style {
        PanicStyle::Rust => (
            "\nthread 'main' panicked at src/tools.rs:42:17:\n\
             called `Option::unwrap()` on a `None` value\n\
             note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            101,
        ),
        PanicStyle::Python => (
            "Traceback (most recent call last):\n\
             \x20 File \"/app/server.py\", line 61, in <module>\n\
             \x20   main()\n\
             \x20 File \"/app/server.py\", line 48, in call_tool\n\
             \x20   return handlers[name](arguments)\n\
             KeyError: 'result'\n",
            1,
        ),
        PanicStyle::Node => (
            "/app/dist/index.js:87\n\
             \x20   return response.items.map((item) => item.name);\n\
             \x20                         ^\n\n\
             TypeError: Cannot read properties of undefined (reading 'map')\n\
             \x20   at callTool (/app/dist/index.js:87:27)\n\
             \x20   at process.processTicksAndRejections (node:internal/process/task_queues:105:5)\n\n\
             Node.js v22.11.0\n",
            1,
        ),
    }
}

/// What a Python server with a closed set of requests says of another one.
#[must_use]
pub fn unknown_request(method: &str) -> String {
    format!(
        "Traceback (most recent call last):\n\
         \x20 File \"/app/server.py\", line 20, in <module>\n\
         \x20   asyncio.run(main())\n\
         \x20 File \"/app/session.py\", line 256, in _receive_loop\n\
         \x20   request = self._request_type.model_validate(message)\n\
         pydantic_core._pydantic_core.ValidationError: 1 validation error for ClientRequest\n\
         method\n\
         \x20 Input should be 'initialize' [type=literal_error, input_value='{method}', input_type=str]\n"
    )
}
