//! Every label that separates one use of a hash, proof or signature from another.
//!
//! A label names its use and its version; no two uses share one. All hashes, Merlin transcripts
//! and signatures of the project take their label from here, so that this page is the whole list
//! (the byte layouts that follow each label are in `docs/transcript.md`).

/// Commitment to a seat's seed of a deal.
pub const SEED_COMMITMENT: &str = "fairdeal/seed-commitment/v1";
/// Derivation of a ChaCha20 key from a seed.
pub const DERIVE: &str = "fairdeal/derive/v1";
/// Context of a shuffle's permutation and re-randomisers.
pub const SHUFFLE_CONTEXT: &str = "fairdeal/shuffle-context/v1";
/// One link of a coin chain.
pub const COIN_LINK: &str = "fairdeal/coin-link/v1";
/// The value of a coin flip.
pub const COIN_VALUE: &str = "fairdeal/coin-value/v1";
/// The point of a card.
pub const CARD: &str = "fairdeal/card/v1";
/// A statement on the removal of an absent party.
pub const REMOVAL: &str = "fairdeal/removal/v1";
/// The hash of such a statement, by which others name it.
pub const REMOVAL_HASH: &str = "fairdeal/removal-hash/v1";
/// A word on how far a seat had come when another was proven two-faced.
pub const HALT: &str = "fairdeal/halt/v1";
/// What the entries after such a halt name as the step before.
pub const HALTED: &str = "fairdeal/halted/v1";
/// A word that the other of two seats is absent.
pub const CLAIM: &str = "fairdeal/claim/v1";
/// What an ack names in place of the entry of a leader that is removed without one.
pub const VOTED_OUT: &str = "fairdeal/voted-out/v1";
/// What the parts of an escrow are derived for: its number and the seats that get one.
pub const ESCROW_CONTEXT: &str = "fairdeal/escrow-context/v1";
/// What a part of an escrow is masked with.
pub const ESCROW_MASK: &str = "fairdeal/escrow-mask/v1";
/// The generators of the shuffle proof.
pub const GENERATOR: &str = "fairdeal/generator/v1";
/// The body of a charter, whose hash is the table id.
pub const CHARTER: &str = "fairdeal/charter/v1";
/// A signature over a charter.
pub const CHARTER_SIGNATURE: &str = "fairdeal/charter-signature/v1";
/// A signature over a log entry.
pub const ENTRY: &str = "fairdeal/entry/v1";
/// The hash of a log entry, by which other entries name it.
pub const ENTRY_HASH: &str = "fairdeal/entry-hash/v1";
/// The hash of a step of the log.
pub const STEP: &str = "fairdeal/step/v1";
/// The parent of the first step.
pub const GENESIS: &str = "fairdeal/genesis/v1";
/// The digest of the public state before a step.
pub const STATE: &str = "fairdeal/state/v1";
/// What the first seat of a shuffle run names in place of an entry: the fresh deck.
pub const FRESH_DECK: &str = "fairdeal/fresh-deck/v1";
/// The hash from which the weights of a fold are drawn.
pub const FOLD: &str = "fairdeal/fold/v1";
/// The hash from which the weights are drawn by which what a seat sent is compared with its opened seed.
pub const REPRODUCE: &str = "fairdeal/reproduce/v1";

/// What the channel identifier of a table's password handshake says that it is for.
pub const PAKE: &str = "fairdeal/pake/v2";
/// The checksum of a ticket.
pub const TICKET: &str = "fairdeal/ticket/v1";
/// The jitter of a redial, so that two peers do not dial each other at once.
pub const REDIAL: &str = "fairdeal/redial/v1";
/// The name of an evidence file.
pub const EVIDENCE_FILE: &str = "fairdeal/evidence-file/v1";

/// Purposes of [`DERIVE`]: what a key derived from a seed is for.
pub mod purpose {
    /// A seat's secret key of the deal.
    pub const KEY: &str = "key";
    /// The root of a coin chain.
    pub const COIN: &str = "coin";
    /// A shuffle's permutation and re-randomisers.
    pub const SHUFFLE: &str = "shuffle";
    /// The nonces of a shuffle proof.
    pub const SHUFFLE_PROOF: &str = "shuffle-proof";
    /// The nonce of a proof of key.
    pub const KEY_PROOF: &str = "key-proof";
    /// The nonce of a share proof.
    pub const SHARE_PROOF: &str = "share-proof";
    /// The parts of an escrow.
    pub const ESCROW: &str = "escrow";
    /// The nonce of the proof in a complaint.
    pub const COMPLAINT_PROOF: &str = "complaint-proof";
    /// The nonce of a proof of part shares.
    pub const PART_PROOF: &str = "part-proof";
}

/// Merlin transcripts: one label a kind of proof, and the labels inside.
pub mod proof {
    /// The proof of knowledge of a deal key.
    pub const KEY: &[u8] = b"fairdeal/key-proof/v1";
    /// The batched proof of shares.
    pub const SHARES: &[u8] = b"fairdeal/share-proof/v1";
    /// The proof that the key in a complaint about a part is the one both seats share.
    pub const COMPLAINT: &[u8] = b"fairdeal/complaint-proof/v1";
    /// The batched proof of part shares, by which the others rebuild the shares of a seat.
    pub const PARTS: &[u8] = b"fairdeal/part-proof/v1";
    /// The shuffle proof.
    pub const SHUFFLE: &[u8] = b"fairdeal/shuffle-proof/v1";

    /// The table id.
    pub const TABLE: &[u8] = b"table";
    /// The deal number.
    pub const DEAL: &[u8] = b"deal";
    /// The seat that proves.
    pub const SEAT: &[u8] = b"seat";
    /// The step of the log in which a proof stands.
    pub const STEP: &[u8] = b"step";
    /// The seat whose key is in escrow.
    pub const OWNER: &[u8] = b"owner";
    /// The running number of an escrow within the deal.
    pub const NUMBER: &[u8] = b"number";
    /// The deck, for a shuffle proof.
    pub const DECK: &[u8] = b"deck";
    /// How many items follow.
    pub const COUNT: &[u8] = b"count";
    /// A public key.
    pub const PUBLIC_KEY: &[u8] = b"public-key";
    /// The public key of the seat whose key is in escrow.
    pub const OWNER_KEY: &[u8] = b"owner-key";
    /// The key that two seats share.
    pub const SHARED_KEY: &[u8] = b"shared-key";
    /// A handle: deck and position.
    pub const HANDLE: &[u8] = b"handle";
    /// The first half of a ciphertext.
    pub const A: &[u8] = b"A";
    /// The second half of a ciphertext.
    pub const B: &[u8] = b"B";
    /// A share.
    pub const SHARE: &[u8] = b"share";
    /// The input deck of a shuffle.
    pub const INPUT: &[u8] = b"input";
    /// The output deck of a shuffle.
    pub const OUTPUT: &[u8] = b"output";
    /// A commitment to a column of the permutation matrix.
    pub const COLUMN: &[u8] = b"column";
    /// A link of the commitment chain.
    pub const CHAIN: &[u8] = b"chain";
    /// An announcement.
    pub const ANNOUNCE: &[u8] = b"announce";
    /// A response.
    pub const RESPONSE: &[u8] = b"response";
    /// The hash of context and statement, from which nonces are derived.
    pub const NONCE: &[u8] = b"nonce-context";
    /// A seed for weights or for the challenges of a matrix proof.
    pub const WEIGHTS: &[u8] = b"weights";
    /// The challenge.
    pub const CHALLENGE: &[u8] = b"challenge";
    /// The digest of a whole proof, for the weights of a fold.
    pub const DIGEST: &[u8] = b"digest";
}
