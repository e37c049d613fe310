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

#[derive(Debug)]
struct TrustedAsItIs {
    platform: Verifier,
}

/// Whether only this is wrong: it is the certificate of an authority. Its dates were looked at
/// before that.
fn is_of_an_authority(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(CertificateError::Other(other))
            if format!("{other:?}").contains("CaUsedAsEndEntity")
    )
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
            Err(error) if is_of_an_authority(&error) => {
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
