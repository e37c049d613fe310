//! The name of a server in a certificate that names it nowhere but in its subject,
//! as certificates for databases often do: libpq takes it there.
//!
//! Main function: [`verify_name`].

use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error};
use webpki::EndEntityCert;

/// Whether the certificate is for this server: by its names, or where it has none by
/// the common name of its subject (RFC 6125, 6.4.4).
///
/// # Errors
/// It is for another.
pub(crate) fn verify_name(
    certificate: &CertificateDer<'_>,
    server: &ServerName<'_>,
) -> Result<(), Error> {
    match verify_server_name(&ParsedCertificate::try_from(certificate)?, server) {
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            presented,
            ..
        })) if presented.is_empty()
            && EndEntityCert::try_from(certificate)
                .is_ok_and(|it| common_name(it.subject()).is_some_and(|it| fits(it, server))) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Whether a common name means this server; `*` stands for one label at the beginning.
fn fits(common: &str, server: &ServerName<'_>) -> bool {
    let ServerName::DnsName(server) = server else {
        return common == server.to_str();
    };
    let server = server.as_ref();
    let below = || {
        let (label, rest) = server.split_once('.')?;
        let wanted = common.strip_prefix("*.")?;
        Some(!label.is_empty() && wanted.contains('.') && wanted.eq_ignore_ascii_case(rest))
    };
    common.eq_ignore_ascii_case(server) || below().unwrap_or_default()
}

const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;
/// 2.5.4.3
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// The first common name of a subject: a sequence of sets of pairs (RFC 5280, 4.1.2.4).
fn common_name(mut subject: &[u8]) -> Option<&str> {
    while !subject.is_empty() {
        let (_, mut set, rest) = element(subject)?;
        subject = rest;
        while !set.is_empty() {
            let (_, pair, rest) = element(set)?;
            set = rest;
            let (kind, identifier, value) = element(pair)?;
            if kind == OBJECT_IDENTIFIER && identifier == COMMON_NAME {
                let (kind, text, _) = element(value)?;
                return [UTF8_STRING, PRINTABLE_STRING, IA5_STRING]
                    .contains(&kind)
                    .then(|| std::str::from_utf8(text).ok())?;
            }
        }
    }
    None
}

/// The first element of DER: its tag, what is in it, and what comes behind it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let [tag, length, rest @ ..] = bytes else {
        return None;
    };
    let (length, rest) = match length {
        short @ 0..=0x7f => (usize::from(*short), rest),
        // No name takes more than two bytes to say its length.
        0x81 => (usize::from(*rest.first()?), rest.get(1..)?),
        0x82 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        _ => return None,
    };
    Some((*tag, rest.get(..length)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::{common_name, fits};
    use rustls::pki_types::ServerName;

    #[test]
    fn a_common_name_means_one_server_or_one_label_below_a_domain() {
        for (common, server, means) in [
            ("db.example.com", "DB.example.com", true),
            ("db.example.com", "a.db.example.com", false),
            ("*.example.com", "db.example.com", true),
            ("*.example.com", "a.db.example.com", false),
            ("*.example.com", "example.com", false),
            ("*.com", "example.com", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("*.0.0.1", "127.0.0.1", false),
            ("", "db", false),
        ] {
            let server = ServerName::try_from(server).unwrap();
            assert_eq!(fits(common, &server), means, "{common} {server:?}");
        }
    }

    #[test]
    fn a_subject_that_is_cut_or_odd_has_no_common_name() {
        let name = b"\x31\x0d\x30\x0b\x06\x03\x55\x04\x03\x0c\x04db.x";
        assert_eq!(common_name(name), Some("db.x"));
        for end in 0..name.len() {
            assert_eq!(common_name(&name[..end]), None, "{end}");
        }
        let country = b"\x31\x0b\x30\x09\x06\x03\x55\x04\x06\x13\x02AQ";
        assert_eq!(common_name(country), None);
        assert_eq!(common_name(&[&country[..], name].concat()), Some("db.x"));
        // Two bytes a character, as nobody writes any more.
        let wide = b"\x31\x0d\x30\x0b\x06\x03\x55\x04\x03\x1e\x04\0d\0b";
        assert_eq!(common_name(wide), None);
    }
}
