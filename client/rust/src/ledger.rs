//! What a client must know of its rows to open them anew on another server: how each was opened,
//! and the tokens that it has taken since.
//!
//! The replies are the truth: a step counts once its reply is here, and each row has as many tokens
//! as its reply says. A reply that no server gives that keeps to the protocol is booked not at all.
//! A row's grammar is the one that its first reply named: a server whose ids have the same format
//! must name it too; one with another format is told the text and believed. A row's tokens include
//! those after its end.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::v1::{self, compile_request, open_row, OpenRow, RowUpdate};
use crate::{Code, Error, Row, RowId, State};

#[derive(Debug, Default)]
pub(crate) struct RowLedger {
    /// Ordered, so that a replay is the same in every run.
    pub(crate) rows: BTreeMap<RowId, LedgerRow>,
    pub(crate) grammars: HashMap<String, v1::Grammar>,
    pub(crate) format: String,
    given_up: HashSet<RowId>, // and neither closed nor opened by the caller since
}

#[derive(Debug, Clone, Default)]
pub(crate) struct LedgerRow {
    pub(crate) open: OpenRow,   // its tokens are those taken so far
    grammar_id: Option<String>, // as its first reply has it, in that server's format
    format: String,
    token_limit: Option<usize>, // the token count at which none is left
    is_used: bool,              // a reply has said where it stands
    failed: bool,               // its server said that it cannot go on
    is_late: bool,              // the caller's step opens it, not the replay
}

/// Where a reply says that a row stands.
struct Place<'a> {
    reply: &'a Row,
    kept: usize,                   // of the tokens booked
    update: Option<&'a RowUpdate>, // that is booked
}

/// The rows that a step opens or closes, as they were.
type RowsBefore = BTreeMap<RowId, Option<LedgerRow>>;

impl RowLedger {
    /// Whether a server has told of each row where it stands, so none compiles.
    pub(crate) fn is_settled(&self) -> bool {
        self.rows.values().all(|row| row.is_used || row.failed)
    }

    /// The grammars of the rows, each once: by their texts where those are known, else by id.
    pub(crate) fn compile_requests(&self, tokenizer: &str) -> Vec<v1::CompileRequest> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for row in self.rows.values().filter(|row| !row.failed) {
            if row.grammar_id.as_ref().is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            let mut open = OpenRow {
                target: row.open.target.clone(),
                ..OpenRow::default()
            };
            self.write_text(&mut open);
            let target = open.target.map(|target| match target {
                open_row::Target::GrammarId(id) => compile_request::Target::GrammarId(id),
                open_row::Target::Grammar(text) => compile_request::Target::Grammar(text),
            });
            all.push(v1::CompileRequest {
                tokenizer: tokenizer.to_string(),
                target,
            });
        }
        all
    }

    /// Makes a step fit for a server that may know nothing: opens by id get the text where it is
    /// kept.
    pub(crate) fn write_texts(&self, step: &mut v1::Step) {
        step.open.iter_mut().for_each(|open| self.write_text(open));
    }

    fn write_text(&self, open: &mut OpenRow) {
        if let Some(open_row::Target::GrammarId(id)) = &open.target {
            if let Some(text) = self.grammars.get(id) {
                open.target = Some(open_row::Target::Grammar(text.clone()));
            }
        }
    }

    /// Gives up the rows that a step opens, moves, forks into or describes, and those that it was
    /// to open for a server before, and says which; of the rest it books the closes.
    pub(crate) fn give_up(&mut self, step: &v1::Step) -> Vec<RowId> {
        for id in &step.close {
            self.rows.remove(id);
        }
        let late = self
            .rows
            .iter()
            .filter(|(_, row)| row.is_late)
            .map(|(id, _)| *id);
        let rows = step.open.iter().map(|open| open.row);
        let rows = rows.chain(step.rows.iter().map(|update| update.row));
        let rows = rows.chain(step.fork.iter().map(|fork| fork.child));
        let rows: Vec<_> = rows
            .chain(step.snapshot.iter().copied())
            .chain(late)
            .collect();
        let mut seen = HashSet::new();
        let once: Vec<_> = rows.into_iter().filter(|id| seen.insert(*id)).collect();
        for id in &once {
            self.rows.remove(id);
            self.given_up.insert(*id);
        }
        once
    }

    /// Takes out of a step the closes of rows that were given up, of which the servers know
    /// nothing.
    pub(crate) fn drop_closes(&mut self, step: &mut v1::Step) {
        step.close.retain(|id| !self.given_up.remove(id));
        for open in &step.open {
            self.given_up.remove(&open.row);
        }
        for fork in &step.fork {
            self.given_up.remove(&fork.child);
        }
    }

    /// Books a step and its reply. Errors, nothing being booked: `Internal` (the reply is not one
    /// to this step and these rows), `Unavailable` (the server does not open a row that was
    /// booked), `FailedPrecondition` (a row has another grammar here).
    pub(crate) fn apply(&mut self, step: &v1::Step, replies: &[Row]) -> Result<(), Error> {
        let mut before = RowsBefore::new();
        for id in &step.close {
            self.put(*id, None, &mut before);
        }
        self.apply_forks(step, replies, &mut before);
        self.apply_opens(step, replies, &mut before);
        match self.places_of(step, replies) {
            Ok(places) => places.into_iter().for_each(|place| self.move_to(&place)),
            Err(error) => {
                for (id, row) in before {
                    self.put(id, row, &mut RowsBefore::new());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sets a row, or takes it away, and notes how it was.
    fn put(&mut self, id: RowId, row: Option<LedgerRow>, before: &mut RowsBefore) {
        let was = match row {
            Some(row) => self.rows.insert(id, row),
            None => self.rows.remove(&id),
        };
        before.entry(id).or_insert(was);
    }

    fn apply_forks(&mut self, step: &v1::Step, replies: &[Row], before: &mut RowsBefore) {
        for fork in &step.fork {
            let Some(parent) = self.rows.get(&fork.parent) else {
                continue;
            };
            if has_state(replies, fork.child, true) {
                continue;
            }
            let mut child = parent.clone();
            child.open.row = fork.child;
            let reply = replies.iter().find(|reply| reply.id == fork.parent);
            if let Some(reply) = reply.filter(|_| !parent.is_used) {
                if refuses_opening(reply, child.open.tokens.len()) {
                    child.open.tokens.truncate(reply.token_count as usize);
                }
            }
            self.put(fork.child, Some(child), before);
        }
    }

    fn apply_opens(&mut self, step: &v1::Step, replies: &[Row], before: &mut RowsBefore) {
        for open in &step.open {
            if self.rows.contains_key(&open.row) || !has_state(replies, open.row, false) {
                continue;
            }
            let token_limit = open
                .remaining_tokens
                .map(|left| open.tokens.len() + left as usize);
            let row = LedgerRow {
                open: open.clone(),
                token_limit,
                ..LedgerRow::default()
            };
            self.put(open.row, Some(row), before);
        }
    }

    fn places_of<'a>(
        &self,
        step: &'a v1::Step,
        replies: &'a [Row],
    ) -> Result<Vec<Place<'a>>, Error> {
        let mut updates = HashMap::with_capacity(step.rows.len());
        for update in &step.rows {
            updates.entry(update.row).or_insert(update);
        }
        let mut answered = HashSet::with_capacity(replies.len());
        let mut places = Vec::with_capacity(replies.len());
        for reply in replies {
            let Some(row) = self.rows.get(&reply.id) else {
                continue;
            };
            if reply.state == State::Refused {
                if row.is_late {
                    return Err(refused_here(reply));
                }
                continue;
            }
            if row.is_late && is_for_load(reply) {
                return Err(refused_here(reply));
            }
            if !answered.insert(reply.id) {
                let text = format!("the server answers row {} twice", reply.id);
                return Err(Error::internal(text));
            }
            self.check_grammar(row, reply)?;
            places.push(place_of(updates.get(&reply.id).copied(), reply, row)?);
        }
        Ok(places)
    }

    /// Holds a reply to the row's own grammar.
    fn check_grammar(&self, row: &LedgerRow, reply: &Row) -> Result<(), Error> {
        match (&row.grammar_id, &reply.grammar_id) {
            (Some(own), Some(here)) if row.format == self.format && *own != here.0 => {
                let text = format!(
                    "row {} has grammar {} here, its own is {own}",
                    reply.id, here.0
                );
                Err(Error::new(Code::FailedPrecondition, text))
            }
            _ => Ok(()),
        }
    }

    fn move_to(&mut self, place: &Place<'_>) {
        let reply = place.reply;
        let Some(row) = self.rows.get_mut(&reply.id) else {
            return;
        };
        if row.grammar_id.is_none() {
            if let Some(id) = &reply.grammar_id {
                row.grammar_id = Some(id.0.clone());
                row.format.clone_from(&self.format);
            }
        }
        row.failed = reply.state == State::Failed;
        row.is_late = false;
        let tokens = &mut row.open.tokens;
        let mut count = tokens.len();
        if says_its_place(reply) {
            count = reply.token_count as usize;
            row.is_used = true;
            tokens.truncate(count.min(place.kept));
        }
        if let Some(update) = place.update {
            let taken = count.saturating_sub(tokens.len());
            tokens.extend_from_slice(&update.tokens[..taken]);
            if let Some(left) = update.remaining_tokens {
                row.token_limit = Some(tokens.len() + left as usize);
            }
        }
    }

    /// Books the reply to the opens of a replay. Every row must stand where it is booked, but for
    /// two kinds: one whose place no server had told, which may have been opened with what is
    /// refused, and one whose server said that it cannot go on, whose id is taken until it is
    /// closed. Errors: `Unavailable` (this server does not go on with a row), `FailedPrecondition`
    /// (a row has another grammar here; nothing is booked).
    pub(crate) fn apply_replay(&mut self, replies: &[Row]) -> Result<(), Error> {
        let mut answers = HashMap::with_capacity(replies.len());
        for reply in replies {
            answers.entry(reply.id).or_insert(reply);
            if let Some(row) = self.rows.get(&reply.id) {
                self.check_grammar(row, reply)?;
            }
        }
        let ids: Vec<_> = self.rows.keys().copied().collect();
        for id in ids {
            let row = &self.rows[&id];
            if row.is_late {
                continue;
            }
            let reply = *answers
                .get(&id)
                .ok_or_else(|| cannot_go_on(id, "is not answered"))?;
            if is_for_load(reply) && !row.failed {
                return Err(refused_here(reply));
            }
            if row.is_used && !row.failed && reply.state != State::Compiling {
                stands_where_booked(row, reply)?;
            } else if says_its_place(reply) {
                let kept = row.open.tokens.len();
                self.move_to(&Place {
                    reply,
                    kept,
                    update: None,
                });
            }
        }
        Ok(())
    }

    /// Opens every row as it is booked: in `replay`, whose reply nobody reads but `apply_replay`,
    /// or, where no server had told its place, in `next`, the caller's step behind it, to whose
    /// reply the row's first mask or error then belongs. Rows that `next` moves, forks or takes the
    /// ids of are needed before it.
    pub(crate) fn write_opens(&mut self, replay: &mut v1::Step, next: &mut v1::Step) {
        let needed = rows_needed_by(next);
        for (id, row) in &mut self.rows {
            row.is_late = !row.is_used && !row.failed && !needed.contains(id);
        }
        for row in self.rows.values() {
            let mut open = row.open.clone();
            self.write_text(&mut open);
            if let Some(limit) = row.token_limit {
                let left = limit.saturating_sub(open.tokens.len());
                open.remaining_tokens = Some(left.try_into().unwrap_or(u32::MAX));
            }
            if row.is_late {
                &mut *next
            } else {
                &mut *replay
            }
            .open
            .push(open);
        }
    }
}

/// Reads one answer; without an update for a row that is answered unasked.
fn place_of<'a>(
    update: Option<&'a RowUpdate>,
    reply: &'a Row,
    row: &LedgerRow,
) -> Result<Place<'a>, Error> {
    let before = row.open.tokens.len();
    let mut place = Place {
        reply,
        kept: before,
        update: None,
    };
    if !says_its_place(reply) {
        // Of a row that compiles an update says at most how many tokens are left.
        if reply.state == State::Compiling && reply.error.is_none() {
            place.update = update;
        }
        return Ok(place);
    }
    let of_opening = !row.is_used && refuses_opening(reply, before);
    let moves = update.filter(|_| !of_opening && !refuses_all(reply, before));
    let mut most = before;
    if let Some(update) = moves {
        place.update = Some(update);
        place.kept = before - before.min(update.rollback as usize);
        most = place.kept + update.tokens.len();
    }
    let least = match reply.error {
        Some(_) if !lacks_room(reply) => moves.map_or(0, |_| place.kept),
        _ => most,
    };
    let count = reply.token_count as usize;
    if count < least || count > most {
        return Err(Error::internal(format!(
            "the server says that row {} has taken {count} tokens, not {least} to {most}",
            reply.id
        )));
    }
    Ok(place)
}

fn stands_where_booked(row: &LedgerRow, reply: &Row) -> Result<(), Error> {
    let lacks_room = lacks_room(reply);
    if reply.error.is_some() && !lacks_room {
        return Err(refused_here(reply));
    }
    if reply.masks.is_empty() && !lacks_room {
        return Err(cannot_go_on(reply.id, "has no mask"));
    }
    if reply.token_count as usize != row.open.tokens.len() {
        return Err(cannot_go_on(reply.id, "has not taken its tokens"));
    }
    Ok(())
}

/// The rows that must be there before a step: those that it moves, forks or describes, and those
/// whose ids it takes.
fn rows_needed_by(step: &v1::Step) -> HashSet<RowId> {
    let mut rows: HashSet<_> = step.close.iter().chain(&step.snapshot).copied().collect();
    rows.extend(step.open.iter().map(|open| open.row));
    rows.extend(step.fork.iter().flat_map(|fork| [fork.parent, fork.child]));
    let moved = step
        .rows
        .iter()
        .filter(|each| each.rollback > 0 || !each.tokens.is_empty());
    rows.extend(moved.map(|update| update.row));
    rows
}

/// Whether a row was refused something, or was answered.
fn has_state(replies: &[Row], id: RowId, refused: bool) -> bool {
    replies
        .iter()
        .any(|row| row.id == id && (row.state == State::Refused) == refused)
}

fn cannot_go_on(id: RowId, why: &str) -> Error {
    Error::new(
        Code::Unavailable,
        format!("row {id} cannot go on here: {why}"),
    )
}

/// A server's fault, with the server's own words and its time to come again where it said them.
fn refused_here(reply: &Row) -> Error {
    let Some(said) = &reply.error else {
        return cannot_go_on(reply.id, "is refused");
    };
    Error {
        reason: said.reason.clone(),
        retry_after: said.retry_after,
        ..cannot_go_on(reply.id, &said.message)
    }
}

/// Whether a row was refused for load: the server had no room for its grammar, and may later.
fn is_for_load(reply: &Row) -> bool {
    let is_refused = matches!(reply.state, State::Failed | State::Refused);
    is_refused
        && reply
            .error
            .as_ref()
            .is_some_and(|error| error.retry_after.is_some())
}

/// Whether a row of `before` tokens, which says for the first time where it stands, was opened with
/// one that is refused: it stands before that, and has taken nothing else.
fn refuses_opening(reply: &Row, before: usize) -> bool {
    let refused = reply.refused_token.as_ref().map(|token| token.index);
    reply.error.is_some()
        && refused == Some(reply.token_count)
        && (reply.token_count as usize) < before
}

/// Whether the row's masks, and nothing else, were refused: they would not have fitted.
fn lacks_room(reply: &Row) -> bool {
    let error = reply.error.as_ref();
    error.is_some_and(|error| error.code == Code::ResourceExhausted && error.place == "positions")
}

/// Whether an update of a row of `before` tokens was refused as a whole, its rollback included.
fn refuses_all(reply: &Row, before: usize) -> bool {
    let of_a_token = reply
        .error
        .as_ref()
        .map(|error| error.place.starts_with("tokens["));
    of_a_token == Some(false) && reply.token_count as usize == before && !lacks_room(reply)
}

/// Whether a row says where it stands: with masks, or with an error in their place.
fn says_its_place(reply: &Row) -> bool {
    let is_used = matches!(reply.state, State::Free | State::Active | State::Finished);
    !reply.masks.is_empty() || (is_used && reply.error.is_some())
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
