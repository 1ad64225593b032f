//! Encryption: Noise XX with the identities of libp2p (its specification `noise/README.md`).
//!
//! Each message of the handshake and each sealed frame stands behind its length, two bytes, big-endian. Whoever proves a
//! key signs the static Noise key of this connection with it:
//!
//! ```text
//! → e
//! ← e, ee, s, es    key, signature of "noise-libp2p-static-key:" ‖ s
//! → s, se           key, signature
//! ```

use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _, Nonce};
use curve25519_dalek::montgomery::MontgomeryPoint;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use fairdeal_peers::PeerId;
use prost::Message as _;
use rand_core::CryptoRng;
use sha2::{Digest as _, Sha256};
use snow::params::{CipherChoice, DHChoice, HashChoice, NoiseParams};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};
use zeroize::Zeroizing;

use crate::LinkError;
use crate::received::Received;

const PATTERN: &str = "Noise_XX_25519_ChaChaPoly_SHA256";
/// The beginning of what a static key's signature signs.
const DOMAIN: &[u8] = b"noise-libp2p-static-key:";
/// The longest Noise message, in bytes.
const MAX_MESSAGE: usize = 65_535;
/// The bytes that a sealed frame has more than what it carries.
pub(crate) const TAG: usize = 16;
/// The longest content of a frame that is sent, in bytes. Rust's libp2p leaves as much room below its limit.
const MAX_CONTENT: usize = 16 * 1024;

/// The payload of the second and third message.
#[derive(Clone, PartialEq, prost::Message)]
struct Payload {
    #[prost(bytes = "vec", tag = "1")]
    identity_key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    identity_sig: Vec<u8>,
}

/// A handshake that waits for the second message.
pub(crate) struct Handshake {
    state: snow::HandshakeState,
    payload: Vec<u8>,
}

/// An encrypted connection.
pub(crate) struct Sealed(snow::TransportState);

impl Handshake {
    /// Begins a handshake under this key. Returns the first message too, behind its length.
    pub(crate) fn begin(key: &SigningKey, rng: &mut dyn CryptoRng) -> Result<(Self, Vec<u8>), LinkError> {
        let mut secret = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *secret);
        let payload = payload(key, &secret);
        let mut state = builder(PATTERN, drawn(rng))?.local_private_key(&*secret)?.build_initiator()?;
        let first = write(&mut state, &[])?;
        Ok((Self { state, payload }, first))
    }

    /// Takes the second message. Returns the third, behind its length.
    ///
    /// # Errors
    /// [`LinkError`] unless the other end proves this peer's key.
    pub(crate) fn finish(mut self, second: &[u8], expected: PeerId) -> Result<(Sealed, Vec<u8>), LinkError> {
        let payload = read(&mut self.state, second)?;
        let found = proven(&payload, self.state.get_remote_static())?;
        if found != expected {
            return Err(LinkError::WrongPeer { found });
        }
        let third = write(&mut self.state, &self.payload)?;
        Ok((Sealed(self.state.into_transport_mode()?), third))
    }
}

impl Sealed {
    /// Seals bytes as one frame or several, each behind its length.
    pub(crate) fn seal(&mut self, content: &[u8]) -> Result<Vec<u8>, LinkError> {
        let mut sealed = Vec::new();
        for content in content.chunks(MAX_CONTENT) {
            let mut frame = vec![0; content.len() + TAG];
            let length = self.0.write_message(content, &mut frame)?;
            sealed.extend(framed(frame.get(..length).unwrap_or_default()));
        }
        Ok(sealed)
    }

    pub(crate) fn open(&mut self, frame: &[u8]) -> Result<Vec<u8>, LinkError> {
        let mut content = vec![0; frame.len()];
        let length = self.0.read_message(frame, &mut content).map_err(|_| LinkError::Forged)?;
        content.truncate(length);
        Ok(content)
    }
}

/// The next message or frame, if all of it has arrived.
pub(crate) fn next_frame(received: &mut Received) -> Option<Vec<u8>> {
    let length = u16::from_be_bytes(*received.rest().first_chunk()?);
    let frame = received.take(2 + usize::from(length))?;
    frame.get(2..).map(<[u8]>::to_vec)
}

fn framed(message: &[u8]) -> Vec<u8> {
    // No Noise message is longer.
    let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes(), message].concat()
}

/// A handshake of this pattern under the primitives of this workspace; only a pattern with an own `e` draws one.
pub(crate) fn builder<'a>(
    pattern: &str,
    ephemeral: Option<Zeroizing<[u8; 32]>>,
) -> Result<snow::Builder<'a>, snow::Error> {
    let params: NoiseParams = pattern.parse()?;
    Ok(snow::Builder::with_resolver(params, Box::new(Resolver { ephemeral })))
}

/// The secret of an ephemeral key.
pub(crate) fn drawn(rng: &mut dyn CryptoRng) -> Option<Zeroizing<[u8; 32]>> {
    let mut ephemeral = Zeroizing::new([0; 32]);
    rng.fill_bytes(&mut *ephemeral);
    Some(ephemeral)
}

fn write(state: &mut snow::HandshakeState, payload: &[u8]) -> Result<Vec<u8>, LinkError> {
    let mut message = vec![0; MAX_MESSAGE];
    let length = state.write_message(payload, &mut message)?;
    Ok(framed(message.get(..length).unwrap_or_default()))
}

fn read(state: &mut snow::HandshakeState, message: &[u8]) -> Result<Vec<u8>, LinkError> {
    let mut payload = vec![0; message.len()];
    let length = state.read_message(message, &mut payload).map_err(|_| LinkError::Forged)?;
    payload.truncate(length);
    Ok(payload)
}

/// The payload that proves a key.
fn payload(key: &SigningKey, secret: &[u8; 32]) -> Vec<u8> {
    let signed = [DOMAIN, &public(secret)].concat();
    let identity_key = PeerId::of(key).to_protobuf();
    Payload { identity_key, identity_sig: key.sign(&signed).to_bytes().to_vec() }.encode_to_vec()
}

/// The peer whose key a payload proves.
fn proven(payload: &[u8], remote: Option<&[u8]>) -> Result<PeerId, LinkError> {
    let payload = Payload::decode(payload).map_err(|_| LinkError::Forged)?;
    let peer = PeerId::from_protobuf(&payload.identity_key).ok_or(LinkError::Forged)?;
    let verifying = VerifyingKey::from_bytes(&peer.to_bytes()).map_err(|_| LinkError::Forged)?;
    let signature = Signature::from_slice(&payload.identity_sig).map_err(|_| LinkError::Forged)?;
    let signed = [DOMAIN, remote.ok_or(LinkError::Forged)?].concat();
    verifying.verify_strict(&signed, &signature).map_err(|_| LinkError::Forged)?;
    Ok(peer)
}

fn public(secret: &[u8; 32]) -> [u8; 32] {
    MontgomeryPoint::mul_base_clamped(*secret).to_bytes()
}

/// The primitives, and the one ephemeral key that a handshake may draw.
struct Resolver {
    ephemeral: Option<Zeroizing<[u8; 32]>>,
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Drawn(self.ephemeral.clone())))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::<X25519>::default() as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        matches!(choice, HashChoice::SHA256).then(|| Box::<HashSha256>::default() as Box<dyn Hash>)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        matches!(choice, CipherChoice::ChaChaPoly).then(|| Box::<ChaChaPoly>::default() as Box<dyn Cipher>)
    }
}

#[derive(Default)]
struct HashSha256(Sha256);

impl Hash for HashSha256 {
    fn name(&self) -> &'static str {
        "SHA256"
    }

    fn block_len(&self) -> usize {
        64
    }

    fn hash_len(&self) -> usize {
        32
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn input(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn result(&mut self, out: &mut [u8]) {
        let hash = self.0.finalize_reset();
        out.iter_mut().zip(hash).for_each(|(place, byte)| *place = byte);
    }
}

#[derive(Default)]
struct ChaChaPoly(Zeroizing<[u8; 32]>);

impl ChaChaPoly {
    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(&(*self.0).into())
    }
}

/// The nonce of a frame: 32 zero bits, then its number, little-endian (Noise, section 12.3).
fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce.iter_mut().skip(4).zip(number.to_le_bytes()).for_each(|(place, byte)| *place = byte);
    nonce.into()
}

impl Cipher for ChaChaPoly {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; 32]) {
        self.0 = Zeroizing::new(*key);
    }

    fn encrypt(&self, number: u64, authtext: &[u8], plaintext: &[u8], out: &mut [u8]) -> usize {
        let Some((content, tag)) = out.split_at_mut_checked(plaintext.len()) else { return 0 };
        content.copy_from_slice(plaintext);
        // A frame has at most 64 KiB: it is no longer than the cipher can seal.
        let sealed = self.cipher().encrypt_inout_detached(&nonce(number), authtext, content.into());
        let (Ok(sealed), Some(tag)) = (sealed, tag.first_chunk_mut::<TAG>()) else { return 0 };
        *tag = sealed.into();
        plaintext.len() + TAG
    }

    fn decrypt(&self, number: u64, authtext: &[u8], sealed: &[u8], out: &mut [u8]) -> Result<usize, snow::Error> {
        let (content, tag) = sealed.split_last_chunk::<TAG>().ok_or(snow::Error::Decrypt)?;
        let out = out.get_mut(..content.len()).ok_or(snow::Error::Decrypt)?;
        out.copy_from_slice(content);
        let opened = self.cipher().decrypt_inout_detached(&nonce(number), authtext, out.into(), &(*tag).into());
        opened.map_err(|_| snow::Error::Decrypt)?;
        Ok(content.len())
    }
}

/// The bytes of one key.
struct Drawn(Option<Zeroizing<[u8; 32]>>);

impl Random for Drawn {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), snow::Error> {
        // Bytes that were used once are never used again.
        let drawn = self.0.take().ok_or(snow::Error::Rng)?;
        if bytes.len() != drawn.len() {
            return Err(snow::Error::Rng);
        }
        bytes.copy_from_slice(&*drawn);
        Ok(())
    }
}

#[derive(Default)]
struct X25519 {
    secret: Zeroizing<[u8; 32]>,
    public: [u8; 32],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        32
    }

    fn priv_len(&self) -> usize {
        32
    }

    fn set(&mut self, secret: &[u8]) {
        if let Ok(secret) = secret.try_into() {
            self.secret = Zeroizing::new(secret);
            self.public = public(&self.secret);
        }
    }

    fn generate(&mut self, rng: &mut dyn Random) -> Result<(), snow::Error> {
        rng.try_fill_bytes(&mut *self.secret)?;
        self.public = public(&self.secret);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &*self.secret
    }

    fn dh(&self, other: &[u8], shared: &mut [u8]) -> Result<(), snow::Error> {
        let other = other.first_chunk::<32>().ok_or(snow::Error::Dh)?;
        let result = Zeroizing::new(MontgomeryPoint(*other).mul_clamped(*self.secret).to_bytes());
        shared.first_chunk_mut::<32>().ok_or(snow::Error::Dh)?.copy_from_slice(&*result);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod answering {
    //! The other end of a handshake, for tests.

    use super::*;

    /// A handshake that waits for the first message, and then for the third.
    pub(crate) struct Answering {
        state: snow::HandshakeState,
        payload: Vec<u8>,
    }

    impl Answering {
        pub(crate) fn begin(key: &SigningKey, rng: &mut dyn CryptoRng) -> Self {
            let mut secret = [0; 32];
            rng.fill_bytes(&mut secret);
            let state =
                builder(PATTERN, drawn(rng)).unwrap().local_private_key(&secret).unwrap().build_responder().unwrap();
            Self { state, payload: payload(key, &secret) }
        }

        pub(crate) fn answer(&mut self, first: &[u8]) -> Vec<u8> {
            assert!(read(&mut self.state, first).unwrap().is_empty());
            write(&mut self.state, &self.payload).unwrap()
        }

        pub(crate) fn finish(mut self, third: &[u8]) -> (PeerId, Sealed) {
            let payload = read(&mut self.state, third).unwrap();
            let peer = proven(&payload, self.state.get_remote_static()).unwrap();
            (peer, Sealed(self.state.into_transport_mode().unwrap()))
        }
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;
    use fairdeal_peers::testing::{key, peer};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::answering::Answering;
    use super::*;

    /// The content of a message behind its length.
    fn content(framed: &[u8]) -> Vec<u8> {
        let mut received = Received::default();
        received.push(framed);
        let content = next_frame(&mut received).unwrap();
        assert_eq!(received.rest(), []);
        content
    }

    /// Both ends, and the three messages.
    fn agreed() -> ((Sealed, Sealed), [Vec<u8>; 3]) {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let (dialling, first) = Handshake::begin(&key(1), &mut rng).unwrap();
        let mut answering = Answering::begin(&key(2), &mut rng);
        let second = answering.answer(&content(&first));
        let (ours, third) = dialling.finish(&content(&second), peer(2)).unwrap();
        let (found, theirs) = answering.finish(&content(&third));
        assert_eq!(found, peer(1));
        ((ours, theirs), [first, second, third])
    }

    #[test]
    fn both_ends_prove_their_keys_and_understand_each_other() {
        let ((mut ours, mut theirs), _) = agreed();
        let long: Vec<u8> = (0..40_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        for content in [&b"hello"[..], &long] {
            let mut received = Received::default();
            received.push(&ours.seal(content).unwrap());
            let mut opened = Vec::new();
            while let Some(frame) = next_frame(&mut received) {
                opened.extend(theirs.open(&frame).unwrap());
            }
            assert_eq!(opened, content);
        }
        let back = theirs.seal(b"good day").unwrap();
        assert_eq!(ours.open(&content(&back)).unwrap(), b"good day");
    }

    #[test]
    fn messages_have_these_bytes() {
        let (_, messages) = agreed();
        let texts: Vec<String> = messages.iter().map(|message| HEXLOWER.encode(message)).collect();
        let golden = include_str!("golden/handshake.txt");
        assert_eq!(texts.join("\n"), golden.trim_end());
    }

    #[test]
    fn nobody_else_answers() {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let (dialling, first) = Handshake::begin(&key(1), &mut rng).unwrap();
        let second = Answering::begin(&key(3), &mut rng).answer(&content(&first));
        let refused = dialling.finish(&content(&second), peer(2)).err();
        assert_eq!(refused, Some(LinkError::WrongPeer { found: peer(3) }));
        for place in 0..content(&second).len() {
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            let (dialling, _) = Handshake::begin(&key(1), &mut rng).unwrap();
            let mut changed = content(&second);
            changed[place] ^= 1;
            assert_eq!(dialling.finish(&changed, peer(3)).err(), Some(LinkError::Forged), "byte {place}");
        }
    }

    #[test]
    fn changed_frame_is_forged() {
        let ((mut ours, mut theirs), _) = agreed();
        let mut frame = content(&ours.seal(b"hello").unwrap());
        frame[0] ^= 1;
        assert_eq!(theirs.open(&frame).err(), Some(LinkError::Forged));
        assert_eq!(theirs.open(&[]).err(), Some(LinkError::Forged));
    }
}
