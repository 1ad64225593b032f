//! Verifiable shuffles: sealed decks and the proof that an output deck is only a shuffle of its input.
//!
//! # Statement
//! Public: joint key \\(X\\), input deck \\(e_1…e_N\\), output deck \\(e'_1…e'_N\\), each \\(e = (A, B)\\). The prover
//! knows a permutation \\(\pi\\) and \\(r_i\\) with \\(e'_i = e_{\pi(i)} + r_i(G, X)\\).
//!
//! # Protocol
//! Two proofs over Merlin, after Terelius and Wikström (AFRICACRYPT 2010) and Wikström ("A Commitment-Consistent Proof
//! of a Shuffle", ACISP 2009), in the form of Haenni, Locher, Koenig and Dubuis ("Pseudo-Code Algorithms for Verifiable
//! Re-Encryption Mix-Nets", 2017). \\(H, H_1…H_N\\) are independent generators.
//!
//! *The permutation proof* ([`PermutationProof`]) is about a commitment alone. It needs neither deck nor key, so it is
//! made before the deck arrives ([`Preparation`]).
//! 1. Commitment to \\(\pi\\): \\(C_{\pi(i)} = \rho_{\pi(i)}G + H_i\\).
//! 2. Challenges \\(u_j\\) after \\(C\\); \\(u'_i = u_{\pi(i)}\\); chain \\(\hat C_0 = H,\;
//!    \hat C_i = \hat\rho_iG + u'_i\hat C_{i-1}\\).
//! 3. One sigma protocol, with announcements \\(t_1…t_3, \hat t_i\\) and challenge \\(c\\), for
//!    - \\(\sum C_j - \sum H_i = \bar\rho G\\), \\(\bar\rho = \sum\rho_j\\)
//!    - \\(\hat C_N - (\prod u_j)H = \hat\rho G\\), \\(\hat\rho = \sum\hat\rho_i\prod_{k>i}u'_k\\)
//!    - \\(\sum u_jC_j - \sum u'_iH_i = \rho_uG\\), \\(\rho_u = \sum\rho_ju_j\\)
//!    - \\(\hat C_i - u'_i\hat C_{i-1} = \hat\rho_iG\\).
//!
//! *The consistency proof* ([`ConsistencyProof`]) says that the output is the input, permuted as committed.
//! 4. Challenges \\(v_j\\) after \\(X\\), both decks and \\(C\\); \\(v'_i = v_{\pi(i)}\\).
//! 5. One sigma protocol, with announcements \\(a_1…a_3\\) and challenge \\(d\\), for
//!    - \\(\sum v_jC_j - \sum v'_iH_i = \rho_vG\\), \\(\rho_v = \sum\rho_jv_j\\)
//!    - \\(\sum v'_iA'_i - \sum v_jA_j = rG\\), \\(\sum v'_iB'_i - \sum v_jB_j = rX\\), \\(r = \sum r_iv'_i\\).
//!
//! Sent with the output deck: \\(192N + 352\\) bytes. The proofs send announcements rather than challenges, so that one
//! multiscalar multiplication can verify any number of them ([`verify`]).
//!
//! # Whole proofs
//! Tables of [`Protocol::One`](crate::game::Protocol::One) have one proof ([`WholeProof`]) in place of the two: its
//! \\(u_j\\) come after \\(X\\), both decks and \\(C\\), and its one sigma protocol holds the equations of 3 and the last
//! two of 5, with \\(v = u\\). It has \\(160N + 288\\) bytes, and nothing of it can be made before the deck arrives.
//!
//! Input, key and output come from the log, never from the proof. The proof does not show that the shuffler kept its
//! permutation secret: one honest shuffler is enough. `docs/security.md` has the arguments.

mod argument;
mod generators;
mod oblivious;
mod prepare;
mod proof;
mod reproduce;
mod verify;
mod whole;

pub use generators::Generators;
pub use prepare::{Preparation, shuffle};
pub use proof::{
    Attempt, ConsistencyProof, Deck, PermutationProof, Points, Responses, ShufflePlace, ShuffleProof, StagedProof,
    WholeProof,
};
pub(super) use reproduce::ExpectedShuffle;
pub use verify::{Fold, ShuffleError, Statement, verify};
pub use whole::shuffle as shuffle_whole;

#[cfg(test)]
mod tests;
