//! Says each session's steps by the verbs, which must be the golden requests, and reads the golden
//! replies, which must be the golden masks. No server is needed.

use prost::Message;

use crate::reader::MaskReader;
use crate::stream::check_welcome;
use crate::support::{expect_result, load_cases, load_golden, say_all, Case, Snapshots};
use crate::v1::decode_request::Message as Said;
use crate::v1::decode_response::Message as Heard;
use crate::v1::position::Form;
use crate::v1::{self, DecodeRequest, DecodeResponse, Position};
use crate::{Code, Step, StepResult};

fn heard(bytes: &[u8]) -> Heard {
    DecodeResponse::decode(bytes)
        .expect("a response")
        .message
        .expect("something said")
}

fn said(bytes: &[u8]) -> Said {
    DecodeRequest::decode(bytes)
        .expect("a request")
        .message
        .expect("something said")
}

fn run_session(case: &Case) {
    let golden = load_golden(&case.name);
    let hello = case.options().hello();
    assert_eq!(Said::Hello(hello.clone()), said(&golden.hello));
    let Heard::Welcome(welcome) = heard(&golden.welcome) else {
        panic!("no welcome")
    };
    check_welcome(&hello, &welcome).expect("a welcome");
    let mut masks = MaskReader::new(&welcome);
    let mut snapshots = Snapshots::new();
    let mut step = Step::new();
    for (number, (verbs, want)) in (1..).zip(case.steps.iter().zip(&golden.steps)) {
        say_all(&mut step, verbs, &snapshots);
        let message = v1::Step {
            step: number,
            ..step.take_message()
        };
        assert_eq!(Said::Step(message), said(&want.request));
        let Heard::Step(reply) = heard(&want.reply) else {
            panic!("no reply")
        };
        let result = StepResult::read(reply, &mut masks).expect("a reply");
        snapshots.extend(result.snapshots.iter().map(|open| (open.row, open.clone())));
        expect_result(&golden.masks, want, &result);
    }
}

#[test]
fn golden_sessions_are_said_and_read() {
    let sessions: Vec<_> = load_cases()
        .into_iter()
        .filter(|case| case.kind == "session")
        .collect();
    assert!(sessions.len() > 10);
    for case in sessions {
        println!("{}", case.name);
        run_session(&case);
    }
}

fn reader() -> MaskReader {
    let mut masks = MaskReader::new(&v1::Welcome {
        tokenizer: Some(v1::Tokenizer {
            vocab_size: 40,
            ..Default::default()
        }),
        mask_words: 2,
        dictionary_size: 2,
        ..Default::default()
    });
    masks.read(dense(8, Some(0))).expect("a mask");
    masks
}

fn position(form: Form) -> Position {
    Position {
        form: Some(form),
        ..Default::default()
    }
}

fn dense(bytes: usize, dictionary_slot: Option<u32>) -> Position {
    Position {
        dictionary_slot,
        ..position(Form::Dense(vec![1; bytes].into()))
    }
}

fn allowed(ids: &[i32]) -> Position {
    position(Form::AllowedIds(v1::IdList { ids: ids.to_vec() }))
}

fn delta(base: u32, word_indices: &[u32], words: &[u32]) -> Position {
    let (word_indices, words) = (word_indices.to_vec(), words.to_vec());
    position(Form::Delta(v1::MaskDelta {
        base,
        word_indices,
        words,
    }))
}

fn biased(ids: &[i32], bias: f32) -> Position {
    let biases = ids
        .iter()
        .map(|id| v1::LogitBias { id: *id, bias })
        .collect();
    Position {
        biases,
        ..allowed(&[1])
    }
}

#[test]
fn a_broken_position_is_internal() {
    let full = position(Form::Full(true));
    for (name, broken) in [
        ("no form", Position::default()),
        ("too short", dense(4, None)),
        ("too long", dense(9, None)),
        ("id past the vocabulary", allowed(&[40])),
        ("negative id", allowed(&[-1])),
        ("ids that do not ascend", allowed(&[3, 3])),
        ("empty slot", position(Form::SameAs(1))),
        ("slot past the end", position(Form::SameAs(u32::MAX))),
        ("put past the end", dense(8, Some(2))),
        (
            "put what is no mask",
            Position {
                dictionary_slot: Some(1),
                ..full
            },
        ),
        ("delta of an empty slot", delta(1, &[], &[])),
        ("delta past the end", delta(0, &[2], &[1])),
        ("uneven delta", delta(0, &[0, 1], &[1])),
        (
            "temperature",
            Position {
                temperature: Some(f32::NAN),
                ..allowed(&[1])
            },
        ),
        ("bias past the vocabulary", biased(&[40], 1.0)),
        ("bias not finite", biased(&[1], f32::INFINITY)),
        ("biases that do not ascend", biased(&[1, 1], 1.0)),
    ] {
        let error = reader().read(broken).expect_err(name);
        assert_eq!(error.code, Code::Internal, "{name}");
    }
}

#[test]
fn a_mask_that_is_kept_stays_as_it_is() {
    let mut masks = reader();
    let kept = masks.read(position(Form::SameAs(0))).expect("a mask");
    let changed = masks.read(delta(0, &[1], &[0x80])).expect("a mask");
    masks
        .read(Position {
            dictionary_slot: Some(0),
            ..allowed(&[2])
        })
        .expect("a mask");
    assert_eq!(*kept.words().expect("words"), [0x0101_0101, 0x0101_0101]);
    assert_eq!(*changed.words().expect("words"), [0x0101_0101, 0x80]);
}

#[test]
fn token_90_is_word_2() {
    let mut masks = MaskReader::new(&v1::Welcome {
        tokenizer: Some(v1::Tokenizer {
            vocab_size: 128,
            ..Default::default()
        }),
        mask_words: 4,
        ..Default::default()
    });
    let mask = masks.read(allowed(&[90])).expect("a mask");
    assert_eq!(*mask.words().expect("words"), [0, 0, 67_108_864, 0]);
}

#[test]
fn logits_that_are_too_few_are_left_alone() {
    let mask = reader().read(allowed(&[1])).expect("a mask");
    let mut logits = [0.0; 39];
    assert_eq!(
        mask.apply(&mut logits).expect_err("too few").code,
        Code::InvalidArgument
    );
    assert_eq!(logits, [0.0; 39]);
    assert_eq!(
        mask.copy_to(&mut [0]).expect_err("too few").code,
        Code::InvalidArgument
    );
}
