//! Published test vectors for the library primitives this crate uses: Ristretto255 (RFC 9496), Ed25519 (RFC 8032),
//! Merlin and SHA-256. A library that computed anything else would change every file and signature.

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::Identity as _;
use ed25519_dalek::{Signer as _, SigningKey, Verifier as _};
use merlin::Transcript;
use sha2::{Digest as _, Sha256, Sha512};

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    assert_eq!(hex.len(), 2 * N);
    std::array::from_fn(|index| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).unwrap())
}

/// RFC 9496, appendix A.1: encodings of 0·B to 15·B.
#[test]
fn ristretto_multiples_of_the_generator() {
    let expected = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
        "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
        "94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259",
        "da80862773358b466ffadfe0b3293ab3d9fd53c5ea6c955358f568322daf6a57",
        "e882b131016b52c1d3337080187cf768423efccbb517bb495ab812c4160ff44e",
        "f64746d3c92b13050ed8d80236a7f0007c3b3f962f5ba793d19a601ebb1df403",
        "44f53520926ec81fbd5a387845beb7df85a96a24ece18738bdcfa6a7822a176d",
        "903293d8f2287ebe10e2374dc1a53e0bc887e592699f02d077d5263cdd55601c",
        "02622ace8f7303a31cafc63f8fc48fdc16e1c8c8d234b2f0d6685282a9076031",
        "20706fd788b2720a1ed2a5dad4952b01f413bcf0e7564de8cdc816689e2db95f",
        "bce83f8ba5dd2fa572864c24ba1810f9522bc6004afe95877ac73241cafdab42",
        "e4549ee16b9aa03099ca208c67adafcafa4c3f3e4e5303de6026e3ca8ff84460",
        "aa52e000df2e16f55fb1032fc33bc42742dad6bd5a8fc0be0167436c5948501f",
        "46376b80f409b29dc2b5f6f0c52591990896e5716f41477cd30085ab7f10301e",
        "e0c418f7c8d9c4cdd7395b93ea124f3ad99021bb681dfc3302a9d99a2e53e64e",
    ];
    let mut point = RistrettoPoint::identity();
    for encoding in expected {
        assert_eq!(point.compress().0, bytes(encoding));
        assert_eq!(CompressedRistretto(bytes(encoding)).decompress(), Some(point));
        point += RISTRETTO_BASEPOINT_POINT;
    }
}

/// RFC 9496, appendix A.2: a field element that is not reduced, a negative one, and one off the curve.
#[test]
fn ristretto_refuses_bad_encodings() {
    for encoding in [
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
    ] {
        assert_eq!(CompressedRistretto(bytes(encoding)).decompress(), None, "{encoding}");
    }
}

/// RFC 9496, appendix A.3: 64 bytes of SHA-512 to a group element.
#[test]
fn ristretto_from_a_hash() {
    let label = "Ristretto is traditionally a short shot of espresso coffee";
    let point = RistrettoPoint::from_uniform_bytes(&Sha512::digest(label).into());
    let expected = "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46";
    assert_eq!(point.compress().0, bytes(expected));
}

/// RFC 8032, section 7.1, tests 1 and 2.
#[test]
fn ed25519_signatures() {
    for (secret, public, message, signature) in [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            &[][..],
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
             d25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            &[0x72][..],
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c\
             387b2eaeb4302aeeb00d291612bb0c00",
        ),
    ] {
        let key = SigningKey::from_bytes(&bytes(secret));
        assert_eq!(key.verifying_key().to_bytes(), bytes(public));
        let signed = key.sign(message);
        assert_eq!(signed.to_bytes(), bytes::<64>(signature));
        key.verifying_key().verify(message, &signed).unwrap();
    }
}

/// The vector from Merlin's first release; ports to other languages test against it.
#[test]
fn merlin_challenge() {
    let mut transcript = Transcript::new(b"test protocol");
    transcript.append_message(b"some label", b"some data");
    let mut challenge = [0; 32];
    transcript.challenge_bytes(b"challenge", &mut challenge);
    let expected = "d5a21972d0d5fe320c0d263fac7fffb8145aa640af6e9bca177c03c7efcf0615";
    assert_eq!(challenge, bytes(expected));
}

/// FIPS 180-4, the one-block example.
#[test]
fn sha256_of_abc() {
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(<[u8; 32]>::from(Sha256::digest(b"abc")), bytes(expected));
}
