//! The prover's side of steps 1 to 3: a commitment to a permutation, its chain, and the masks of their proof.
//!
//! Constant time in \\(\pi, \rho, \hat\rho, \omega\\). The prover knows the logarithms of every chain link
//! \\(\hat C_i = a_iG + b_iH\\), so all sums but \\(\sum\omega'_iH_i\\) are fixed-base multiplications. Points that are
//! only sent are computed as halves and encoded in one batch.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::MultiscalarMul as _;
use merlin::Transcript;
use rand_core::Rng;
use zeroize::{Zeroize as _, ZeroizeOnDrop, Zeroizing};

use super::generators::Generators;
use super::oblivious::Permutation;
use super::proof::{Points, Responses, column_challenges};
use crate::card::MAX_DECK;
use crate::crypto::elgamal::Ciphertext;
use crate::crypto::group::{Point, Response, random_scalar};
use crate::wire::bounded::TooMany;

/// Secret scalars, wiped when dropped.
pub(super) type Secrets = Zeroizing<Vec<Scalar>>;

/// Draws `count` secret scalars from the nonce stream.
pub(super) fn draw(nonces: &mut impl Rng, count: usize) -> Secrets {
    Zeroizing::new((0..count).map(|_| random_scalar(nonces)).collect())
}

/// \\(sG\\).
pub(super) fn times_g(scalar: &Scalar) -> RistrettoPoint {
    scalar * RISTRETTO_BASEPOINT_TABLE
}

/// \\(\sum s_iH_i\\).
pub(super) fn column_sum(scalars: &[Scalar]) -> RistrettoPoint {
    RistrettoPoint::multiscalar_mul(scalars, Generators::shared().columns.iter().take(scalars.len()))
}

/// \\(\sum x_iy_i\\).
pub(super) fn inner_product<'a>(left: &'a [Scalar], right: &'a [Scalar]) -> Scalar {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// The responses to a challenge: \\(\omega_i + c\,x_i\\).
pub(super) fn respond(omega: &[Scalar], c: &Scalar, secret: &[Scalar]) -> Result<Responses, TooMany> {
    let all: Vec<Response> = omega.iter().zip(secret).map(|(omega, secret)| Response(omega + c * secret)).collect();
    all.try_into()
}

/// Encodes points, given by their halves, in one batch.
pub(super) fn encode_halves(halves: &[RistrettoPoint]) -> Result<Points, TooMany> {
    // Encodes 2P for every half P; decoding our own encodings cannot fail.
    RistrettoPoint::double_and_compress_batch(halves)
        .into_iter()
        .zip(halves)
        .map(|(bytes, half)| Point::from_doubled(half, bytes))
        .collect::<Vec<_>>()
        .try_into()
}

/// \\(\tfrac12(aG + bH)\\).
fn half_pair(a: &Scalar, b: &Scalar) -> RistrettoPoint {
    &a.div_by_2() * RISTRETTO_BASEPOINT_TABLE + &b.div_by_2() * &Generators::shared().h_table
}

/// The prover's secret: the permutation and the re-randomisers.
#[derive(Clone, ZeroizeOnDrop)]
pub(super) struct Witness {
    pub(super) permutation: Permutation,
    pub(super) randomisers: Vec<Scalar>,
}

impl Witness {
    /// Draws a witness for a deck of `size` cards.
    pub(super) fn draw(size: usize, stream: &mut impl Rng) -> Self {
        let permutation = Permutation::random(size, stream);
        let randomisers = (0..size).map(|_| random_scalar(stream)).collect();
        Self { permutation, randomisers }
    }

    /// \\(e'_i = e_{\pi(i)} + (r_iG, r_iX)\\), given those multiples.
    pub(super) fn re_encrypt(
        &self,
        input: &[Ciphertext],
        pads: impl Iterator<Item = (RistrettoPoint, RistrettoPoint)>,
    ) -> Vec<Ciphertext> {
        let gather = |half: fn(&Ciphertext) -> &Point| {
            let points: Vec<RistrettoPoint> = input.iter().map(|card| *half(card).as_point()).collect();
            Zeroizing::new(self.permutation.gather(&points))
        };
        let (a, b) = (gather(|card| &card.a), gather(|card| &card.b));
        let cards = a.iter().zip(b.iter()).zip(pads);
        cards.map(|((a, b), (g, x))| Ciphertext { a: (a + g).into(), b: (b + x).into() }).collect()
    }
}

/// A commitment to a permutation with its chain, and what the prover knows of them.
pub(super) struct Argument {
    pub(super) columns: Points,
    pub(super) chain: Points,
    /// \\(\rho_j\\).
    pub(super) rho: Secrets,
    u: Vec<Scalar>,
    u_permuted: Secrets,
    rho_hat: Secrets,
    /// \\((a_i, b_i)\\) with \\(\hat C_i = a_iG + b_iH\\), from \\(i = 0\\).
    logs: Zeroizing<Vec<(Scalar, Scalar)>>,
}

impl Argument {
    /// Commits to a permutation. The transcript gives the challenges \\(u_j\\), and has then absorbed the commitment.
    //= T6.17
    pub(super) fn new(pi: &Permutation, transcript: &mut Transcript, nonces: &mut impl Rng) -> Result<Self, TooMany> {
        let generators = Generators::shared();
        let size = pi.len();
        // C_π(i) = ρ_π(i) G + H_i, that is C_j = ρ_j G + H_{π⁻¹(j)}.
        let rho = draw(nonces, size);
        let columns = generators.half_columns.get(..size).ok_or(TooMany { got: size, most: MAX_DECK })?;
        let halves = Zeroizing::new(pi.inverse().gather(columns));
        let halves: Vec<RistrettoPoint> = rho
            .iter()
            .zip(halves.iter())
            .map(|(rho, half)| &rho.div_by_2() * RISTRETTO_BASEPOINT_TABLE + half)
            .collect();
        let columns = encode_halves(&halves)?;

        // u'_i = u_π(i); Ĉ_i = ρ̂_i G + u'_i Ĉ_{i−1} = a_i G + b_i H, with a_0 = 0, b_0 = 1.
        let u = column_challenges(transcript, &columns);
        let u_permuted = Zeroizing::new(pi.gather(&u));
        let rho_hat = draw(nonces, size);
        let mut logs = Zeroizing::new(Vec::with_capacity(size + 1));
        logs.push((Scalar::ZERO, Scalar::ONE));
        let mut halves = Vec::with_capacity(size);
        let (mut a, mut b) = (Scalar::ZERO, Scalar::ONE);
        for (rho_hat, u) in rho_hat.iter().zip(u_permuted.iter()) {
            a = rho_hat + u * a;
            b *= u;
            logs.push((a, b));
            halves.push(half_pair(&a, &b));
        }
        a.zeroize();
        b.zeroize();
        let chain = encode_halves(&halves)?;
        Ok(Self { columns, chain, rho, u, u_permuted, rho_hat, logs })
    }

    /// \\(t_1…t_3\\).
    pub(super) fn announcements(&self, masks: &Masks) -> [Point; 3] {
        let [omega_1, omega_2, omega_3] = &*masks.single;
        [times_g(omega_1).into(), times_g(omega_2).into(), (times_g(omega_3) + column_sum(&masks.permuted)).into()]
    }

    /// \\(\hat t_i = \hat\omega_iG + \omega'_i\hat C_{i-1}\\).
    pub(super) fn chain_announcements(&self, masks: &Masks) -> Result<Points, TooMany> {
        let halves: Vec<RistrettoPoint> = masks
            .chain
            .iter()
            .zip(masks.permuted.iter())
            .zip(self.logs.iter())
            .map(|((hat, permuted), (a, b))| half_pair(&(hat + permuted * a), &(permuted * b)))
            .collect();
        encode_halves(&halves)
    }

    /// \\(s_1…s_3\\). Horner's rule gives \\(\hat\rho = \sum\hat\rho_i\prod_{k>i}u'_k\\), which is \\(a_N\\).
    pub(super) fn responses(&self, masks: &Masks, c: &Scalar) -> [Response; 3] {
        let [omega_1, omega_2, omega_3] = &*masks.single;
        let a = self.logs.last().map_or(Scalar::ZERO, |(a, _)| *a);
        let mut secrets = [self.rho.iter().sum(), a, inner_product(&self.rho, &self.u)];
        let [rho_bar, rho_hat, rho_u] = &secrets;
        let responses =
            [Response(omega_1 + c * rho_bar), Response(omega_2 + c * rho_hat), Response(omega_3 + c * rho_u)];
        secrets.zeroize();
        responses
    }

    /// \\(\hat s_i\\) and \\(s'_i\\).
    pub(super) fn list_responses(&self, masks: &Masks, c: &Scalar) -> Result<[Responses; 2], TooMany> {
        Ok([respond(&masks.chain, c, &self.rho_hat)?, respond(&masks.permuted, c, &self.u_permuted)?])
    }

    /// \\(u'_i\\).
    pub(super) fn u_permuted(&self) -> &[Scalar] {
        &self.u_permuted
    }
}

/// The masks \\(\omega_1…\omega_3, \hat\omega_i, \omega'_i\\) of step 3.
pub(super) struct Masks {
    pub(super) single: Zeroizing<[Scalar; 3]>,
    pub(super) chain: Secrets,
    pub(super) permuted: Secrets,
}
