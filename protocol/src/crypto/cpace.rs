//! CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21, byte for byte.
//!
//! Function names follow the draft. The group is Ristretto255 (RFC 9496), the hash is SHA-512, and the roles are
//! initiator and responder (`transcript_ir`). Key confirmation follows section 10.4 of the draft, with HMAC-SHA512 as
//! the MAC. [`super::pake`] chooses the inputs.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand_core::CryptoRng;
use sha2::{Digest as _, Sha512};
use zeroize::Zeroizing;

use super::group::{Point, random_scalar};

/// `G.DSI`.
const DSI: &[u8] = b"CPaceRistretto255";
/// `G.DSI_ISK`.
const DSI_ISK: &[u8] = b"CPaceRistretto255_ISK";
/// `H.s_in_bytes`: the input block of SHA-512.
const S_IN_BYTES: usize = 128;

/// 64 secret bytes, zeroized when dropped.
pub(super) type Secret = Zeroizing<[u8; 64]>;

/// One side's message: its point, and associated data that the run authenticates.
#[derive(Clone, Copy)]
pub(super) struct Share<'a> {
    pub(super) point: &'a Point,
    pub(super) data: &'a [u8],
}

/// Length of `prepend_len(data)`: the LEB128 length prefix (seven bits per byte) plus the data.
fn prepended_len(data: &[u8]) -> usize {
    let bits = usize::BITS - data.len().leading_zeros();
    data.len() + usize::try_from(bits.div_ceil(7).max(1)).unwrap_or(usize::MAX)
}

/// Concatenates the parts, each prefixed with its length in LEB128.
pub(super) fn lv_cat(parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    // Allocate the full length once: a growing buffer would leave copies of a password behind.
    let total = parts.iter().map(|part| prepended_len(part)).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(total));
    for part in parts {
        let mut length = part.len();
        loop {
            let low = u8::try_from(length & 0x7f).unwrap_or_default();
            length >>= 7;
            if length == 0 {
                out.push(low);
                break;
            }
            out.push(low | 0x80);
        }
        out.extend_from_slice(part);
    }
    debug_assert_eq!(out.len(), total);
    out
}

/// The input of the generator hash. Zeros fill the first block, so that hashing reveals nothing about the password's
/// length.
fn generator_string(prs: &[u8], ci: &[u8], sid: &[u8]) -> Zeroizing<Vec<u8>> {
    let used = 1 + prepended_len(prs) + prepended_len(DSI);
    let padding = vec![0; S_IN_BYTES.saturating_sub(used)];
    lv_cat(&[DSI, prs, &padding, ci, sid])
}

fn sha512(parts: &[&[u8]]) -> Secret {
    let mut hash = Sha512::new();
    for part in parts {
        hash.update(part);
    }
    let mut out = Secret::new([0; 64]);
    hash.finalize_into((&mut *out).into());
    out
}

/// The generator \\(g\\), from the password `prs`, the channel identifier `ci` and the session id `sid`. Anyone who
/// holds it can test any number of passwords, so it is zeroized like the password.
pub(super) fn calculate_generator(prs: &[u8], ci: &[u8], sid: &[u8]) -> Zeroizing<RistrettoPoint> {
    let hash = sha512(&[&generator_string(prs, ci, sid)]);
    Zeroizing::new(RistrettoPoint::from_uniform_bytes(&hash))
}

/// A uniform scalar from 1 to the group order minus 1.
pub(super) fn sample_scalar(mut rng: &mut dyn CryptoRng) -> Zeroizing<Scalar> {
    loop {
        let scalar = Zeroizing::new(random_scalar(&mut rng));
        if *scalar != Scalar::ZERO {
            return scalar;
        }
    }
}

/// \\(yg\\).
pub(super) fn scalar_mult(y: &Scalar, g: &RistrettoPoint) -> Point {
    Point::from(g * y)
}

/// The encoding of \\(K = yX\\); `None` where the draft returns `G.I`, which aborts the run. Invalid encodings never
/// get here, because they do not decode to a [`Point`].
pub(super) fn scalar_mult_vfy(y: &Scalar, x: &Point) -> Option<Zeroizing<[u8; 32]>> {
    let product = Zeroizing::new(x.as_point() * y);
    let k = Zeroizing::new(product.compress().to_bytes());
    (*k != *Point::identity().as_bytes()).then_some(k)
}

/// The transcript of initiator A and responder B.
pub(super) fn transcript_ir(a: Share<'_>, b: Share<'_>) -> Zeroizing<Vec<u8>> {
    lv_cat(&[a.point.as_bytes(), a.data, b.point.as_bytes(), b.data])
}

/// The intermediate session key. Both sides derive the same key exactly if they agree on password, channel, session id
/// and transcript.
pub(super) fn isk(sid: &[u8], k: &[u8; 32], transcript: &[u8]) -> Secret {
    sha512(&[&lv_cat(&[DSI_ISK, sid, k]), transcript])
}

/// The key of the confirmation tags.
pub(super) fn mac_key(sid: &[u8], isk: &Secret) -> Secret {
    sha512(&[b"CPaceMac", sid, &**isk])
}

/// Key confirmation: the MAC over the side's own message, which proves that it has the key.
pub(super) fn tag(mac_key: &Secret, sent: Share<'_>) -> Secret {
    // HMAC pads a key shorter than a block with zeros.
    let mut key = Zeroizing::new([0; S_IN_BYTES]);
    key.iter_mut().zip(mac_key.iter()).for_each(|(to, from)| *to = *from);
    let mut mac = Hmac::<Sha512>::new((&*key).into());
    mac.update(&lv_cat(&[sent.point.as_bytes(), sent.data]));
    Zeroizing::new(mac.finalize().into_bytes().into())
}

/// The vectors of the draft's appendices A.1, A.3 and B.3.
#[cfg(test)]
mod tests {
    use super::*;

    const PRS: &[u8] = b"Password";
    const CI: &str = "0b415f696e69746961746f720b425f726573706f6e646572";
    const SID: &str = "7e4b4791d6a8ef019b936c79fb7f2c57";
    const YA: &str = "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08";
    const YB: &str = "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d";
    const POINT_A: &str = "d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157";
    const POINT_B: &str = "3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258";
    const K: &str = "80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f";
    /// The scalar of B.3.10 and B.3.11.
    const S: &str = "7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05";

    fn bytes(hex: &str) -> Vec<u8> {
        assert_eq!(hex.len() % 2, 0);
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    fn array(hex: &str) -> [u8; 32] {
        bytes(hex).try_into().unwrap()
    }

    fn point(hex: &str) -> Point {
        Point::from_bytes(array(hex)).unwrap()
    }

    fn scalar(hex: &str) -> Scalar {
        Scalar::from_canonical_bytes(array(hex)).unwrap()
    }

    fn share<'a>(point: &'a Point, data: &'a [u8]) -> Share<'a> {
        Share { point, data }
    }

    /// The draft's `o_cat`, for runs without roles.
    fn o_cat(one: &[u8], other: &[u8]) -> Vec<u8> {
        let (high, low) = if one > other { (one, other) } else { (other, one) };
        [b"oc", high, low].concat()
    }

    #[test]
    fn prepend_len_vectors() {
        assert_eq!(**lv_cat(&[b""]), bytes("00"));
        assert_eq!(**lv_cat(&[b"1234"]), bytes("0431323334"));
        let range: Vec<u8> = (0..128).collect();
        let expected = "7f000102030405060708090a0b0c0d0e0f101112131415161718191a1b\
                        1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738\
                        393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455\
                        565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172\
                        737475767778797a7b7c7d7e";
        assert_eq!(**lv_cat(&[&range[..127]]), bytes(expected));
        let expected = "8001000102030405060708090a0b0c0d0e0f101112131415161718191a\
                        1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637\
                        38393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f5051525354\
                        55565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f7071\
                        72737475767778797a7b7c7d7e7f";
        assert_eq!(**lv_cat(&[&range]), bytes(expected));
    }

    #[test]
    fn lv_cat_vector() {
        assert_eq!(**lv_cat(&[b"1234", b"5", b"", b"678"]), bytes("043132333401350003363738"));
    }

    #[test]
    fn transcript_vectors() {
        assert_eq!(
            **lv_cat(&[b"123", b"PartyA", b"234", b"PartyB"]),
            bytes("03313233065061727479410332333406506172747942")
        );
        assert_eq!(
            **lv_cat(&[b"3456", b"PartyA", b"2345", b"PartyB"]),
            bytes("043334353606506172747941043233343506506172747942")
        );
    }

    #[test]
    fn ordered_concatenation_vectors() {
        assert_eq!(o_cat(b"ABCD", b"BCD"), bytes("6f6342434441424344"));
        assert_eq!(o_cat(b"BCD", b"ABCDE"), bytes("6f634243444142434445"));
        let oc = |a: &[u8], b: &[u8]| o_cat(&lv_cat(&[a, b"PartyA"]), &lv_cat(&[b, b"PartyB"]));
        assert_eq!(oc(b"123", b"234"), bytes("6f6303323334065061727479420331323306506172747941"));
        assert_eq!(oc(b"3456", b"2345"), bytes("6f63043334353606506172747941043233343506506172747942"));
    }

    #[test]
    fn generator_vectors() {
        let string = generator_string(PRS, &bytes(CI), &bytes(SID));
        let expected = "11435061636552697374726574746f3235350850617373776f726464\
                        00000000000000000000000000000000000000000000000000000000\
                        00000000000000000000000000000000000000000000000000000000\
                        00000000000000000000000000000000000000000000000000000000\
                        00000000000000000000000000000000180b415f696e69746961746f\
                        720b425f726573706f6e646572107e4b4791d6a8ef019b936c79fb7f\
                        2c57";
        assert_eq!(**string, bytes(expected));
        let expected = "da6d3ddc8802fca9058755ffd3ebde08a9c2c74945901a258482a288\
                        b6663af06bf645c93cd1c51512307199c80e84908916d983b34af772\
                        05f90851a657ee27";
        assert_eq!(sha512(&[&string]).as_slice(), bytes(expected));
        let generator = calculate_generator(PRS, &bytes(CI), &bytes(SID));
        assert_eq!(
            generator.compress().to_bytes(),
            array("222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56")
        );
    }

    /// The padding hides the length of passwords up to 108 bytes; longer passwords get no padding.
    #[test]
    fn padding_fills_the_first_block() {
        for size in [0, 8, 108] {
            let string = generator_string(&vec![b'p'; size], b"ci", b"");
            assert_eq!(string.len(), S_IN_BYTES + 4, "{size}");
            assert_eq!(string[S_IN_BYTES..], *b"\x02ci\x00");
        }
        let string = generator_string(&[b'p'; 128], b"ci", b"");
        assert_eq!(string[18..20], [0x80, 1]);
        assert_eq!(string[148..], *b"\x00\x02ci\x00");
    }

    #[test]
    fn message_vectors() {
        let generator = calculate_generator(PRS, &bytes(CI), &bytes(SID));
        assert_eq!(scalar_mult(&scalar(YA), &generator), point(POINT_A));
        assert_eq!(scalar_mult(&scalar(YB), &generator), point(POINT_B));
    }

    #[test]
    fn secret_point_vectors() {
        let of_a = scalar_mult_vfy(&scalar(YA), &point(POINT_B)).unwrap();
        let of_b = scalar_mult_vfy(&scalar(YB), &point(POINT_A)).unwrap();
        assert_eq!((*of_a, *of_b), (array(K), array(K)));
    }

    #[test]
    fn session_key_vectors() {
        let (a, b) = (point(POINT_A), point(POINT_B));
        let transcript = transcript_ir(share(&a, b"ADa"), share(&b, b"ADb"));
        let expected = "20d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0e\
                        ec482b915703414461203ea7e0b19560d7c0b0f5734f63b955286dfa\
                        8232b5ebe63324e2d9e7433f725803414462";
        assert_eq!(**transcript, bytes(expected));
        let expected = "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dc\
                        ae7b35cd2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c\
                        3fa2068af7900447";
        let key = isk(&bytes(SID), &array(K), &transcript);
        assert_eq!(key.as_slice(), bytes(expected));

        // Without roles, the key differs only in its transcript.
        let transcript = o_cat(&lv_cat(&[a.as_bytes(), b"ADa"]), &lv_cat(&[b.as_bytes(), b"ADb"]));
        let expected = "544199d71f62f8d9a1fee55727e24fe4a45844593c2b6013c4fa3969\
                        d0e5debb2244675c0b43397cbb68d342b01fc0f98fc961469a25134d\
                        e9f0f813c1a57476";
        let key = isk(&bytes(SID), &array(K), &transcript);
        assert_eq!(key.as_slice(), bytes(expected));
    }

    #[test]
    fn valid_point_vector() {
        let x = point("2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c");
        let product = "7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e";
        assert_eq!(scalar_mult(&scalar(S), x.as_point()), point(product));
        assert_eq!(*scalar_mult_vfy(&scalar(S), &x).unwrap(), *point(product).as_bytes());
    }

    #[test]
    fn invalid_point_vectors() {
        let no_point = "2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c";
        assert!(Point::from_bytes(array(no_point)).is_none());
        let identity = "0000000000000000000000000000000000000000000000000000000000000000";
        assert!(scalar_mult_vfy(&scalar(S), &point(identity)).is_none());
    }

    /// The draft has no vectors for tags. This checks HMAC against RFC 4231, test case 1, and the tag against section
    /// 10.4 written out.
    #[test]
    fn tags_are_hmacs_of_the_sent_message() {
        let hmac = |key: &[u8], message: &[u8]| -> Vec<u8> {
            let mut mac = Hmac::<Sha512>::new_from_slice(key).unwrap();
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        };
        let expected = "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde\
                        daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854";
        assert_eq!(hmac(&[0x0b; 20], b"Hi There"), bytes(expected));

        let key = Secret::new([7; 64]);
        let derived: [u8; 64] = Sha512::digest([&b"CPaceMac"[..], &bytes(SID), &[7; 64]].concat()).into();
        assert_eq!(*mac_key(&bytes(SID), &key), derived);
        let a = point(POINT_A);
        let message = [&[32], &a.as_bytes()[..], b"\x03ADa"].concat();
        assert_eq!(tag(&key, share(&a, b"ADa")).as_slice(), hmac(&[7; 64], &message));
    }
}
