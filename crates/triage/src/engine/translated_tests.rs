//! Failures of machines that speak other languages.

use crate::engine::Engine;
use crate::engine::test_failure::diagnose;
use jelly_base::model::{Failure, Side};

#[test]
fn an_error_of_a_system_is_known_in_other_languages() {
    for (type_, text, root_cause) in [
        (
            "java.io.IOException",
            "java.io.IOException: Espace insuffisant sur le disque\n\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)\n\tat fr.mairie.ScanStoreIT.archive(ScanStoreIT.java:33)",
            "resource_exhausted",
        ),
        (
            "",
            "System.Net.Sockets.SocketException : Es konnte keine Verbindung hergestellt werden, da der Zielcomputer die Verbindung verweigerte. [::ffff:127.0.0.1]:5432",
            "connection_refused",
        ),
        (
            "",
            "bash: ligne 1: pdftotext : commande introuvable",
            "missing_module",
        ),
        (
            "OSError",
            "OSError: [Errno 98] Adresse déjà utilisée",
            "port_in_use",
        ),
        ("", "ping: db.shop.test: 未知的名称或服务", "network_dns"),
    ] {
        let of = diagnose(type_, text);
        assert_eq!(
            (of.side, &*of.root_cause),
            (Side::Test, root_cause),
            "{text}"
        );
    }
}

#[test]
fn it_is_quoted_as_it_was_said() {
    let said = "OSError: [Errno 98] Adresse déjà utilisée";
    let of = diagnose("OSError", said);
    assert_eq!(of.evidence.map(|quote| quote.text).as_deref(), Some(said));
    let english = diagnose("OSError", "OSError: [Errno 98] Address already in use");
    assert_eq!(of.fingerprint, english.fingerprint);
}

#[test]
fn what_is_compared_is_compared_in_any_language() {
    let text = "AssertionError: assert 'Zugriff verweigert' == 'Willkommen'";
    let of = diagnose("", text);
    assert_eq!(
        (of.side, &*of.root_cause),
        (Side::Code, "assertion_mismatch")
    );
}

#[test]
fn what_is_quoted_was_said() {
    for text in [
        "AssertionError: assert 'Permission denied' == 'Permiso denegado'",
        "OSError: [Errno 13] Permiso denegado\nOSError: [Errno 13] Keine Berechtigung",
    ] {
        let quote = diagnose("", text).evidence.map(|quote| quote.text);
        assert!(
            text.contains(quote.as_deref().unwrap_or_default()),
            "{quote:?}"
        );
    }
    let print = |said: &str| {
        diagnose(
            "",
            &format!("AssertionError: assert '{said}' == 'Acceso denegado'"),
        )
        .fingerprint
    };
    assert_ne!(print("Accès refusé"), print("Zugriff verweigert"));
}

#[test]
fn a_short_phrase_without_a_system_may_be_a_products() {
    for said in [
        "Adresse déjà utilisée",
        "Keine Berechtigung",
        "登录失败",
        "Host desconocido",
    ] {
        let text = format!(
            "Error: {said}\n    at check (/srv/shop/src/user.js:9:1)\n    at Context.<anonymous> (/srv/shop/test/user.spec.js:3:1)"
        );
        let of = diagnose("", &text);
        assert!(
            !matches!(
                &*of.root_cause,
                "port_in_use" | "permission_denied" | "auth_failed" | "network_dns"
            ),
            "{said}: {}",
            of.rule
        );
    }
}

#[test]
fn a_frame_of_dotnet_is_one_in_any_language() {
    let failure = |line: u32, frame: &str| Failure {
        message: Some("System.InvalidOperationException : closed".into()),
        text: Some(format!(
            "   bei Shop.Till.Close(Int32 n) in C:\\w\\Shop\\Till.cs:{frame}{line}\n   bei Shop.Tests.TillTests.Closes() in C:\\w\\Tests\\TillTests.cs:Zeile 9"
        )),
        dialect: Some("trx".into()),
        ..Failure::default()
    };
    let engine = Engine::builtin();
    let [one, other] = [failure(19, "Zeile "), failure(26, "Zeile ")];
    let one = engine.diagnose(&one);
    assert_eq!(one.fingerprint, engine.diagnose(&other).fingerprint);
    assert_eq!((one.side, &*one.root_cause), (Side::Code, "code_exception"));
}
