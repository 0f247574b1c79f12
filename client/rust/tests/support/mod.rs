//! The interop list of `tests/interop`, read and said by this client's verbs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use maskd::{v1, Grammar, GrammarId, Mask, OpenOptions, Row, Step, StepResult, StreamOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// A case of `cases.json`.
#[derive(Deserialize, Clone)]
pub struct Case {
    pub name: String,
    pub kind: String,
    #[serde(default)]
    stream: StreamCase,
    #[serde(default)]
    pub steps: Vec<Vec<Verb>>,
}

#[derive(Deserialize, Clone, Default)]
struct StreamCase {
    logits_width: u32,
    short_forms: Option<bool>,
    dictionary_size: Option<u32>,
    want_temperature: Option<bool>,
    want_bias: Option<bool>,
}

impl Case {
    pub fn options(&self) -> StreamOptions {
        let mut options = StreamOptions::new(self.stream.logits_width);
        options.short_forms = self.stream.short_forms.unwrap_or(true);
        options.dictionary_size = self.stream.dictionary_size.unwrap_or(256);
        options.want_temperature = self.stream.want_temperature.unwrap_or(false);
        options.want_bias = self.stream.want_bias.unwrap_or(false);
        options
    }
}

#[derive(Deserialize, Clone)]
pub struct Verb {
    verb: String,
    #[serde(default)]
    row: u64,
    #[serde(default = "one")]
    rows: u64,
    #[serde(default)]
    child: u64,
    #[serde(default)]
    tokens: Vec<i32>,
    #[serde(default)]
    parents: Vec<i32>,
    #[serde(default)]
    count: u32,
    #[serde(default)]
    ms: u64,
    grammar_id: Option<String>,
    grammar: Option<Source>,
    #[serde(default)]
    stop_ids: Vec<i32>,
    #[serde(default)]
    min_tokens: u32,
    remaining_tokens: Option<u32>,
    reasoning: Option<Reasoning>,
    temperature: Option<f32>,
    #[serde(default)]
    biases: Vec<Bias>,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize, Clone)]
struct Source {
    kind: String,
    source: String,
}

#[derive(Deserialize, Clone)]
struct Reasoning {
    end_tokens: Vec<i32>,
    max_tokens: Option<u32>,
}

#[derive(Deserialize, Clone)]
pub struct Bias {
    id: i32,
    bias: f32,
}

fn wire(biases: &[Bias]) -> Vec<v1::LogitBias> {
    biases
        .iter()
        .map(|each| v1::LogitBias {
            id: each.id,
            bias: each.bias,
        })
        .collect()
}

/// Rows as the last reply that described them had them.
pub type Snapshots = HashMap<u64, v1::OpenRow>;

impl Verb {
    fn open(&self, step: &mut Step, row: u64) {
        let options = OpenOptions {
            tokens: self.tokens.clone(),
            stop_ids: self.stop_ids.clone(),
            min_tokens: self.min_tokens,
            remaining_tokens: self.remaining_tokens,
            temperature: self.temperature,
            biases: wire(&self.biases),
            reasoning: self.reasoning.clone().map(|each| v1::ReasoningGate {
                end_tokens: each.end_tokens,
                max_tokens: each.max_tokens,
                ..Default::default()
            }),
            ..OpenOptions::default()
        };
        match (&self.grammar_id, &self.grammar) {
            (Some(id), _) => step.open_with(row, GrammarId::from(id.as_str()), options),
            (None, Some(text)) => {
                let grammar = Grammar::new(text.kind.as_str(), text.source.as_str());
                step.open_with(row, grammar, options)
            }
            (None, None) => panic!("row {row} has no grammar"),
        };
    }

    fn say(&self, step: &mut Step, row: u64, snapshots: &Snapshots) {
        match self.verb.as_str() {
            "open" => self.open(step, row),
            "open_snapshot" => drop(step.open_snapshot(snapshots[&row].clone())),
            "take" => drop(step.take(row, &self.tokens)),
            "rollback" => drop(step.rollback(row, self.count)),
            "remaining" => drop(step.set_remaining(row, self.count)),
            "draft" => drop(step.draft(row, &self.tokens, &self.parents)),
            "want_forced" => drop(step.want_forced(row)),
            "snapshot" => drop(step.snapshot(row)),
            "fork" => drop(step.fork(row, self.child)),
            "close" => drop(step.close(row)),
            "wait" => drop(step.wait_for_compile(Duration::from_millis(self.ms))),
            other => panic!("no verb {other}"),
        }
    }
}

pub fn say_all(step: &mut Step, verbs: &[Verb], snapshots: &Snapshots) {
    for verb in verbs {
        for row in verb.row..verb.row + verb.rows {
            verb.say(step, row, snapshots);
        }
    }
}

fn drop<T>(_: T) {}

/// What a server answered to a session: `golden/NAME.json`.
#[derive(Deserialize)]
#[allow(dead_code)] // the bytes are for the unit tests
pub struct Golden {
    #[serde(deserialize_with = "base64")]
    pub hello: Vec<u8>,
    #[serde(deserialize_with = "base64")]
    pub welcome: Vec<u8>,
    pub masks: Vec<String>,
    pub steps: Vec<GoldenStep>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
pub struct GoldenStep {
    #[serde(deserialize_with = "base64")]
    pub request: Vec<u8>,
    #[serde(deserialize_with = "base64")]
    pub reply: Vec<u8>,
    rows: Vec<GoldenRow>,
    snapshots: Vec<u64>,
}

#[derive(Deserialize)]
struct GoldenRow {
    row: u64,
    count: u64,
    state: String,
    token_count: u32,
    may_end: bool,
    positions: Vec<GoldenPosition>,
    accepted_drafts: Option<u32>,
    error: Option<GoldenError>,
    #[serde(default)]
    forced_tokens: Vec<i32>,
    #[serde(default)]
    forced_draft: Vec<i32>,
}

#[derive(Deserialize)]
struct GoldenError {
    code: i32,
    reason: String,
    place: String,
    token: Option<GoldenToken>,
}

#[derive(Deserialize)]
struct GoldenToken {
    index: u32,
    id: i32,
}

#[derive(Deserialize)]
struct GoldenPosition {
    mask: Option<usize>,
    #[serde(default)]
    full: bool,
    #[serde(default)]
    invalid: bool,
    temperature: Option<f32>,
    #[serde(default)]
    biases: Vec<Bias>,
}

fn base64<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u8>, D::Error> {
    use base64::Engine;
    let text = String::deserialize(from)?;
    base64::prelude::BASE64_STANDARD
        .decode(text)
        .map_err(serde::de::Error::custom)
}

/// The folder of the list.
pub fn interop() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop")
}

#[allow(dead_code)] // beyond the list for the unit tests
pub fn load<T: DeserializeOwned>(name: &str) -> T {
    let text = std::fs::read_to_string(interop().join(name)).expect("a file of the list");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub fn load_cases() -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Case>,
    }
    load::<File>("cases.json").cases
}

pub fn load_golden(name: &str) -> Golden {
    load(&format!("golden/{name}.json"))
}

/// The words of a mask in hexadecimal digits of its bytes.
fn words_of(digits: &str) -> Vec<u32> {
    let byte = |at: usize| u32::from_str_radix(&digits[at..at + 2], 16).expect("digits");
    let word = |at: usize| (0..4).map(|i| byte(at + 2 * i) << (8 * i)).sum();
    (0..digits.len()).step_by(8).map(word).collect()
}

/// Holds a result to what every client must make of the reply.
pub fn expect_result(masks: &[String], want: &GoldenStep, got: &StepResult) {
    let snapshots: Vec<_> = got.snapshots.iter().map(|open| open.row).collect();
    assert_eq!(snapshots, want.snapshots);
    let mut rows = got.rows.iter();
    for row in &want.rows {
        for i in 0..row.count {
            expect_row(
                masks,
                row,
                row.row + i,
                rows.next().expect("an answer more"),
            );
        }
    }
    assert!(rows.next().is_none(), "an answer too many");
}

fn expect_row(masks: &[String], want: &GoldenRow, id: u64, got: &Row) {
    let state = got.state.as_str_name().trim_start_matches("ROW_STATE_");
    assert_eq!((got.id, state), (id, want.state.as_str()));
    assert_eq!(
        (got.token_count, got.may_end),
        (want.token_count, want.may_end),
        "row {id}"
    );
    assert_eq!(got.accepted_drafts, want.accepted_drafts, "row {id}");
    assert_eq!(got.forced_tokens, want.forced_tokens);
    assert_eq!(got.forced_draft, want.forced_draft);
    assert_eq!(got.error.is_some(), want.error.is_some(), "{:?}", got.error);
    if let (Some(got_error), Some(error)) = (&got.error, &want.error) {
        assert_eq!(got_error.code as i32, error.code);
        assert_eq!(
            (&got_error.reason, &got_error.place),
            (&error.reason, &error.place)
        );
        if let Some(token) = &error.token {
            let refused = got.refused_token.as_ref().expect("a token");
            assert_eq!((refused.index, refused.id), (token.index, token.id));
        }
    }
    assert_eq!(got.masks.len(), want.positions.len(), "row {id}");
    for (position, mask) in want.positions.iter().zip(&got.masks) {
        expect_mask(masks, position, mask);
    }
}

fn expect_mask(masks: &[String], want: &GoldenPosition, got: &Mask) {
    assert_eq!((got.is_full(), got.is_invalid()), (want.full, want.invalid));
    assert_eq!(got.temperature(), want.temperature);
    assert_eq!(got.biases(), wire(&want.biases));
    let Some(index) = want.mask else {
        assert!(got.words().is_none());
        return;
    };
    let words = words_of(&masks[index]);
    assert_eq!(*got.words().expect("words"), words, "{:?}", got.form());
    let mut row = vec![7; words.len() + 2];
    got.copy_to(&mut row).expect("room");
    assert_eq!(row, [words.as_slice(), &[0, 0]].concat());
    expect_applied(&words, want, got);
}

/// Masks logits wider than the words.
fn expect_applied(words: &[u32], want: &GoldenPosition, mask: &Mask) {
    let mut logits: Vec<f32> = (0..32 * words.len() + 5).map(|i| i as f32 + 1.0).collect();
    mask.apply(&mut logits).expect("enough logits");
    for (i, got) in logits.into_iter().enumerate() {
        let mut expected = f32::NEG_INFINITY;
        if words
            .get(i / 32)
            .is_some_and(|word| word >> (i % 32) & 1 == 1)
        {
            expected = i as f32 + 1.0;
            let bias = want.biases.iter().find(|bias| bias.id as usize == i);
            expected += bias.map_or(0.0, |bias| bias.bias);
            expected /= want.temperature.filter(|value| *value > 0.0).unwrap_or(1.0);
        }
        assert_eq!(got, expected, "logit {i}");
    }
}
