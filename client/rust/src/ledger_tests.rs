//! What the ledger books and what it does not.

use std::time::Duration;

use super::*;
use crate::{Grammar, GrammarId, Step};

fn answer(tokens: u32, grammar_id: Option<&str>) -> Row {
    let mask = crate::reader::MaskReader::new(&v1::Welcome::default())
        .read(v1::Position {
            form: Some(v1::position::Form::Full(true)),
            ..Default::default()
        })
        .expect("a mask");
    Row {
        state: State::Active,
        error: None,
        token_count: tokens,
        masks: vec![mask],
        grammar_id: grammar_id.map(GrammarId::from),
        ..Row::failed(1, Error::internal(""))
    }
}

/// Row 1 stands at tokens 10 and 11 of its grammar g1.
fn opened() -> RowLedger {
    let mut ledger = RowLedger::default();
    let mut step = Step::new();
    step.open(1, Grammar::regex("a*")).take(1, &[10, 11]);
    ledger
        .apply(&step.message, &[answer(2, Some("g1"))])
        .expect("a reply");
    ledger
}

fn taking(tokens: &[i32]) -> v1::Step {
    Step::new().take(1, tokens).message.clone()
}

#[test]
fn books_what_replies_say() {
    let mut ledger = opened();
    let step = Step::new()
        .rollback(1, 1)
        .take(1, &[12, 13])
        .message
        .clone();
    ledger.apply(&step, &[answer(3, None)]).expect("a reply");
    assert_eq!(ledger.rows[&1].open.tokens, [10, 12, 13]);
}

#[test]
fn keeps_what_a_refused_token_leaves() {
    let mut ledger = opened();
    let place = "tokens[1]".to_string();
    let error = Some(Error {
        place,
        ..Error::new(Code::InvalidArgument, "")
    });
    ledger
        .apply(
            &taking(&[12, 13]),
            &[Row {
                error,
                ..answer(3, None)
            }],
        )
        .expect("a reply");
    assert_eq!(ledger.rows[&1].open.tokens, [10, 11, 12]);
}

#[test]
fn books_no_lie() {
    let twice = vec![answer(3, None), answer(3, None)];
    for mut replies in [vec![answer(4, None)], vec![answer(2, None)], twice] {
        let mut ledger = opened();
        let mut step = taking(&[12]);
        step.open.push(OpenRow {
            row: 2,
            ..OpenRow::default()
        });
        replies.push(Row {
            id: 2,
            state: State::Compiling,
            masks: vec![],
            ..answer(0, None)
        });
        let error = ledger.apply(&step, &replies).expect_err("a lie");
        assert_eq!(error.code, Code::Internal);
        assert_eq!(ledger.rows.len(), 1);
        assert_eq!(ledger.rows[&1].open.tokens, [10, 11]);
    }
}

#[test]
fn pins_the_grammar() {
    let mut ledger = opened();
    let error = ledger
        .apply_replay(&[answer(2, Some("g2"))])
        .expect_err("another grammar");
    assert_eq!(error.code, Code::FailedPrecondition);
    ledger.format = "another".to_string();
    ledger
        .apply_replay(&[answer(2, Some("g2"))])
        .expect("the text is believed");
}

#[test]
fn forks_are_independent() {
    let mut ledger = opened();
    ledger
        .apply(Step::new().fork(1, 2).message_ref(), &[])
        .expect("a reply");
    ledger
        .apply(&taking(&[12]), &[answer(3, None)])
        .expect("a reply");
    assert_eq!(ledger.rows[&1].open.tokens.len(), 3);
    assert_eq!(ledger.rows[&2].open.tokens.len(), 2);
}

#[test]
fn counts_what_is_left() {
    let mut ledger = opened();
    let step = Step::new()
        .set_remaining(1, 9)
        .take(1, &[12])
        .message
        .clone();
    ledger.apply(&step, &[answer(3, None)]).expect("a reply");
    ledger
        .apply(&taking(&[13, 14]), &[answer(5, None)])
        .expect("a reply");
    let mut replay = v1::Step::default();
    ledger.write_opens(&mut replay, &mut v1::Step::default());
    assert_eq!(replay.open[0].remaining_tokens, Some(7));
}

#[test]
fn gives_up_the_steps_rows() {
    let mut ledger = opened();
    let mut step = taking(&[5]);
    step.open.push(OpenRow {
        row: 3,
        ..OpenRow::default()
    });
    assert_eq!(ledger.give_up(&step), [3, 1]);
    assert!(ledger.rows.is_empty());
    let mut closing = Step::new().close(1).close(4).message.clone();
    ledger.drop_closes(&mut closing);
    assert_eq!(closing.close, [4]);
}

/// A refusal for load speaks against the server, not against the row, and keeps its time.
#[test]
fn keeps_when_a_server_that_has_no_room_may_be_asked_again() {
    let after = Some(Duration::from_millis(200));
    let full = Error {
        reason: "COMPILE_QUEUE_FULL".to_string(),
        retry_after: after,
        ..Error::new(Code::ResourceExhausted, "full")
    };
    let refused = [Row::failed(1, full)];
    let compiling = || {
        let mut ledger = RowLedger::default();
        let mut step = v1::Step::default();
        step.open.push(OpenRow {
            row: 1,
            ..OpenRow::default()
        });
        let reply = Row {
            state: State::Compiling,
            masks: vec![],
            ..answer(0, None)
        };
        ledger.apply(&step, &[reply]).expect("a reply");
        ledger
    };
    let mut late = compiling();
    late.write_opens(&mut v1::Step::default(), &mut v1::Step::default());
    for booked in [
        opened().apply_replay(&refused),
        compiling().apply_replay(&refused),
        late.apply(&v1::Step::default(), &refused),
    ] {
        let error = booked.expect_err("no room");
        assert_eq!(error.code, Code::Unavailable);
        assert_eq!(error.reason, "COMPILE_QUEUE_FULL");
        assert_eq!(error.retry_after, after);
    }
}

impl Step {
    fn message_ref(&self) -> &v1::Step {
        &self.message
    }
}
