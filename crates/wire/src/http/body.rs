//! The bytes of an answer as they come, unpacked where they are packed, and
//! what they are by their type.
//!
//! Main type: [`HttpBody`]. jelly asks for bodies that are not packed; a server or
//! a proxy may pack them all the same. What gzip and deflate make of a few
//! bytes is bounded, and handed out piece by piece, so that whoever reads stops
//! a bomb at its own limit.

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use std::io::{self, Write};

/// So much is unpacked at a time. It becomes at most about a thousand times as
/// much.
const PIECE: usize = 512;

/// An answer's body.
pub(super) struct HttpBody {
    response: Response,
    decoder: Option<Decoder>,
    /// What came last, and up to where it is unpacked.
    came: Vec<u8>,
    at: usize,
    /// Any byte came.
    has_begun: bool,
}

/// Why no more of a body comes.
#[derive(Debug)]
pub(super) enum BodyError {
    Lost(reqwest::Error),
    /// It is not what its `Content-Encoding` says.
    Packed(String),
}

impl HttpBody {
    /// # Errors
    /// How it is packed, where jelly can't unpack that.
    pub(super) fn of(response: Response) -> Result<Self, String> {
        let decoder = match packing(response.headers()) {
            None => None,
            Some(coding) => Some(Decoder::of(&coding).ok_or(coding)?),
        };
        Ok(Self {
            response,
            decoder,
            came: Vec::new(),
            at: 0,
            has_begun: false,
        })
    }

    /// The next bytes; none at the end. Cancel-safe.
    ///
    /// # Errors
    /// The connection was lost, or what came can't be unpacked.
    pub(super) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, BodyError> {
        loop {
            if self.at >= self.came.len() {
                match self.response.chunk().await.map_err(BodyError::Lost)? {
                    Some(chunk) => self.came = chunk.to_vec(),
                    None => return Ok(None),
                }
                self.has_begun |= !self.came.is_empty();
                self.at = 0;
            }
            let Some(decoder) = &mut self.decoder else {
                return Ok(Some(std::mem::take(&mut self.came)));
            };
            let end = self.came.len().min(self.at + PIECE);
            let unpacked = decoder
                .unpack(&self.came[self.at..end])
                .map_err(|error| BodyError::Packed(error.to_string()))?;
            self.at = end;
            if !unpacked.is_empty() {
                return Ok(Some(unpacked));
            }
        }
    }

    /// Adds what comes to `bytes` for as long as these are to be read on; true at
    /// the end of the body, which has to be the end of what is packed in it, too: of a
    /// few bytes that are no such thing nothing would come, as of no body at all.
    /// Cancel-safe.
    ///
    /// # Errors
    /// As of [`Self::chunk`].
    pub(super) async fn read_while(
        &mut self,
        bytes: &mut Vec<u8>,
        goes_on: impl Fn(&[u8]) -> bool,
    ) -> Result<bool, BodyError> {
        while goes_on(bytes) {
            match self.chunk().await? {
                Some(chunk) => bytes.extend_from_slice(&chunk),
                None => return self.ended().map(|()| true),
            }
        }
        Ok(false)
    }

    fn ended(&mut self) -> Result<(), BodyError> {
        match &mut self.decoder {
            Some(decoder) if self.has_begun => decoder
                .finish()
                .map_err(|error| BodyError::Packed(error.to_string())),
            Some(_) | None => Ok(()),
        }
    }
}

/// How a body is packed, if it is.
fn packing(headers: &HeaderMap) -> Option<String> {
    // Two headers are as one with a comma (RFC 9110, section 5.3).
    let codings: Vec<_> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|coding| String::from_utf8_lossy(coding.as_bytes()))
        .collect();
    let coding = codings.join(", ");
    let coding = jelly_base::text::truncate(coding.trim(), 50).to_ascii_lowercase();
    let plain = coding.is_empty() || coding == "identity";
    (!plain).then_some(coding)
}

/// Whether it may be a message, or the begin of one.
pub(super) fn begins_like_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}

/// What a body is, by its type.
pub(super) enum BodyKind {
    Json,
    Events,
    /// As it may be quoted.
    Other(String),
}

pub(super) fn kind_of_body(headers: &HeaderMap) -> BodyKind {
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return BodyKind::Other("an unnamed type".to_owned());
    };
    let kind = String::from_utf8_lossy(kind.as_bytes()).into_owned();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "application/json" => BodyKind::Json,
        "text/event-stream" => BodyKind::Events,
        other => BodyKind::Other(jelly_base::text::truncate(other, 100).into_owned()),
    }
}

enum Decoder {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// In the wrapping that the standard asks for, or without it, as some send
    /// it: the first byte tells.
    Deflate,
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Raw(Box<DeflateDecoder<Vec<u8>>>),
}

impl Decoder {
    fn of(coding: &str) -> Option<Self> {
        match coding {
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            "deflate" => Some(Self::Deflate),
            _ => None,
        }
    }

    fn unpack(&mut self, piece: &[u8]) -> io::Result<Vec<u8>> {
        if let (Self::Deflate, Some(first)) = (&self, piece.first()) {
            // The method of zlib's header; no raw block begins so.
            *self = if first & 0x0F == 8 {
                Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Self::Raw(Box::new(DeflateDecoder::new(Vec::new())))
            };
        }
        // Each is flushed, since an event is wanted when it is whole and not
        // when the stream is.
        match self {
            Self::Deflate => Ok(Vec::new()),
            Self::Gzip(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Raw(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }

    /// # Errors
    /// What came is no whole packing.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Deflate => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Raw(decoder) => decoder.try_finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, PIECE, packing};
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use reqwest::header::{HeaderMap, HeaderValue};
    use std::io::Write;

    fn packed(coding: &str, bytes: &[u8]) -> Vec<u8> {
        match coding {
            "gzip" | "x-gzip" => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            "deflate" => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            _ => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    /// What comes out, and the most that came at a time.
    fn unpacked(coding: &str, bytes: &[u8], piece: usize) -> (Vec<u8>, usize) {
        let mut decoder = Decoder::of(coding).unwrap();
        let (mut all, mut most) = (Vec::new(), 0);
        for piece in bytes.chunks(piece) {
            let out = decoder.unpack(piece).unwrap();
            most = most.max(out.len());
            all.extend(out);
        }
        (all, most)
    }

    #[test]
    fn what_is_packed_comes_out_however_it_was_cut() {
        let text = "data: {\"jsonrpc\": \"2.0\"}\n\n".repeat(1000);
        for (coding, as_sent) in [
            ("gzip", "gzip"),
            ("gzip", "x-gzip"),
            ("deflate", "deflate"),
            ("raw", "deflate"),
        ] {
            let bytes = packed(coding, text.as_bytes());
            for piece in [1, 7, PIECE] {
                assert_eq!(unpacked(as_sent, &bytes, piece).0, text.as_bytes());
            }
        }
    }

    #[test]
    fn a_bomb_goes_off_in_small_pieces() {
        let bomb = packed("gzip", &vec![0; 50 << 20]);
        let (all, most) = unpacked("gzip", &bomb, PIECE);
        assert_eq!(all.len(), 50 << 20);
        assert!(most < 1 << 20, "{most}");
    }

    #[test]
    fn what_ends_before_it_is_whole_is_an_error_however_little_came() {
        let answer = b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}".repeat(20);
        for coding in ["gzip", "deflate", "raw"] {
            let bytes = packed(coding, &answer);
            let named = if coding == "raw" { "deflate" } else { coding };
            let finished = |bytes: &[u8]| {
                let mut decoder = Decoder::of(named).unwrap();
                let came = decoder.unpack(bytes)?;
                decoder.finish().map(|()| came.len())
            };
            assert_eq!(finished(&bytes).unwrap(), answer.len(), "{coding}");
            for len in [1, 3, bytes.len() / 2, bytes.len() - 1] {
                assert!(finished(&bytes[..len]).is_err(), "{len} bytes of {coding}");
            }
        }
        let mut decoder = Decoder::of("gzip").unwrap();
        let came = decoder.unpack(b"\x1f\x8b\x08\0garbage");
        assert!(came.is_err() || decoder.finish().is_err());
    }

    #[test]
    fn what_is_not_packed_as_it_says_is_an_error() {
        assert!(
            Decoder::of("gzip")
                .unwrap()
                .unpack(b"{\"jsonrpc\": 1}")
                .is_err()
        );
        assert!(Decoder::of("br").is_none());
    }

    #[test]
    fn identity_and_nothing_are_no_packing() {
        let of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("content-encoding", HeaderValue::from_static(value));
            packing(&headers)
        };
        assert_eq!(packing(&HeaderMap::new()), None);
        assert_eq!(of("Identity"), None);
        assert_eq!(of(""), None);
        assert_eq!(of("GZIP").as_deref(), Some("gzip"));
        let mut twice = HeaderMap::new();
        twice.append("content-encoding", HeaderValue::from_static("gzip"));
        twice.append("content-encoding", HeaderValue::from_static("br"));
        assert_eq!(packing(&twice).as_deref(), Some("gzip, br"));
    }
}
