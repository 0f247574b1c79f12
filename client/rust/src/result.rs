use crate::reader::MaskReader;
use crate::v1;
use crate::{Code, Error, GrammarId, Mask, RowId, TokenId};

/// What a row is doing.
pub type State = v1::RowState;

/// The answer for one row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// Names the row.
    pub id: RowId,
    /// What it is doing.
    pub state: State,
    /// By position: 0 after the tokens taken, `i + 1` after draft `i`. Empty when compiling, failed
    /// or refused, and when they would not have fitted into the reply: `error` is
    /// `ResourceExhausted` at `positions` then, and the next step may ask for them.
    pub masks: Vec<Mask>,
    /// What went wrong. With the state free, active or finished the row goes on from `token_count`.
    pub error: Option<Error>,
    /// The token that was refused.
    pub refused_token: Option<v1::RefusedToken>,
    /// How many tokens the row has taken, those after its end included.
    pub token_count: u32,
    /// Whether the text may end here.
    pub may_end: bool,
    /// Set in the reply that first has a position.
    pub grammar_id: Option<GrammarId>,
    /// Drafts that have a mask: of a chain its first ones. None: no drafts were sent.
    pub accepted_drafts: Option<u32>,
    /// What must come next, where it was asked for.
    pub forced_bytes: Vec<u8>,
    /// Tokens that may be appended without asking the model.
    pub forced_tokens: Vec<TokenId>,
    /// All of `forced_bytes` in tokens, to be sent as drafts.
    pub forced_draft: Vec<TokenId>,
    /// What its answer has more or less than before, where `OpenOptions::want_answer` asked for it.
    pub answer: Option<v1::AnswerDelta>,
}

impl Row {
    fn read(mut reply: v1::RowReply, masks: &mut MaskReader) -> Result<Self, Error> {
        let positions = std::mem::take(&mut reply.positions);
        let named = |error: Error| Error::internal(format!("row {}: {}", reply.row, error.message));
        let masks = positions
            .into_iter()
            .map(|position| masks.read(position))
            .collect::<Result<_, _>>()
            .map_err(named)?;
        let refused_token = reply.error.as_mut().and_then(|error| error.token.take());
        Ok(Self {
            id: reply.row,
            state: reply.state(),
            masks,
            refused_token,
            error: reply.error.map(Error::from),
            token_count: reply.token_count,
            may_end: reply.may_end,
            grammar_id: Some(reply.grammar_id)
                .filter(|id| !id.is_empty())
                .map(GrammarId),
            accepted_drafts: reply.accepted_drafts,
            forced_bytes: reply.forced_bytes,
            forced_tokens: reply.forced_tokens,
            forced_draft: reply.forced_draft,
            answer: reply.answer,
        })
    }

    pub(crate) fn failed(id: RowId, error: Error) -> Self {
        Self {
            id,
            state: State::Failed,
            masks: Vec::new(),
            error: Some(error),
            refused_token: None,
            token_count: 0,
            may_end: false,
            grammar_id: None,
            accepted_drafts: None,
            forced_bytes: Vec::new(),
            forced_tokens: Vec::new(),
            forced_draft: Vec::new(),
            answer: None,
        }
    }
}

/// The answer to one step.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StepResult {
    /// The step's number.
    pub step: u64,
    /// In the server's order: opened rows, named rows, rows that have compiled since.
    pub rows: Vec<Row>,
    /// Descriptions of the rows that `Step::snapshot` named.
    pub snapshots: Vec<v1::OpenRow>,
}

impl StepResult {
    pub(crate) fn read(reply: v1::StepReply, masks: &mut MaskReader) -> Result<Self, Error> {
        let rows = reply
            .rows
            .into_iter()
            .map(|row| Row::read(row, masks))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            step: reply.step,
            rows,
            snapshots: reply.snapshots,
        })
    }

    /// The row's answer that has its state.
    pub fn row(&self, id: RowId) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.id == id && row.state != State::Refused)
    }

    /// Masks one row of logits by the row's first mask, in place.
    ///
    /// # Errors
    /// Nothing being written: `NotFound` (the row has no answer), `FailedPrecondition` (its answer
    /// has no mask), those of [`Mask::apply`].
    pub fn apply(&self, id: RowId, logits: &mut [f32]) -> Result<(), Error> {
        self.mask(id, 0)?.apply(logits)
    }

    /// The row's mask at a position: 0, or `i + 1` after draft `i`.
    ///
    /// # Errors
    /// `NotFound` (the row has no answer), `FailedPrecondition` (its answer has no such mask).
    pub fn mask(&self, id: RowId, position: usize) -> Result<&Mask, Error> {
        let row = self.row(id).ok_or_else(|| {
            Error::new(
                Code::NotFound,
                format!("row {id}: has no answer in this reply"),
            )
        })?;
        row.masks.get(position).ok_or_else(|| {
            let text = format!("row {id}: has no mask at position {position}");
            Error::new(Code::FailedPrecondition, text)
        })
    }

    /// Writes the first masks of rows into an engine's own bitmask, whose rows have `row_words`
    /// words: row `i` becomes the mask of `order[i]`, all ones where it is full.
    ///
    /// # Errors
    /// Before anything is written: `InvalidArgument` (the bitmask is too small), `NotFound`,
    /// `FailedPrecondition`.
    pub fn copy_masks(
        &self,
        order: &[RowId],
        bitmask: &mut [u32],
        row_words: usize,
    ) -> Result<(), Error> {
        if row_words == 0 || bitmask.len() / row_words < order.len() {
            let (rows, words) = (order.len(), bitmask.len());
            let text = format!("{rows} rows of {row_words} words do not fit into {words} words");
            return Err(Error::new(Code::InvalidArgument, text));
        }
        // Replies come in the order of the step, as a rule; then no row is looked for.
        let in_order = self.rows.iter().map(|row| row.id).eq(order.iter().copied())
            && self
                .rows
                .iter()
                .all(|row| row.state != State::Refused && !row.masks.is_empty());
        let masks = if in_order {
            self.rows.iter().map(|row| &row.masks[0]).collect()
        } else {
            order
                .iter()
                .map(|id| self.mask(*id, 0))
                .collect::<Result<Vec<_>, _>>()?
        };
        masks
            .iter()
            .try_for_each(|mask| mask.check_room(row_words))?;
        let rows = bitmask.chunks_exact_mut(row_words);
        masks
            .iter()
            .zip(rows)
            .try_for_each(|(mask, row)| mask.copy_to(row))
    }
}
