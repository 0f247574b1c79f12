use std::collections::VecDeque;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::Rng;
use tokio::time::Instant;
use tonic::Status;

use crate::client::jittered;
use crate::ledger::RowLedger;
use crate::resolve::is_name;
use crate::spread::{Asker, Offer, Own, Spreader};
use crate::stream::{check_size, MAX_IN_FLIGHT};
use crate::v1::decode_request::Message as Said;
use crate::v1::{self, DecodeRequest};
use crate::{
    Code, Error, Grammar, GrammarId, Options, Resolver, RetryPolicy, Row, RowId, Step, StepResult,
    Stream, StreamOptions,
};

/// How long an old server may take to be told goodbye.
const GOODBYE: Duration = Duration::from_millis(50);

/// How many servers may end under a step.
const MOST_ENDS: usize = 2;

/// How long a server that has fewer streams may take to open the rows.
const SHORTEST_MOVE: Duration = Duration::from_millis(40);
const LONGEST_MOVE: Duration = Duration::from_millis(500);

/// How often it is looked at the servers once more at the start.
const MOST_SETTLES: usize = 3;

/// Between which servers a stream may move, and when.
#[derive(Debug, Clone)]
pub struct FailoverOptions {
    /// At least one, as of `Client::connect`.
    pub addresses: Vec<String>,
    /// Whether they are tried as listed, and the stream stays where it is. Else it goes where there
    /// are few streams, also later on: after a restart, or when a server has come to those of a
    /// name.
    pub in_order: bool,
    /// What the stream is for.
    pub stream: StreamOptions,
    /// How the servers are reached.
    pub connect: Options,
    /// A server that has not answered a step for so long is given up.
    pub step_timeout: Duration,
    /// How long a server that serves is looked for.
    pub give_up_after: Duration,
    /// How long the replayed rows' grammars may compile on the new server.
    pub compile_timeout: Duration,
    /// Waits between two rounds over the addresses, each with jitter.
    pub retry: RetryPolicy,
    /// How often the stream looks at the servers, at least.
    pub look_every: Duration,
    /// Gives the servers of an address.
    pub resolve: Resolver,
}

impl FailoverOptions {
    /// For these servers, all else at its default.
    pub fn new<T: Into<String>>(
        addresses: impl IntoIterator<Item = T>,
        stream: StreamOptions,
    ) -> Self {
        Self {
            addresses: addresses.into_iter().map(Into::into).collect(),
            in_order: false,
            stream,
            connect: Options::default(),
            step_timeout: Duration::from_secs(2),
            give_up_after: Duration::from_secs(10),
            compile_timeout: Duration::from_secs(10),
            retry: RetryPolicy::default(),
            look_every: Duration::from_secs(4),
            resolve: Resolver::default(),
        }
    }

    fn spreads(&self) -> bool {
        !self.in_order && (self.addresses.len() > 1 || is_name(&self.addresses[0]))
    }
}

/// A decode stream that outlives its servers: when one breaks, stops answering or says that it will
/// stop, the rows are opened with their tokens on the next address and the masks go on, bit for bit.
///
/// A step without a reply is sent again to the new server, whose rows stand where the last reply
/// said: no token is taken twice, none is lost. Rows opened by text, or whose text
/// [`Self::remember`] was told, need nothing of the new server; rows opened by id alone need the
/// grammar to be there.
///
/// Masks mean what they meant: the first welcome's vocabulary (hash and size) and the grammar of
/// each row's first reply are kept. A server that differs is refused with both values and the next
/// address is tried; `FailedPrecondition` where none is left.
///
/// It goes to a server that has fewer streams between two steps, when none is in flight and no row
/// compiles. One that does not take the rows in half a second is left for the old one, which still
/// has them. A task of the runtime prepares that, and ends with the stream.
///
/// A step under which two servers ended is not sent to a third: its rows have failed (`Internal`,
/// reason `SERVERS_ENDED`) and are closed; other rows and steps go on.
#[derive(Debug)]
pub struct FailoverStream {
    options: FailoverOptions,
    servers: Vec<String>,
    at: usize,
    spreader: Option<Spreader>, // where the stream spreads, once it is open
    stream: Option<Stream>,
    welcome: v1::Welcome,
    ledger: RowLedger,
    vocabulary: Option<v1::Tokenizer>, // of the first welcome
    unanswered: VecDeque<Sent>,
    given_up: usize, // of them, the oldest
    next_step: u64,  // a replay takes the number before the oldest step it leads to
    moves: u32,
}

/// A step without a reply.
#[derive(Debug)]
struct Sent {
    step: v1::Step,
    ended: Vec<String>, // the servers that ended under it
    failed: Vec<RowId>, // its rows, once it is given up
}

/// Whether another server may do better: this one is gone, silent, full, or broken.
fn may_move(error: &Error) -> bool {
    matches!(
        error.code,
        Code::Unavailable
            | Code::Cancelled
            | Code::Aborted
            | Code::DeadlineExceeded
            | Code::ResourceExhausted
            | Code::Internal
            | Code::Unknown
    )
}

impl FailoverStream {
    /// Opens on the first address that serves, or where there are the fewest streams.
    ///
    /// # Errors
    /// `InvalidArgument` (no address), those of a stream's opening that another server would give
    /// too; else the last server's, after `give_up_after` without one that serves.
    pub async fn open(options: FailoverOptions) -> Result<Self, Error> {
        if options.addresses.is_empty() {
            return Err(Error::new(Code::InvalidArgument, "addresses: is empty"));
        }
        let mut stream = Self {
            servers: options.addresses.clone(),
            options,
            at: 0,
            spreader: None,
            stream: None,
            welcome: v1::Welcome::default(),
            ledger: RowLedger::default(),
            vocabulary: None,
            unanswered: VecDeque::new(),
            given_up: 0,
            next_step: 2,
            moves: 0,
        };
        if stream.options.spreads() {
            stream.open_spread().await?;
        } else {
            stream.find_server().await?;
        }
        Ok(stream)
    }

    /// Opens where there are the fewest streams, and looks once more behind its own opening: of
    /// many that open together the last sees all.
    async fn open_spread(&mut self) -> Result<(), Error> {
        let mut asker = Asker::new(self.options.connect.clone());
        let FailoverOptions {
            addresses, resolve, ..
        } = &self.options;
        let all = resolve.servers_of(addresses).await;
        self.servers = asker.ask(&all, None).await.least_first(&all);
        self.find_server().await?;
        for _ in 0..MOST_SETTLES {
            if !self.settle_once(&mut asker, &all).await {
                break;
            }
        }
        // All begin with the server that had least: they must not all go on to the same one.
        let here = self.address().to_string();
        self.servers.shuffle(&mut rand::rng());
        self.set_address(&here);
        self.moves = 0;
        let spreader = Spreader::new(self.options.clone());
        spreader.come(&here, &self.welcome);
        self.spreader = Some(spreader);
        Ok(())
    }

    /// Goes to a server that has fewer streams, if there is one and it lets the stream in.
    async fn settle_once(&mut self, asker: &mut Asker, all: &[String]) -> bool {
        let Some(number) = self.welcome.stream_number else {
            return false;
        };
        let address = self.address().to_string();
        let own = Own { address, number };
        let loads = asker.ask(all, Some(&own)).await;
        let Some(place) = loads.place_for(&own.address) else {
            return false;
        };
        let options = self.options.stream.clone();
        let Ok(stream) = Stream::open(place, &self.options.connect, options).await else {
            return false;
        };
        let address = place.to_string();
        self.go_to(Offer { address, stream }).await
    }

    fn set_address(&mut self, address: &str) {
        let at = self.servers.iter().position(|server| server == address);
        self.at = at.unwrap_or(self.servers.len());
        if at.is_none() {
            self.servers.push(address.to_string());
        }
    }

    /// Brings the rows to a server that has fewer streams; false: they stay.
    async fn go_to(&mut self, offer: Offer) -> bool {
        let Offer {
            address,
            mut stream,
        } = offer;
        stream.set_next(self.next_step - 1);
        let limit = (self.options.step_timeout / 2).clamp(SHORTEST_MOVE, LONGEST_MOVE);
        let settled = tokio::time::timeout(limit, self.settle(&mut stream, &address)).await;
        if !matches!(settled, Ok(Ok(()))) {
            self.ledger.format.clone_from(&self.welcome.grammar_format);
            return false;
        }
        self.set_address(&address);
        self.welcome = stream.welcome().clone();
        self.stream = Some(stream);
        self.moves += 1;
        true
    }

    /// Does what the spreader waits for: between two steps, when none is in flight and no row
    /// compiles.
    async fn follow_spreader(&mut self) {
        let Some(spreader) = self.spreader.as_ref().filter(|_| self.stream.is_some()) else {
            return;
        };
        // A submit that was dropped on the way to another server may have left the format of that one.
        if self.ledger.format != self.welcome.grammar_format {
            self.ledger.format.clone_from(&self.welcome.grammar_format);
        }
        let is_wanted = spreader.touch();
        if !is_wanted || !self.unanswered.is_empty() || !self.ledger.is_settled() {
            return;
        }
        let tokenizer = &self.options.stream.tokenizer;
        spreader.give(|| self.ledger.compile_requests(tokenizer));
        let Some(offer) = spreader.take() else {
            return;
        };
        self.take_servers();
        let address = offer.address.clone();
        let went = self.go_to(offer).await;
        if let Some(spreader) = &self.spreader {
            if went {
                spreader.come(&address, &self.welcome);
            } else {
                spreader.leave_alone(&address);
            }
        }
    }

    /// Takes the servers that there are now, in the order of before.
    fn take_servers(&mut self) {
        let now = self.spreader.as_ref().map(Spreader::servers);
        let Some(now) = now.filter(|now| !now.is_empty()) else {
            return;
        };
        let here = self.address().to_string();
        self.servers
            .retain(|server| *server == here || now.contains(server));
        for server in now {
            if !self.servers.contains(&server) {
                let at = rand::rng().random_range(0..=self.servers.len());
                self.servers.insert(at, server);
            }
        }
        self.set_address(&here);
    }

    /// Keeps the text of a grammar: a server that does not have its id is told the text.
    pub fn remember(&mut self, id: GrammarId, grammar: Grammar) {
        self.ledger.grammars.insert(id.0, grammar.into());
    }

    /// Of the server in use, or of the last one that was.
    pub fn welcome(&self) -> &v1::Welcome {
        &self.welcome
    }

    /// Of the server in use, or that is tried next.
    pub fn address(&self) -> &str {
        &self.servers[self.at]
    }

    /// Steps submitted and not collected.
    pub fn in_flight(&self) -> usize {
        self.unanswered.len()
    }

    /// How often the rows have moved.
    pub fn moves(&self) -> u32 {
        self.moves
    }

    /// The steps that a server is still to answer.
    fn live(&self) -> usize {
        self.unanswered.len() - self.given_up
    }

    /// Takes the addresses in turn, from the one in use on.
    async fn find_server(&mut self) -> Result<(), Error> {
        let deadline = Instant::now() + self.options.give_up_after;
        let count = self.servers.len();
        let mut delay = self.options.retry.first_delay;
        let mut differs = None; // what the last server said that means other masks
        let mut differing = 0; // such servers in this round
        for tries in 1.. {
            let Err(error) = self.open_here().await else {
                return Ok(());
            };
            let is_other = error.code == Code::FailedPrecondition;
            if !is_other && !may_move(&error) {
                return Err(error);
            }
            if is_other {
                differs = Some(error.clone());
                differing += 1;
            }
            self.at = (self.at + 1) % count;
            if tries % count != 0 {
                continue;
            }
            let wait = jittered(delay);
            if differing == count || Instant::now() + wait > deadline {
                return Err(differs.unwrap_or(error));
            }
            differing = 0;
            tokio::time::sleep(wait).await;
            delay = (2 * delay).min(self.options.retry.max_delay);
        }
        Ok(())
    }

    fn check_vocabulary(&mut self, welcome: &v1::Welcome, address: &str) -> Result<(), Error> {
        let here = welcome.tokenizer.clone().unwrap_or_default();
        let Some(own) = &self.vocabulary else {
            self.vocabulary = Some(here).filter(|here| !here.hash.is_empty());
            return Ok(());
        };
        if here.hash == own.hash && here.vocab_size == own.vocab_size {
            return Ok(());
        }
        let text = format!(
            "{address}: its tokenizer {:?} has {} tokens and the hash {}; the stream's has {} \
             tokens and the hash {}",
            here.name, here.vocab_size, here.hash, own.vocab_size, own.hash
        );
        Err(Error::new(Code::FailedPrecondition, text))
    }

    /// Opens on the address in use and brings the rows and the unanswered steps there.
    async fn open_here(&mut self) -> Result<(), Error> {
        let mut options = self.options.stream.clone();
        options.first_step = self.next_step - self.live() as u64 - 1;
        options.open_timeout = options.open_timeout.min(self.options.step_timeout);
        let address = self.address().to_string();
        let mut stream = Stream::open(&address, &self.options.connect, options).await?;
        self.settle(&mut stream, &address).await?;
        self.welcome = stream.welcome().clone();
        self.stream = Some(stream);
        if let Some(spreader) = &self.spreader {
            spreader.come(&address, &self.welcome);
        }
        Ok(())
    }

    /// Brings the rows and the unanswered steps to a stream that has just been opened.
    async fn settle(&mut self, stream: &mut Stream, address: &str) -> Result<(), Error> {
        self.check_vocabulary(stream.welcome(), address)?;
        self.ledger
            .format
            .clone_from(&stream.welcome().grammar_format);
        let replayed = self.replay(stream).await;
        replayed.map_err(|error| error.at(address))?;
        for sent in self.unanswered.iter().skip(self.given_up + 1) {
            stream
                .send(sent.step.clone())
                .await
                .map_err(|(error, _)| error)?;
        }
        Ok(())
    }

    /// Opens the rows and sends the oldest unanswered step, if there is one. The replay's reply is
    /// dropped: what it says has been said of each row. A row that cannot go on here speaks against
    /// this server.
    async fn replay(&mut self, stream: &mut Stream) -> Result<(), Error> {
        for sent in self.unanswered.iter_mut().skip(self.given_up) {
            self.ledger.write_texts(&mut sent.step);
            self.ledger.drop_closes(&mut sent.step);
        }
        // A copy, as another server may have to open other rows in it.
        let oldest = self
            .unanswered
            .get(self.given_up)
            .map(|sent| sent.step.clone());
        let is_there = oldest.is_some();
        let mut oldest = oldest.unwrap_or_default();
        let mut replay = Step::new();
        replay.wait_for_compile(self.options.compile_timeout);
        self.ledger.write_opens(&mut replay.message, &mut oldest);
        stream.submit(&mut replay).await?;
        let limit = self.options.compile_timeout + self.options.step_timeout;
        let replayed = within(limit, stream).await?;
        self.ledger.apply_replay(&replayed.rows)?;
        if is_there {
            stream.send(oldest).await.map_err(|(error, _)| error)?;
        }
        Ok(())
    }

    /// Takes the next address and all of the above.
    async fn move_on(&mut self) -> Result<(), Error> {
        self.stream = None;
        self.take_servers();
        self.at = (self.at + 1) % self.servers.len();
        self.moves += 1;
        self.find_server().await
    }

    /// Notes that the server in use ended, if it did, under the steps it was to answer. Those that
    /// ended as they had said do not count.
    fn note_end(&mut self, error: &Error) {
        let is_end = matches!(error.code, Code::Unavailable | Code::Unknown);
        let Some(stream) = self.stream.as_ref().filter(|_| is_end) else {
            return;
        };
        if stream.go_away().is_some() {
            return;
        }
        let address = self.address().to_string();
        for sent in self.unanswered.iter_mut().skip(self.given_up) {
            sent.ended.push(address.clone());
            if sent.ended.len() >= MOST_ENDS {
                sent.failed = self.ledger.give_up(&sent.step);
                self.given_up += 1; // an older step saw no fewer ends, so these are the oldest
            }
        }
    }

    /// Answers the oldest step, which is given up.
    fn answer_given_up(&mut self) -> Option<StepResult> {
        let sent = self.unanswered.pop_front()?;
        self.given_up -= 1;
        let text = format!(
            "the servers {} ended under a step of this row: it is not sent to another",
            sent.ended.join(" and ")
        );
        let reason = "SERVERS_ENDED".to_string();
        let error = Error {
            reason,
            ..Error::internal(text)
        };
        let rows = sent
            .failed
            .iter()
            .map(|id| Row::failed(*id, error.clone()))
            .collect();
        Some(StepResult {
            step: sent.step.step,
            rows,
            snapshots: Vec::new(),
        })
    }

    /// As [`Stream::submit`]; it may move.
    ///
    /// # Errors
    /// `FailedPrecondition` (too many in flight), `ResourceExhausted` (larger than the server
    /// takes); those of [`Self::open`], where no server is left.
    pub async fn submit(&mut self, step: &mut Step) -> Result<u64, Error> {
        if self.unanswered.len() >= MAX_IN_FLIGHT {
            let text = format!("{MAX_IN_FLIGHT} steps are in flight: collect first");
            return Err(Error::new(Code::FailedPrecondition, text));
        }
        self.follow_notice().await;
        self.follow_spreader().await;
        let mut next = step.message.clone();
        if self.moves > 0 {
            self.ledger.write_texts(&mut next);
        }
        self.ledger.drop_closes(&mut next);
        next.step = self.next_step;
        let sent = self.send(next.clone()).await;
        if let Err(error) = &sent {
            if error.code == Code::ResourceExhausted || !may_move(error) {
                return Err(error.clone());
            }
            self.note_end(error);
        }
        let was_sent = sent.is_ok() && self.stream.is_some();
        self.unanswered.push_back(Sent {
            step: next,
            ended: Vec::new(),
            failed: Vec::new(),
        });
        self.next_step += 1;
        if !was_sent {
            if let Err(error) = self.move_on().await {
                self.unanswered.pop_back();
                self.next_step -= 1;
                return Err(error);
            }
        }
        step.clear();
        Ok(self.next_step - 1)
    }

    /// Leaves a server that has said that it will stop, as soon as no step is in flight.
    async fn follow_notice(&mut self) {
        let goes_away = self
            .stream
            .as_ref()
            .is_some_and(|stream| stream.go_away().is_some());
        if goes_away && self.unanswered.is_empty() {
            if let Some(stream) = self.stream.take() {
                let _ = tokio::time::timeout(GOODBYE, stream.close()).await;
            }
        }
    }

    async fn send(&mut self, step: v1::Step) -> Result<(), Error> {
        match &mut self.stream {
            Some(stream) => stream
                .send(step)
                .await
                .map(drop)
                .map_err(|(error, _)| error),
            None => {
                let request = DecodeRequest {
                    message: Some(Said::Step(step)),
                };
                check_size(&self.welcome, &request)
            }
        }
    }

    /// As [`Stream::collect`]; it may move. The future may be dropped: what it was waiting for can
    /// be collected later.
    ///
    /// # Errors
    /// `FailedPrecondition` (no step is in flight); those of [`Self::open`], where no server is
    /// left.
    pub async fn collect(&mut self) -> Result<StepResult, Error> {
        if self.unanswered.is_empty() {
            return Err(Error::new(Code::FailedPrecondition, "no step is in flight"));
        }
        while self.given_up == 0 {
            let error = match self.collect_here().await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            if self.given_up > 0 {
                self.stream = None; // the next step finds another server
                break;
            }
            if !may_move(&error) && error.code != Code::FailedPrecondition {
                return Err(error);
            }
            self.move_on().await?;
        }
        self.answer_given_up()
            .ok_or_else(|| Error::internal("no step is in flight"))
    }

    /// Waits for the server in use, and books what it says.
    async fn collect_here(&mut self) -> Result<StepResult, Error> {
        let oldest = &self.unanswered[0].step;
        let waits = Duration::from_millis(oldest.wait_for_compile_ms.into());
        let Some(stream) = &mut self.stream else {
            return Err(Error::new(Code::Unavailable, "no server is in use"));
        };
        let result = match within(self.options.step_timeout + waits, stream).await {
            Ok(result) => result,
            Err(error) => {
                self.note_end(&error);
                return Err(error);
            }
        };
        self.ledger.apply(oldest, &result.rows)?;
        self.unanswered.pop_front();
        Ok(result)
    }

    /// As [`Stream::close`].
    ///
    /// # Errors
    /// What the server ended the stream with, unless it is nothing.
    pub async fn close(self) -> Result<(), Error> {
        match self.stream {
            Some(stream) => stream.close().await,
            None => Ok(()),
        }
    }
}

async fn within(limit: Duration, stream: &mut Stream) -> Result<StepResult, Error> {
    tokio::time::timeout(limit, stream.collect())
        .await
        .unwrap_or_else(|_| {
            Err(Error::from(Status::deadline_exceeded(
                "the server has not answered in time",
            )))
        })
}
