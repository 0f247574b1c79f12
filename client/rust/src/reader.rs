//! Reads the masks of a stream's replies, in every row form, and keeps the stream's dictionary.
//!
//! Every reply passes through it, in order. Nothing that a server sends is trusted: ids, slots and
//! indices are checked before they are used; what is not as the protocol says is `Internal`.

use std::sync::Arc;

use crate::v1::position::Form as Wire;
use crate::v1::{self, MaskDelta, Position};
use crate::{Error, Form, Mask, TokenId};

#[derive(Debug)]
pub(crate) struct MaskReader {
    word_count: usize,
    vocab_size: usize,
    dictionary: Vec<Option<Mask>>,
}

impl MaskReader {
    pub(crate) fn new(welcome: &v1::Welcome) -> Self {
        let size = welcome
            .tokenizer
            .as_ref()
            .map_or(0, |tokenizer| tokenizer.vocab_size);
        Self {
            word_count: welcome.mask_words as usize,
            vocab_size: size.try_into().unwrap_or(0),
            dictionary: vec![None; welcome.dictionary_size as usize],
        }
    }

    pub(crate) fn read(&mut self, position: Position) -> Result<Mask, Error> {
        let mut mask = self.read_form(position.form)?;
        if let Some(slot) = position.dictionary_slot {
            mask = self.put(slot, mask)?;
        }
        self.check_tuning(position.temperature, &position.biases)?;
        mask.temperature = position.temperature;
        mask.biases = position.biases;
        Ok(mask)
    }

    fn read_form(&self, form: Option<Wire>) -> Result<Mask, Error> {
        match form {
            Some(Wire::Full(_)) => Ok(self.mask(Form::Full)),
            Some(Wire::Invalid(_)) => Ok(self.mask(Form::Invalid)),
            Some(Wire::Dense(bytes)) => self.read_dense(&bytes),
            Some(Wire::SameAs(slot)) => self.find(slot).cloned(),
            Some(Wire::AllowedIds(list)) => self.read_ids(Form::AllowedIds, list.ids),
            Some(Wire::ForbiddenIds(list)) => self.read_ids(Form::ForbiddenIds, list.ids),
            Some(Wire::Delta(delta)) => self.read_delta(&delta),
            None => Err(Error::internal(
                "a position of a form that was not offered to the server",
            )),
        }
    }

    fn mask(&self, form: Form) -> Mask {
        Mask {
            form,
            ids: Arc::default(),
            words: None,
            vocab_size: self.vocab_size,
            word_count: self.word_count,
            temperature: None,
            biases: Vec::new(),
        }
    }

    fn dense(&self, words: Arc<[u32]>) -> Mask {
        Mask {
            words: Some(words),
            ..self.mask(Form::Dense)
        }
    }

    fn read_dense(&self, bytes: &[u8]) -> Result<Mask, Error> {
        if bytes.len() != 4 * self.word_count {
            let (given, due) = (bytes.len(), self.word_count);
            return Err(Error::internal(format!(
                "a mask of {given} bytes where {due} words are due"
            )));
        }
        let (words, _) = bytes.as_chunks::<4>();
        Ok(self.dense(words.iter().map(|word| u32::from_le_bytes(*word)).collect()))
    }

    fn read_ids(&self, form: Form, ids: Vec<TokenId>) -> Result<Mask, Error> {
        let mut before = -1;
        for id in &ids {
            if *id <= before || *id as usize >= self.vocab_size {
                let text = format!(
                    "id {id} in a list for {} tokens does not ascend or is none of them",
                    self.vocab_size
                );
                return Err(Error::internal(text));
            }
            before = *id;
        }
        Ok(Mask {
            ids: ids.into(),
            ..self.mask(form)
        })
    }

    fn read_delta(&self, delta: &MaskDelta) -> Result<Mask, Error> {
        let base = self.find(delta.base)?;
        let (indices, changed) = (&delta.word_indices, &delta.words);
        if indices.len() != changed.len() {
            let text = format!(
                "a delta of {} indices and {} words",
                indices.len(),
                changed.len()
            );
            return Err(Error::internal(text));
        }
        let mut words = vec![0; self.word_count];
        base.copy_to(&mut words)?;
        for (index, word) in indices.iter().zip(changed) {
            let Some(place) = words.get_mut(*index as usize) else {
                let text = format!("a delta changes word {index} of {}", self.word_count);
                return Err(Error::internal(text));
            };
            *place = *word;
        }
        Ok(self.dense(words.into()))
    }

    fn find(&self, slot: u32) -> Result<&Mask, Error> {
        self.dictionary
            .get(slot as usize)
            .and_then(Option::as_ref)
            .ok_or_else(|| {
                let size = self.dictionary.len();
                Error::internal(format!(
                    "slot {slot} of a dictionary of {size} holds no mask"
                ))
            })
    }

    /// Keeps a mask as words: a list that comes again and again is expanded once.
    fn put(&mut self, slot: u32, mut mask: Mask) -> Result<Mask, Error> {
        let size = self.dictionary.len();
        let words = mask.words().map(|words| Arc::from(words.as_ref()));
        match self.dictionary.get_mut(slot as usize) {
            Some(place) if words.is_some() => {
                mask.words = mask.words.or(words);
                *place = Some(mask.clone());
                Ok(mask)
            }
            _ => Err(Error::internal(format!(
                "slot {slot} of a dictionary of {size} cannot hold what it is told"
            ))),
        }
    }

    fn check_tuning(&self, value: Option<f32>, biases: &[v1::LogitBias]) -> Result<(), Error> {
        if let Some(value) = value.filter(|value| !value.is_finite() || *value < 0.0) {
            return Err(Error::internal(format!("a temperature of {value}")));
        }
        let mut before = -1;
        for bias in biases {
            if bias.id <= before || bias.id as usize >= self.vocab_size || !bias.bias.is_finite() {
                return Err(Error::internal(format!(
                    "a bias of {} for token {} is not finite, or its token none of {} in ascending \
                     order",
                    bias.bias, bias.id, self.vocab_size
                )));
            }
            before = bias.id;
        }
        Ok(())
    }
}
