use std::time::Duration;

use tonic::Status;

use crate::ledger::RowLedger;
use crate::search::{may_move, Opening, Search};
use crate::servers::ServerList;
use crate::spread::{Asker, Offer, Own, Spreader};
use crate::stream::{check_size, MAX_IN_FLIGHT};
use crate::unanswered::UnansweredSteps;
use crate::v1::decode_request::Message as Said;
use crate::v1::{self, DecodeRequest};
use crate::{Code, Error, FailoverOptions, Grammar, GrammarId, Step, StepResult, Stream};

/// How long an old server may take to be told goodbye.
const GOODBYE: Duration = Duration::from_millis(50);

/// How long a server that has fewer streams may take to open the rows.
const SHORTEST_MOVE: Duration = Duration::from_millis(40);
const LONGEST_MOVE: Duration = Duration::from_millis(500);

/// How often it is looked at the servers once more at the start.
const MOST_SETTLES: usize = 3;

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
/// Several servers are asked at once, so those that are silent cost a quarter of a second each. One
/// that refuses for load is asked again when it said, not before. [`Self::submit`] looks for no
/// server: a step that it could not send waits for [`Self::collect`]. A move whose future is dropped
/// is not lost: the next call goes on with it.
///
/// A step under which two servers ended is not sent to a third: its rows have failed (`Internal`,
/// reason `SERVERS_ENDED`) and are closed; other rows and steps go on.
#[derive(Debug)]
pub struct FailoverStream {
    pub(crate) options: FailoverOptions,
    pub(crate) servers: ServerList,
    pub(crate) spreader: Option<Spreader>, // where the stream spreads, once it is open
    pub(crate) stream: Option<Stream>,
    pub(crate) welcome: v1::Welcome,
    left_for: Option<Error>, // why there is no stream, where a server has said so
    pub(crate) search: Option<Search>, // without a stream alone
    pub(crate) opening: Option<Opening>, // of a search, or of a move to a server with fewer streams
    pub(crate) ledger: RowLedger,
    vocabulary: Option<v1::Tokenizer>, // of the first welcome
    pub(crate) unanswered: UnansweredSteps,
    pub(crate) next_step: u64, // a replay takes the number before the oldest step it leads to
    moves: u32,
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
            servers: ServerList::new(options.addresses.clone()),
            options,
            spreader: None,
            stream: None,
            left_for: None,
            search: None,
            opening: None,
            welcome: v1::Welcome::default(),
            ledger: RowLedger::default(),
            vocabulary: None,
            unanswered: UnansweredSteps::default(),
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
        self.servers = ServerList::new(asker.ask(&all, None).await.least_first(&all));
        self.find_server().await?;
        for _ in 0..MOST_SETTLES {
            if !self.settle_once(&mut asker, &all).await {
                break;
            }
        }
        // All begin with the server that had least: they must not all go on to the same one.
        self.servers.shuffle();
        self.moves = 0;
        let spreader = Spreader::new(self.options.clone());
        spreader.come(self.address(), &self.welcome);
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
        let place = place.to_string();
        self.begin_going(&place, stream);
        self.finish_going().await
    }

    /// Sets out to a server that has fewer streams.
    fn begin_going(&mut self, address: &str, mut stream: Stream) {
        stream.set_next(self.next_step - 1);
        let limit = (self.options.step_timeout / 2).clamp(SHORTEST_MOVE, LONGEST_MOVE);
        let _ = self.begin_opening(address, stream, limit); // else there is nothing to finish
    }

    /// Whether the rows have come to the server that has fewer streams; else they stay.
    async fn finish_going(&mut self) -> bool {
        let address = self.opening.as_ref().map(|opening| opening.address.clone());
        let went = self.take_rows().await.is_ok();
        let Some(address) = address.filter(|_| went) else {
            self.ledger.format.clone_from(&self.welcome.grammar_format);
            return false;
        };
        self.servers.choose(&address);
        self.moves += 1;
        true
    }

    /// Does what the spreader waits for: between two steps, when none is in flight and no row
    /// compiles. It goes on with a move whose future was dropped.
    async fn follow_spreader(&mut self) {
        let Some(spreader) = self.spreader.as_ref().filter(|_| self.stream.is_some()) else {
            return;
        };
        let is_wanted = spreader.touch();
        if self.opening.is_none() {
            if !is_wanted || !self.unanswered.is_empty() || !self.ledger.is_settled() {
                return;
            }
            let tokenizer = &self.options.stream.tokenizer;
            spreader.give(|| self.ledger.compile_requests(tokenizer));
            let Some(Offer { address, stream }) = spreader.take() else {
                return;
            };
            self.servers.replace(spreader.servers());
            self.begin_going(&address, stream);
        }
        let to = self.opening.as_ref().map(|opening| opening.address.clone());
        if !self.finish_going().await {
            if let (Some(spreader), Some(to)) = (&self.spreader, to) {
                spreader.leave_alone(&to);
            }
        }
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
        self.servers.address()
    }

    /// Steps submitted and not collected.
    pub fn in_flight(&self) -> usize {
        self.unanswered.len()
    }

    /// How often the rows have moved.
    pub fn moves(&self) -> u32 {
        self.moves
    }

    pub(crate) fn check_vocabulary(
        &mut self,
        welcome: &v1::Welcome,
        address: &str,
    ) -> Result<(), Error> {
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

    /// A step that opens the rows, and the oldest unanswered step behind it, if there is one.
    pub(crate) fn replay(&mut self) -> (v1::Step, Option<v1::Step>) {
        for step in self.unanswered.live_steps_mut() {
            self.ledger.write_texts(step);
            self.ledger.drop_closes(step);
        }
        // A copy, as another server may have to open other rows in it.
        let mut oldest = self.unanswered.live_steps().next().cloned();
        let mut replay = Step::new();
        replay.wait_for_compile(self.options.compile_timeout);
        let mut nothing = v1::Step::default();
        let first = oldest.as_mut().unwrap_or(&mut nothing);
        self.ledger.write_opens(&mut replay.message, first);
        (replay.message, oldest)
    }

    /// Leaves the server in use, which has failed with an error, for another one, or goes on with
    /// that.
    async fn move_on(&mut self, error: &Error) -> Result<(), Error> {
        if self.search.is_none() {
            (self.stream, self.left_for, self.opening) = (None, None, None);
            let here = self.servers.address().to_string();
            self.servers.note(&here, Some(error));
            if let Some(spreader) = &self.spreader {
                self.servers.replace(spreader.servers());
            }
            self.servers.go_on();
            self.moves += 1;
        }
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
        self.unanswered
            .note_end(self.servers.address(), &mut self.ledger);
    }

    /// As [`Stream::submit`]. It may go to a server that has fewer streams.
    ///
    /// # Errors
    /// `FailedPrecondition` (too many in flight), `ResourceExhausted` (larger than the server
    /// takes).
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
        if let Err(error) = self.send(next.clone()).await {
            if error.code == Code::ResourceExhausted || !may_move(&error) {
                return Err(error);
            }
            self.note_end(&error);
            (self.stream, self.left_for) = (None, Some(error));
        }
        self.unanswered.push(next);
        self.next_step += 1;
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
    /// be collected later, and the next call goes on with a move.
    ///
    /// # Errors
    /// `FailedPrecondition` (no step is in flight); those of [`Self::open`], where no server is
    /// left.
    pub async fn collect(&mut self) -> Result<StepResult, Error> {
        if self.unanswered.is_empty() {
            return Err(Error::new(Code::FailedPrecondition, "no step is in flight"));
        }
        while !self.unanswered.is_given_up() {
            let error = match self.collect_here().await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            if self.unanswered.is_given_up() {
                self.stream = None; // the next step finds another server
                break;
            }
            if !may_move(&error) && error.code != Code::FailedPrecondition {
                return Err(error);
            }
            self.move_on(&error).await?;
        }
        self.unanswered
            .answer_given_up()
            .ok_or_else(|| Error::internal("no step is in flight"))
    }

    /// Waits for the server in use, and books what it says.
    async fn collect_here(&mut self) -> Result<StepResult, Error> {
        let oldest = self.unanswered.oldest();
        let waits = Duration::from_millis(oldest.wait_for_compile_ms.into());
        let Some(stream) = &mut self.stream else {
            let none = || Error::new(Code::Unavailable, "no server is in use");
            return Err(self.left_for.clone().unwrap_or_else(none));
        };
        let result = match within(self.options.step_timeout + waits, stream).await {
            Ok(result) => result,
            Err(error) => {
                self.note_end(&error);
                return Err(error);
            }
        };
        self.ledger.apply(oldest, &result.rows)?;
        self.unanswered.pop_first();
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
