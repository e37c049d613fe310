//! Whether a server's certificate is trusted.
//!
//! Main function: [`tls`]. As the platform says, and one thing more: a certificate that is, byte
//! for byte, one that the user trusts is itself trusted, where its name and its dates hold.
//! Whoever makes a certificate with `openssl req -x509` makes one of an authority, which no
//! server may have by the rules of chains, and clients other than rustls take it.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a client speaks TLS; none where the platform has nothing to trust.
pub(super) fn tls(provider: &Arc<CryptoProvider>) -> Option<ClientConfig> {
    let verifier = TrustedAsItIs {
        platform: Verifier::new(Arc::clone(provider)).ok()?,
    };
    let mut config = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(config)
}

/// What is wrong with the authorities that the environment names, in words: what they signed
/// is not trusted then.
pub(super) fn flaw_of_named_authorities() -> Option<String> {
    // Other systems ask their own store, whatever is named.
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        return None;
    }
    ["SSL_CERT_FILE", "SSL_CERT_DIR"]
        .into_iter()
        .find_map(|name| {
            let named = std::env::var_os(name)?;
            // The one names several folders, as `PATH` does.
            let paths: Vec<PathBuf> = match name {
                "SSL_CERT_DIR" => std::env::split_paths(&named).collect(),
                _ => vec![named.into()],
            };
            let flaws: Option<Vec<String>> = paths.iter().map(|p| flaw_of_authorities(p)).collect();
            let (path, flaw) = (paths.first()?, flaws?.into_iter().next()?);
            Some(format!("{name} names {}, which {flaw}", path.display()))
        })
}

fn flaw_of_authorities(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path);
    let is_folder = found.as_ref().is_ok_and(Metadata::is_dir);
    let opened = found.and_then(|_| match is_folder {
        true => std::fs::read_dir(path).map(drop),
        false => File::open(path).map(drop),
    });
    if let Err(error) = opened {
        return Some(format!("can't be read: {error}"));
    }
    let (file, folder) = match is_folder {
        true => (None, Some(path)),
        false => (Some(path), None),
    };
    let held = rustls_native_certs::load_certs_from_paths(file, folder);
    held.certs
        .is_empty()
        .then(|| "holds no certificate".to_owned())
}

#[derive(Debug)]
struct TrustedAsItIs {
    platform: Verifier,
}

/// Whether only this is wrong: it is the certificate of an authority, or of one that is not
/// known. Its dates were looked at before that.
fn has_no_chain(error: &Error) -> bool {
    match error {
        // Of its own name it is taken for its issuer, and has not signed itself.
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => true,
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            format!("{other:?}").contains("CaUsedAsEndEntity")
        }
        _ => false,
    }
}

impl ServerCertVerifier for TrustedAsItIs {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let judged = self.platform.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match judged {
            Err(error) if has_no_chain(&error) => {
                let trusted = rustls_native_certs::load_native_certs().certs;
                if !trusted
                    .iter()
                    .any(|known| known.as_ref() == end_entity.as_ref())
                {
                    return Err(error);
                }
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.platform.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.platform.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.platform.supported_verify_schemes()
    }
}
