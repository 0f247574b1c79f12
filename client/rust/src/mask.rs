use std::borrow::Cow;
use std::sync::Arc;

use crate::v1;
use crate::{Code, Error, TokenId};

/// How a mask came, the two forms that speak of the dictionary being read as what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Masks nothing: the row has finished, or is free.
    Full,
    /// No mask: a draft on the way to this position was refused.
    Invalid,
    /// Words only.
    Dense,
    /// Exactly the ids are allowed.
    AllowedIds,
    /// All of the vocabulary but the ids are allowed.
    ForbiddenIds,
}

/// The set of tokens that may come next at one position. A plain value, cheap to clone.
#[derive(Debug, Clone)]
pub struct Mask {
    pub(crate) form: Form,
    pub(crate) ids: Arc<[TokenId]>,
    pub(crate) words: Option<Arc<[u32]>>,
    pub(crate) vocab_size: usize,
    pub(crate) word_count: usize,
    pub(crate) temperature: Option<f32>,
    pub(crate) biases: Vec<v1::LogitBias>,
}

impl Mask {
    /// How the mask came.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether there is nothing to mask.
    pub fn is_full(&self) -> bool {
        self.form == Form::Full
    }

    /// Whether there is no mask: a draft on the way here was refused.
    pub fn is_invalid(&self) -> bool {
        self.form == Form::Invalid
    }

    /// The listed tokens, ascending; empty but for the two forms that are lists.
    pub fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// What the allowed logits are to be divided by, 0: the greatest is to be taken. None: the
    /// engine's own temperature.
    pub fn temperature(&self) -> Option<f32> {
        self.temperature
    }

    /// What is to be added to logits before that; ids ascending, all of them allowed.
    pub fn biases(&self) -> &[v1::LogitBias] {
        &self.biases
    }

    /// The packed words, whatever the form; none where the mask is full or invalid.
    pub fn words(&self) -> Option<Cow<'_, [u32]>> {
        match (&self.words, self.form) {
            (_, Form::Full | Form::Invalid) => None,
            (Some(words), _) => Some(Cow::Borrowed(words)),
            (None, _) => {
                let mut words = vec![0; self.word_count];
                self.expand(&mut words);
                Some(Cow::Owned(words))
            }
        }
    }

    /// Writes the words into `row`, which may be longer: words past the mask become 0, and all bits
    /// 1 where the mask is full.
    ///
    /// # Errors
    /// Nothing being written: `InvalidArgument` (`row` is too short), `FailedPrecondition` (the
    /// mask is invalid).
    pub fn copy_to(&self, row: &mut [u32]) -> Result<(), Error> {
        self.check_room(row.len())?;
        if self.is_full() {
            row.fill(u32::MAX);
            return Ok(());
        }
        let (words, rest) = row.split_at_mut(self.word_count);
        rest.fill(0);
        match &self.words {
            Some(own) => words.copy_from_slice(own),
            None => self.expand(words),
        }
        Ok(())
    }

    /// Whether the mask can be written to a row of so many words.
    pub(crate) fn check_room(&self, row_words: usize) -> Result<(), Error> {
        if self.is_invalid() {
            return Err(no_mask());
        }
        if !self.is_full() && row_words < self.word_count {
            let text = format!(
                "a row of {row_words} words is too short for a mask of {}",
                self.word_count
            );
            return Err(Error::new(Code::InvalidArgument, text));
        }
        Ok(())
    }

    /// Masks one row of logits in place: those of tokens that are not allowed, and those past the
    /// vocabulary, become minus infinity; biases are added and temperatures divided by first, where
    /// the mask carries them. Full does nothing.
    ///
    /// # Errors
    /// Nothing being written: `InvalidArgument` (fewer logits than the vocabulary has tokens),
    /// `FailedPrecondition` (the mask is invalid).
    pub fn apply(&self, logits: &mut [f32]) -> Result<(), Error> {
        if self.is_full() {
            return Ok(());
        }
        if self.is_invalid() {
            return Err(no_mask());
        }
        if logits.len() < self.vocab_size {
            let (given, size) = (logits.len(), self.vocab_size);
            let text = format!("{given} logits are fewer than the vocabulary's {size} tokens");
            return Err(Error::new(Code::InvalidArgument, text));
        }
        let (known, rest) = logits.split_at_mut(self.vocab_size);
        self.tune(known);
        rest.fill(f32::NEG_INFINITY);
        if self.form == Form::ForbiddenIds {
            for id in self.ids.iter() {
                known[*id as usize] = f32::NEG_INFINITY;
            }
        } else if let Some(words) = self.words() {
            apply_words(&words, known);
        }
        Ok(())
    }

    fn tune(&self, logits: &mut [f32]) {
        for bias in &self.biases {
            logits[bias.id as usize] += bias.bias;
        }
        if let Some(temperature) = self
            .temperature
            .filter(|value| *value != 0.0 && *value != 1.0)
        {
            let scale = 1.0 / temperature;
            logits.iter_mut().for_each(|logit| *logit *= scale);
        }
    }

    /// Writes the words of a list.
    fn expand(&self, words: &mut [u32]) {
        if self.form == Form::AllowedIds {
            words.fill(0);
            for id in self.ids.iter() {
                words[*id as usize / 32] |= 1 << (id % 32);
            }
            return;
        }
        for (i, word) in words.iter_mut().enumerate() {
            *word = match self.vocab_size.saturating_sub(32 * i) {
                left @ 0..32 => (1 << left) - 1,
                _ => u32::MAX,
            };
        }
        for id in self.ids.iter() {
            words[*id as usize / 32] &= !(1 << (id % 32));
        }
    }
}

fn no_mask() -> Error {
    Error::new(
        Code::FailedPrecondition,
        "there is no mask: a draft before it was refused",
    )
}

/// Walks over the forbidden tokens of each word; most words are all or nothing.
fn apply_words(words: &[u32], logits: &mut [f32]) {
    for (word, part) in words.iter().zip(logits.chunks_mut(32)) {
        if *word == 0 {
            part.fill(f32::NEG_INFINITY);
            continue;
        }
        let mut forbidden = !word;
        while forbidden != 0 {
            let Some(logit) = part.get_mut(forbidden.trailing_zeros() as usize) else {
                break;
            };
            *logit = f32::NEG_INFINITY;
            forbidden &= forbidden - 1;
        }
    }
}
