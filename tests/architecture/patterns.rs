//! The regular expressions that are compiled when they are first asked, as the sources
//! write them: a bad one would match nothing, and nobody would be told.

use crate::source::SourceFile;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Expr, Lit};

/// What does not compile of those that a file writes out; those that are put together
/// when they are asked are left to its own tests.
pub fn bad_patterns(file: &SourceFile) -> Vec<String> {
    let tree = syn::parse_file(&file.text).unwrap();
    let mut written = Written::default();
    written.visit_file(&tree);
    let mut bad = Vec::new();
    for (of_bytes, pattern) in written.patterns {
        let pattern = match pattern {
            WrittenPattern::Text(text) => text,
            WrittenPattern::Named(name) => match written.texts.get(&name) {
                Some(text) => text.clone(),
                None => {
                    bad.push(format!("{}: {name} is no text of this file", file.path));
                    continue;
                }
            },
        };
        let compiled = match of_bytes {
            true => regex::bytes::RegexBuilder::new(&pattern)
                .unicode(false)
                .build()
                .map(drop),
            false => regex::Regex::new(&pattern).map(drop),
        };
        bad.extend(
            compiled
                .err()
                .map(|error| format!("{}: {error}", file.path)),
        );
    }
    bad
}

#[derive(Default)]
struct Written {
    /// By name.
    texts: BTreeMap<String, String>,
    /// And whether it is one of bytes.
    patterns: Vec<(bool, WrittenPattern)>,
}

enum WrittenPattern {
    Text(String),
    /// A constant.
    Named(String),
}

impl<'ast> Visit<'ast> for Written {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Tests have bad ones on purpose.
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if let Some(text) = text(&item.expr) {
            self.texts.insert(item.ident.to_string(), text);
        }
        visit::visit_item_const(self, item);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(called) = &*call.func
            && let [of, new] = &*called.path.segments.iter().collect::<Vec<_>>()
            && (of.ident == "LazyPattern" || of.ident == "LazyBytePattern")
            && (new.ident == "new" || new.ident == "ascii")
        {
            let pattern = match &call.args[0] {
                Expr::Path(named) => {
                    WrittenPattern::Named(named.path.segments[0].ident.to_string())
                }
                written => WrittenPattern::Text(text(written).unwrap()),
            };
            self.patterns.push((of.ident == "LazyBytePattern", pattern));
        }
        visit::visit_expr_call(self, call);
    }
}

fn text(of: &Expr) -> Option<String> {
    match of {
        Expr::Lit(written) => match &written.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
