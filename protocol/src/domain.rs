//! Every label that separates one use of a hash, proof or signature from another.
//!
//! A label names its use and version; no two uses share a label. All hashes, Merlin transcripts and signatures of the
//! project take their label from this module, so it is the complete list. `docs/transcript.md` specifies the byte
//! layout that follows each label.

/// A label. Its bytes contain exactly one 0x00, at the end, so no label plus data equals another label plus data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(&'static str);

impl Label {
    /// Creates a label from its text, including the closing 0x00.
    ///
    /// # Panics
    /// If the text does not end in its only 0x00. In a constant this is a compile error.
    pub const fn new(text: &'static str) -> Self {
        assert!(ends_in_its_only_zero(text), "a label ends in its only 0x00");
        Self(text)
    }

    /// The label's bytes.
    pub const fn as_bytes(self) -> &'static [u8] {
        self.0.as_bytes()
    }
}

//= T4.2
const fn ends_in_its_only_zero(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == 0 {
            return tail.is_empty();
        }
        rest = tail;
    }
    false
}

/// Makes a label from text without its closing 0x00, checked at compile time.
//= T4.5
macro_rules! label {
    ($text:literal) => {
        Label::new(concat!($text, "\0"))
    };
}

/// The commitment to a seat's seed for a deal.
pub const SEED_COMMITMENT: Label = label!("fairdeal/seed-commitment/v2");
/// The derivation of a seat's first seed at a table from its identity.
pub const FIRST_SEED: Label = label!("fairdeal/first-seed/v1");
/// The derivation of a ChaCha20 key from a seed.
pub const DERIVE: Label = label!("fairdeal/derive/v2");
/// The context of the permutation and re-randomisers of a shuffle with a whole proof.
pub const SHUFFLE_CONTEXT: Label = label!("fairdeal/shuffle-context/v2");
/// The context of a preparation's permutation and re-randomisers.
pub const PREPARATION_CONTEXT: Label = label!("fairdeal/preparation-context/v2");
/// One link of a coin chain.
pub const COIN_LINK: Label = label!("fairdeal/coin-link/v2");
/// The value of a coin flip.
pub const COIN_VALUE: Label = label!("fairdeal/coin-value/v2");
/// The point of a card.
pub const CARD: Label = label!("fairdeal/card/v2");
/// A signed statement about the removal of an absent party.
pub const REMOVAL: Label = label!("fairdeal/removal/v2");
/// The hash of such a statement; other statements name it by this hash.
pub const REMOVAL_HASH: Label = label!("fairdeal/removal-hash/v2");
/// A fork report: how far a seat had come when another was proven to equivocate.
pub const HALT: Label = label!("fairdeal/halt/v2");
/// The parent of the entries that follow fork reports.
pub const HALTED: Label = label!("fairdeal/halted/v2");
/// A returning seat's request for its own records.
pub const STATE_REQUEST: Label = label!("fairdeal/state-request/v1");
/// A seat's reply to a returning seat's state request.
pub const STATE_REPLY: Label = label!("fairdeal/state-reply/v2");
/// The name of a proof of equivocation in a head.
pub const PROOF_NAME: Label = label!("fairdeal/proof-name/v1");
/// The name of an abandonment claim in a head.
pub const CLAIM_NAME: Label = label!("fairdeal/claim-name/v1");
/// An abandonment claim.
pub const CLAIM: Label = label!("fairdeal/claim/v2");
/// The extensions of time that a seat has stated.
pub const EXTENSIONS: Label = label!("fairdeal/extensions/v2");
/// The name of such a statement in a head.
pub const EXTENSIONS_NAME: Label = label!("fairdeal/extensions-name/v1");
/// Replaces the leader's entry in an ack, if the leader was removed without an entry.
pub const VOTED_OUT: Label = label!("fairdeal/voted-out/v2");
/// The context of an escrow's parts: its holders and their keys.
pub const ESCROW_CONTEXT: Label = label!("fairdeal/escrow-context/v2");
/// The mask of an escrow part.
pub const ESCROW_MASK: Label = label!("fairdeal/escrow-mask/v2");
/// The generators of the shuffle proof.
pub const GENERATOR: Label = label!("fairdeal/generator/v2");
/// The body of a charter, whose hash is the table id.
pub const CHARTER: Label = label!("fairdeal/charter/v2");
/// A signature over a charter.
pub const CHARTER_SIGNATURE: Label = label!("fairdeal/charter-signature/v2");
/// A signature over a log entry.
pub const ENTRY: Label = label!("fairdeal/entry/v2");
/// The hash of a log entry; other entries name it by this hash.
pub const ENTRY_HASH: Label = label!("fairdeal/entry-hash/v2");
/// The hash of a step of the log.
pub const STEP: Label = label!("fairdeal/step/v2");
/// The parent of the first step.
pub const GENESIS: Label = label!("fairdeal/genesis/v2");
/// The digest of the public state before a step.
pub const STATE: Label = label!("fairdeal/state/v2");
/// Stands for the fresh deck in the first entry of a shuffle run.
pub const FRESH_DECK: Label = label!("fairdeal/fresh-deck/v2");
/// The hash that seeds the weights of a batch verification.
pub const FOLD: Label = label!("fairdeal/fold/v2");
/// The digest of a batch of share proofs.
pub const FOLD_SHARES: Label = label!("fairdeal/fold-shares/v1");
/// The digest of what an opened seed must give.
pub const REPRODUCE: Label = label!("fairdeal/reproduce/v2");
/// The hash that seeds the weights of share proofs and opened seeds.
pub const EQUATIONS: Label = label!("fairdeal/equations/v1");

/// The purpose in the channel identifier of a table's password handshake.
pub const PAKE: Label = label!("fairdeal/pake/v2");
/// The checksum of a ticket.
pub const TICKET: Label = label!("fairdeal/ticket/v2");
/// The checksum of a guest's reply to a ticket.
pub const REPLY: Label = label!("fairdeal/reply/v1");
/// The checksum of a file with a seat.
pub const SEAT_FILE: Label = label!("fairdeal/seat-file/v1");
/// A host's signature over the registration of its table at a meeting point.
pub const REGISTRATION: Label = label!("fairdeal/registration/v1");
/// The context in which letters of a table are sealed.
pub const LETTER: Label = label!("fairdeal/letter/v1");
/// The context in which letters of a lobby are sealed.
pub const LOBBY_LETTER: Label = label!("fairdeal/lobby-letter/v1");
/// The checksum of an invitation to a lobby by letter.
pub const INVITATION: Label = label!("fairdeal/invitation/v1");
/// The subject of a letter in a box at a meeting point.
pub const MAIL: Label = label!("fairdeal/mail/v1");
/// The jitter of a redial, so that two peers do not dial each other simultaneously.
pub const REDIAL: Label = label!("fairdeal/redial/v2");
/// The name of a draft that is sent ahead of its entry.
pub const DRAFT: Label = label!("fairdeal/draft/v1");
/// The name of an evidence file.
pub const EVIDENCE_FILE: Label = label!("fairdeal/evidence-file/v2");
/// The checksum of a journal block.
pub const JOURNAL: Label = label!("fairdeal/journal/v3");
/// The checksum in the identity file.
pub const IDENTITY_FILE: Label = label!("fairdeal/identity-file/v2");
/// The checksum of a saved summary.
pub const SUMMARY_FILE: Label = label!("fairdeal/summary-file/v1");

/// Purposes of [`DERIVE`], one for each kind of key derived from a seed.
pub mod purpose {
    /// A seat's secret key of the deal.
    pub const KEY: &str = "key";
    /// The root of a coin chain.
    pub const COIN: &str = "coin";
    /// The permutation and re-randomisers of a shuffle with a whole proof.
    pub const SHUFFLE: &str = "shuffle";
    /// A preparation's permutation and re-randomisers.
    pub const PREPARATION: &str = "preparation";
    /// The nonces of a permutation proof.
    pub const PERMUTATION_PROOF: &str = "permutation-proof";
    /// The prepared part of a consistency proof's masks.
    pub const CONSISTENCY_MASKS: &str = "consistency-masks";
    /// The nonces of a consistency proof.
    pub const CONSISTENCY_PROOF: &str = "consistency-proof";
    /// The nonces of a whole shuffle proof.
    pub const SHUFFLE_PROOF: &str = "shuffle-proof";
    /// The nonce of a deal key proof.
    pub const KEY_PROOF: &str = "key-proof";
    /// The nonce of a share proof.
    pub const SHARE_PROOF: &str = "share-proof";
    /// The parts of an escrow.
    pub const ESCROW: &str = "escrow";
    /// The nonce of the proof in a complaint.
    pub const COMPLAINT_PROOF: &str = "complaint-proof";
    /// The nonce of a part share proof.
    pub const PART_PROOF: &str = "part-proof";
}

/// Labels of Merlin transcripts: one for each kind of proof, and the labels inside them.
pub mod proof {
    use super::Label;

    /// The proof of knowledge of a deal key.
    pub const KEY: &[u8] = label!("fairdeal/key-proof/v2").as_bytes();
    /// The batched proof of shares.
    pub const SHARES: &[u8] = label!("fairdeal/share-proof/v2").as_bytes();
    /// The proof that a complaint's key is the one the two seats share.
    pub const COMPLAINT: &[u8] = label!("fairdeal/complaint-proof/v2").as_bytes();
    /// The batched proof of part shares, which rebuild a departed seat's shares.
    pub const PARTS: &[u8] = label!("fairdeal/part-proof/v2").as_bytes();
    /// The proof that a commitment is one to a permutation.
    pub const PERMUTATION: &[u8] = label!("fairdeal/permutation-proof/v2").as_bytes();
    /// The proof that a deck was permuted as committed.
    pub const CONSISTENCY: &[u8] = label!("fairdeal/consistency-proof/v2").as_bytes();
    /// The whole shuffle proof.
    pub const SHUFFLE: &[u8] = label!("fairdeal/shuffle-proof/v2").as_bytes();

    /// The table id.
    pub const TABLE: &[u8] = label!("table").as_bytes();
    /// The deal number.
    pub const DEAL: &[u8] = label!("deal").as_bytes();
    /// The proving seat.
    pub const SEAT: &[u8] = label!("seat").as_bytes();
    /// The step of the log that contains the proof.
    pub const STEP: &[u8] = label!("step").as_bytes();
    /// The seat whose key is in escrow.
    pub const OWNER: &[u8] = label!("owner").as_bytes();
    /// The running number of an escrow within the deal.
    pub const NUMBER: &[u8] = label!("number").as_bytes();
    /// The deck of a shuffle proof.
    pub const DECK: &[u8] = label!("deck").as_bytes();
    /// The seats that shuffle a deck.
    pub const LIVE: &[u8] = label!("live").as_bytes();
    /// How often the log has gone on from an earlier state.
    pub const FORKS: &[u8] = label!("forks").as_bytes();
    /// Number of items that follow.
    pub const COUNT: &[u8] = label!("count").as_bytes();
    /// A public key.
    pub const PUBLIC_KEY: &[u8] = label!("public-key").as_bytes();
    /// The public key of the seat whose key is in escrow.
    pub const OWNER_KEY: &[u8] = label!("owner-key").as_bytes();
    /// The key that two seats share.
    pub const SHARED_KEY: &[u8] = label!("shared-key").as_bytes();
    /// A handle: deck and position.
    pub const HANDLE: &[u8] = label!("handle").as_bytes();
    /// The first half of a ciphertext.
    pub const A: &[u8] = label!("A").as_bytes();
    /// The second half of a ciphertext.
    pub const B: &[u8] = label!("B").as_bytes();
    /// A share.
    pub const SHARE: &[u8] = label!("share").as_bytes();
    /// The input deck of a shuffle.
    pub const INPUT: &[u8] = label!("input").as_bytes();
    /// The output deck of a shuffle.
    pub const OUTPUT: &[u8] = label!("output").as_bytes();
    /// A commitment to a column of the permutation matrix.
    pub const COLUMN: &[u8] = label!("column").as_bytes();
    /// A link of the commitment chain.
    pub const CHAIN: &[u8] = label!("chain").as_bytes();
    /// An announcement.
    pub const ANNOUNCE: &[u8] = label!("announce").as_bytes();
    /// A response.
    pub const RESPONSE: &[u8] = label!("response").as_bytes();
    /// The hash of context and statement that nonces derive from.
    pub const NONCE: &[u8] = label!("nonce-context").as_bytes();
    /// A seed for batching weights, or for the challenges of a shuffle proof.
    pub const WEIGHTS: &[u8] = label!("weights").as_bytes();
    /// The challenge.
    pub const CHALLENGE: &[u8] = label!("challenge").as_bytes();
    /// The digest of a permutation proof, for the weights of a batch.
    pub const PERMUTATION_DIGEST: &[u8] = label!("permutation-digest").as_bytes();
    /// The digest of a complete proof, for the weights of a batch.
    pub const DIGEST: &[u8] = label!("digest").as_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_end_in_their_only_zero() {
        assert_eq!(ENTRY.as_bytes(), b"fairdeal/entry/v2\0");
        assert_eq!(proof::A, b"A\0");
        for good in ["\0", "x\0"] {
            assert!(ends_in_its_only_zero(good), "{good:?}");
        }
        for bad in ["", "x", "x\0y", "x\0y\0", "x\0\0", "\0x"] {
            assert!(!ends_in_its_only_zero(bad), "{bad:?}");
        }
    }
}
