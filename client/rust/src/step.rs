use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Duration;

use crate::v1;
use crate::Target;

/// Names a row of a stream; the caller's choice.
pub type RowId = u64;

/// A token of the vocabulary.
pub type TokenId = i32;

/// What a row may be opened with beside its grammar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenOptions {
    /// Tokens the row has taken already, on another stream.
    pub tokens: Vec<TokenId>,
    /// Ids that end its text. Empty: the tokenizer's own.
    pub stop_ids: Vec<TokenId>,
    /// Free text before the grammar begins.
    pub reasoning: Option<v1::ReasoningGate>,
    /// Tokens of the text before which it may not end.
    pub min_tokens: u32,
    /// Tokens that the row may still produce. None: no bound.
    pub remaining_tokens: Option<u32>,
    /// Temperature of its text; none: the grammar's. Needs `StreamOptions::want_temperature`.
    pub temperature: Option<f32>,
    /// Numbers to add to logits of its text, each id once. Needs `StreamOptions::want_bias`.
    pub biases: Vec<v1::LogitBias>,
    /// Whether its replies say what its text says (`Row::answer`). For grammars of kind "chat".
    pub want_answer: bool,
    /// Whether it is only read: nothing is masked, any token is taken, and its replies say what its
    /// text says. For grammars of kind "chat".
    pub observe: bool,
}

/// One decode step as the engine says it: which rows open, what was sampled, which rows close.
///
/// The server closes, forks, opens and then moves rows, whatever the order of the calls. What a row
/// may not do comes back in its own reply. Submitting a step empties it for its next use.
#[derive(Debug, Clone, Default)]
pub struct Step {
    pub(crate) message: v1::Step,
    places: HashMap<RowId, usize, BuildHasherDefault<RowHasher>>, // of updates in the message
}

/// Spreads ids that lie close together; they are the caller's own, so nobody picks them to collide.
#[derive(Debug, Clone, Copy, Default)]
struct RowHasher(u64);

impl Hasher for RowHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Step {
    /// An empty step.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a row on a grammar.
    pub fn open(&mut self, row: RowId, target: impl Into<Target>) -> &mut Self {
        self.open_with(row, target, OpenOptions::default())
    }

    /// Opens a row on a grammar, with more to say.
    pub fn open_with(
        &mut self,
        row: RowId,
        target: impl Into<Target>,
        options: OpenOptions,
    ) -> &mut Self {
        self.message.open.push(v1::OpenRow {
            row,
            target: Some(target.into().into()),
            tokens: options.tokens,
            stop_ids: options.stop_ids,
            reasoning: options.reasoning,
            min_tokens: options.min_tokens,
            remaining_tokens: options.remaining_tokens,
            temperature: options.temperature,
            biases: options.biases,
            want_answer: options.want_answer,
            observe: options.observe,
        });
        self
    }

    /// Opens a row as a snapshot describes it (`StepResult::snapshots`).
    pub fn open_snapshot(&mut self, snapshot: v1::OpenRow) -> &mut Self {
        self.message.open.push(snapshot);
        self
    }

    /// Gives a row the tokens sampled since the last step; called again, further ones. Without
    /// tokens it asks for the row's mask as it is.
    pub fn take(&mut self, row: RowId, tokens: &[TokenId]) -> &mut Self {
        self.update(row).tokens.extend_from_slice(tokens);
        self
    }

    /// Takes back a row's last tokens, before those that `take` gives.
    pub fn rollback(&mut self, row: RowId, token_count: u32) -> &mut Self {
        self.update(row).rollback = token_count;
        self
    }

    /// Says how many tokens the row may still produce, its end included.
    pub fn set_remaining(&mut self, row: RowId, token_count: u32) -> &mut Self {
        self.update(row).remaining_tokens = Some(token_count);
        self
    }

    /// Asks for the masks after draft tokens, which the row does not take: `Row::masks[i + 1]` is
    /// the one after `tokens[i]`. Without parents the drafts are a chain; else `parents[i]` is the
    /// index of the token that `tokens[i]` comes after, or -1.
    pub fn draft(&mut self, row: RowId, tokens: &[TokenId], parents: &[i32]) -> &mut Self {
        let drafts = v1::Drafts {
            tokens: tokens.to_vec(),
            parents: parents.to_vec(),
        };
        self.update(row).drafts = Some(drafts);
        self
    }

    /// Asks for what must come next.
    pub fn want_forced(&mut self, row: RowId) -> &mut Self {
        self.update(row).want_forced = true;
        self
    }

    /// Asks for the row's description, by which it can be opened anew.
    pub fn snapshot(&mut self, row: RowId) -> &mut Self {
        self.message.snapshot.push(row);
        self
    }

    /// Makes `child` an independent copy of `parent`.
    pub fn fork(&mut self, parent: RowId, child: RowId) -> &mut Self {
        self.message.fork.push(v1::ForkRow { parent, child });
        self
    }

    /// Closes a row; its id is free again in the same step.
    pub fn close(&mut self, row: RowId) -> &mut Self {
        self.message.close.push(row);
        self
    }

    /// Lets the reply wait for grammars that still compile. Zero, the default, never waits.
    pub fn wait_for_compile(&mut self, at_most: Duration) -> &mut Self {
        self.message.wait_for_compile_ms = at_most.as_millis().try_into().unwrap_or(u32::MAX);
        self
    }

    /// Empties the step.
    pub fn clear(&mut self) -> &mut Self {
        self.take_message();
        self
    }

    pub(crate) fn take_message(&mut self) -> v1::Step {
        self.places.clear();
        std::mem::take(&mut self.message)
    }

    fn update(&mut self, row: RowId) -> &mut v1::RowUpdate {
        let rows = &mut self.message.rows;
        let place = *self.places.entry(row).or_insert_with(|| {
            rows.push(v1::RowUpdate {
                row,
                ..v1::RowUpdate::default()
            });
            rows.len() - 1
        });
        &mut rows[place]
    }
}
