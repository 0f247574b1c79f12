use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::reader::MaskReader;
use crate::v1::decode_request::Message as Said;
use crate::v1::decode_response::Message as Heard;
use crate::v1::mask_service_client::MaskServiceClient;
use crate::v1::{self, DecodeRequest, Hello, RowForm};
use crate::{Code, Error, Options, Step, StepResult};

/// Steps of a stream that may be on their way at once.
pub const MAX_IN_FLIGHT: usize = 64;

const PROTOCOL_VERSION: u32 = 1;

/// What a stream is for.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// Tokenizer by its name. Empty: the server's default.
    pub tokenizer: String,
    /// The hash it must have; `FailedPrecondition` where it differs. Empty: any.
    pub tokenizer_hash: String,
    /// Tokens in a row of logits, at least the tokenizer's size.
    pub logits_width: u32,
    /// Whether masks may come in the short row forms. Without them every mask is dense.
    pub short_forms: bool,
    /// Masks kept for the forms that refer to others. 0: neither is used.
    pub dictionary_size: u32,
    /// Whether positions may carry temperatures.
    pub want_temperature: bool,
    /// Whether positions may carry biases.
    pub want_bias: bool,
    /// Number of the first step, from 1 on.
    pub first_step: u64,
    /// How long the server may take to say welcome.
    pub open_timeout: Duration,
    /// How long [`Stream::collect`] looks for its reply, yielding its core and its task, before it
    /// sleeps.
    pub awake: Duration,
}

impl StreamOptions {
    /// For logits of so many tokens a row, all else at its default.
    pub fn new(logits_width: u32) -> Self {
        Self {
            tokenizer: String::new(),
            tokenizer_hash: String::new(),
            logits_width,
            short_forms: true,
            dictionary_size: 256,
            want_temperature: false,
            want_bias: false,
            first_step: 1,
            open_timeout: Duration::from_secs(10),
            awake: Duration::from_micros(200),
        }
    }

    pub(crate) fn hello(&self) -> Hello {
        let mut hello = Hello {
            protocol_version: PROTOCOL_VERSION,
            tokenizer: self.tokenizer.clone(),
            tokenizer_hash: self.tokenizer_hash.clone(),
            logits_width: self.logits_width,
            want_temperature: self.want_temperature,
            want_bias: self.want_bias,
            ..Hello::default()
        };
        if self.short_forms {
            let forms = [
                RowForm::SameAs,
                RowForm::AllowedIds,
                RowForm::ForbiddenIds,
                RowForm::Delta,
            ];
            hello.row_forms = forms.map(i32::from).to_vec();
            hello.dictionary_size = self.dictionary_size;
        }
        hello
    }
}

/// Holds the welcome to the hello: masks are made as large as it says.
pub(crate) fn check_welcome(hello: &Hello, welcome: &v1::Welcome) -> Result<(), Error> {
    let width = hello.logits_width;
    let size = welcome
        .tokenizer
        .as_ref()
        .map_or(0, |tokenizer| tokenizer.vocab_size);
    if u32::try_from(size).is_ok_and(|size| size <= width)
        && welcome.mask_words == width.div_ceil(32)
        && welcome.dictionary_size <= hello.dictionary_size
    {
        return Ok(());
    }
    Err(Error::internal(format!(
        "the server's welcome is not for {width} logits and {} masks: {size} tokens, {} words, {} \
         masks",
        hello.dictionary_size, welcome.mask_words, welcome.dictionary_size
    )))
}

pub(crate) fn check_size(welcome: &v1::Welcome, request: &DecodeRequest) -> Result<(), Error> {
    let limit = welcome
        .limits
        .as_ref()
        .map_or(0, |limits| limits.max_step_bytes);
    let size = request.encoded_len() as u64;
    if limit == 0 || size <= limit {
        return Ok(());
    }
    let text = format!("step: limit max_step_bytes is {limit}, {size} needed");
    Err(Error::new(Code::ResourceExhausted, text))
}

/// A decode stream: one message a step goes out, one comes back, in order.
///
/// Up to [`MAX_IN_FLIGHT`] steps may be submitted before the first is collected. An error of
/// [`Self::submit`] or [`Self::collect`] is the stream's end, and each later call gives it again,
/// but where they say otherwise. Dropping the stream cancels it.
#[derive(Debug)]
pub struct Stream {
    outbound: mpsc::Sender<DecodeRequest>,
    inbound: Streaming<v1::DecodeResponse>,
    welcome: v1::Welcome,
    masks: MaskReader,
    awake: Duration,
    next: u64,
    in_flight: VecDeque<u64>,
    go_away: Option<v1::GoAway>,
    end: Option<Error>,
}

impl Stream {
    pub(crate) async fn open(
        address: &str,
        connect: &Options,
        options: StreamOptions,
    ) -> Result<Self, Error> {
        let opened = tokio::time::timeout(options.open_timeout, async {
            let channel = connect.dial(address).await?;
            Self::say_hello(channel, connect, &options)
                .await
                .map_err(|error| error.at(address))
        });
        opened.await.unwrap_or_else(|_| {
            Err(Error::from(Status::deadline_exceeded("no welcome in time")).at(address))
        })
    }

    async fn say_hello(
        channel: tonic::transport::Channel,
        connect: &Options,
        options: &StreamOptions,
    ) -> Result<Self, Error> {
        let hello = options.hello();
        let (outbound, messages) = mpsc::channel(MAX_IN_FLIGHT + 1);
        let first = DecodeRequest {
            message: Some(Said::Hello(hello.clone())),
        };
        outbound.try_send(first).expect("an empty channel");
        let mut service =
            MaskServiceClient::new(channel).max_decoding_message_size(connect.max_message_bytes);
        let request = connect.request(ReceiverStream::new(messages))?;
        let mut inbound = service.decode(request).await?.into_inner();
        let Some(Heard::Welcome(welcome)) =
            inbound.message().await?.and_then(|heard| heard.message)
        else {
            return Err(Error::internal(
                "the server said something else than welcome",
            ));
        };
        check_welcome(&hello, &welcome)?;
        Ok(Self {
            outbound,
            inbound,
            masks: MaskReader::new(&welcome),
            welcome,
            awake: options.awake,
            next: options.first_step.max(1),
            in_flight: VecDeque::new(),
            go_away: None,
            end: None,
        })
    }

    /// Numbers the first step, of a stream on which none was sent.
    pub(crate) fn set_next(&mut self, step: u64) {
        self.next = step;
    }

    /// The server's terms: tokenizer, words of a mask, limits.
    pub fn welcome(&self) -> &v1::Welcome {
        &self.welcome
    }

    /// Steps submitted and not collected.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Set once a reply was collected behind which the server has said that it will stop: move the
    /// rows to another one.
    pub fn go_away(&self) -> Option<&v1::GoAway> {
        self.go_away.as_ref()
    }

    /// Sends the step, empties it, and gives its number, which its reply bears.
    ///
    /// # Errors
    /// `FailedPrecondition` (too many in flight) and `ResourceExhausted` (larger than the server
    /// takes), after which the stream goes on and the step is as it was; the stream's end.
    pub async fn submit(&mut self, step: &mut Step) -> Result<u64, Error> {
        if self.in_flight.len() >= MAX_IN_FLIGHT {
            let text = format!("{MAX_IN_FLIGHT} steps are in flight: collect first");
            return Err(Error::new(Code::FailedPrecondition, text));
        }
        match self.send(step.take_message()).await {
            Ok(number) => Ok(number),
            Err((error, message)) => {
                step.message = message;
                Err(error)
            }
        }
    }

    /// Sends a message, or gives it back with the error.
    pub(crate) async fn send(&mut self, mut step: v1::Step) -> Result<u64, (Error, v1::Step)> {
        step.step = self.next;
        let request = DecodeRequest {
            message: Some(Said::Step(step)),
        };
        if let Err(error) = check_size(&self.welcome, &request) {
            return Err((error, step_of(request)));
        }
        if let Err(unsent) = self.outbound.send(request).await {
            return Err((self.read_end().await, step_of(unsent.0)));
        }
        self.in_flight.push_back(self.next);
        self.next += 1;
        Ok(self.next - 1)
    }

    /// Why the stream ended: replies that nobody will collect are read over.
    async fn read_end(&mut self) -> Error {
        while self.end.is_none() {
            let _ = self.read_reply().await;
        }
        self.end.clone().unwrap_or_else(ended)
    }

    /// Waits for the reply to the oldest step that is in flight. The future may be dropped: the
    /// reply can be collected later.
    ///
    /// # Errors
    /// `FailedPrecondition` (none is in flight), `Internal` (the server broke the protocol), the
    /// stream's end.
    pub async fn collect(&mut self) -> Result<StepResult, Error> {
        let Some(due) = self.in_flight.front().copied() else {
            return Err(Error::new(Code::FailedPrecondition, "no step is in flight"));
        };
        let result = self.read_reply().await?;
        if result.step != due {
            let text = format!("the reply to step {due} was due, not {}", result.step);
            return Err(self.end.insert(Error::internal(text)).clone());
        }
        self.in_flight.pop_front();
        Ok(result)
    }

    /// The next reply; what comes before it is kept. An error is the stream's end.
    async fn read_reply(&mut self) -> Result<StepResult, Error> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        loop {
            let heard = match self.hear().await {
                Ok(Some(response)) => response.message,
                Ok(None) => return Err(self.end.insert(ended()).clone()),
                Err(status) => return Err(self.end.insert(status.into()).clone()),
            };
            let read = match heard {
                Some(Heard::GoAway(said)) => {
                    self.go_away = Some(said);
                    continue;
                }
                Some(Heard::Step(reply)) => StepResult::read(reply, &mut self.masks),
                _ => Err(Error::internal("the server sent what nobody asked for")),
            };
            return read.map_err(|error| self.end.insert(error).clone());
        }
    }

    /// The next message. While it may soon be here, it is looked for again and again: a thread that
    /// sleeps is woken some 10 us late.
    async fn hear(&mut self) -> Result<Option<v1::DecodeResponse>, Status> {
        let begin = Instant::now();
        let mut message = pin!(self.inbound.message());
        while begin.elapsed() < self.awake {
            let looked = poll_fn(|context| Poll::Ready(message.as_mut().poll(context)));
            if let Poll::Ready(heard) = looked.await {
                return heard;
            }
            std::thread::yield_now(); // the server may share this core
            tokio::task::yield_now().await; // and the connection's task this thread
        }
        message.await
    }

    /// Says goodbye and waits for the stream's end; replies in flight are dropped.
    ///
    /// # Errors
    /// What the server ended the stream with, unless it is nothing.
    pub async fn close(mut self) -> Result<(), Error> {
        let (nobody, _) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.outbound, nobody));
        let end = self.read_end().await;
        if end == ended() {
            Ok(())
        } else {
            Err(end)
        }
    }
}

fn step_of(request: DecodeRequest) -> v1::Step {
    match request.message {
        Some(Said::Step(step)) => step,
        _ => v1::Step::default(),
    }
}

fn ended() -> Error {
    Error::new(Code::Unavailable, "the server ended the stream")
}
