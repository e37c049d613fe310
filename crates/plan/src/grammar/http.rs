//! `http` of a step.

use super::mapping::{Key, Kind, Mapping, Rule, mapping};

mapping! {
    /// A plain HTTP request to the host and port of the server's URL, for what stands
    /// beside its endpoint. Redirects are not followed. With `bare: true` at the step,
    /// the headers and the token of the server are left out.
    HTTP = "Http", "`http`" {
        /// Absolute path of a GET request, such as /.well-known/mcp.json.
        get: Kind::Filled;
        /// Path of a HEAD request.
        head: Kind::Filled;
        /// Path of an OPTIONS request.
        options: Kind::Filled;
        /// Path of a POST request.
        post: Kind::Filled;
        /// Path of a PUT request.
        put: Kind::Filled;
        /// Path of a DELETE request.
        delete: Kind::Filled;
        /// Headers of this request, over those of the server.
        headers: Kind::ByName(&Kind::Word, 1), also "header";
        /// A text, sent as it is (`text/plain`, unless a header sets another type), or
        /// a value, sent as JSON.
        body: Kind::Anything, also "json data";
    }
    rule Rule::OneOf(&[&["get"], &["head"], &["options"], &["post"], &["put"], &["delete"]]);
    hints {
        "url path method" => "write the method with the path, as in `get: /health`",
        "expect status" => "put it into the step's `expect`",
    }
}
