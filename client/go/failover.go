package maskd

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

const (
	// How long an old server may take to be told goodbye.
	goodbye = 50 * time.Millisecond
	// How many servers may end under a step.
	mostEnds = 2
)

// FailoverOptions says between which servers a stream may move, and when.
type FailoverOptions struct {
	// Addresses, at least one, as of Connect.
	Addresses []string
	// InOrder tries them as listed, and the stream stays where it is. Else it goes where there are few streams,
	// also later on: after a restart, or when a server has come to those of a name.
	InOrder bool
	// Stream is what the stream is for.
	Stream StreamOptions
	// Connect is how the servers are reached.
	Connect Options
	// StepTimeout: a server that has not answered a step for so long is given up. 0: 2 s.
	StepTimeout time.Duration
	// GiveUpAfter is how long a server that serves is looked for. 0: 10 s.
	GiveUpAfter time.Duration
	// CompileTimeout is how long the replayed rows' grammars may compile on the new server. 0: 10 s.
	CompileTimeout time.Duration
	// Retry has the waits between two rounds over the addresses, each with jitter.
	Retry RetryPolicy
	// LookEvery is how often the stream looks at the servers, at least. 0: 4 s.
	LookEvery time.Duration
	// Resolve gives the servers of an address. Nil: those that DNS has for a name.
	Resolve func(ctx context.Context, address string) ([]string, error)
}

// FailoverStream is a decode stream that outlives its servers: when one breaks, stops answering or says that
// it will stop, the rows are opened with their tokens on the next address and the masks go on, bit for bit.
//
// A step without a reply is sent again to the new server, whose rows stand where the last reply said: no token
// is taken twice, none is lost. Rows opened by text, or whose text Remember was told, need nothing of the new
// server; rows opened by id alone need the grammar to be there.
//
// Masks mean what they meant: the first welcome's vocabulary (hash and size) and the grammar of each row's
// first reply are kept. A server that differs is refused with both values and the next address is tried;
// FailedPrecondition where none is left.
//
// It goes to a server that has fewer between two steps, when none is in flight and no row compiles; one that
// does not take the rows in half a second is left for the old one, which still has them.
//
// A step under which two servers ended is not sent to a third: its rows have failed (Internal, reason
// SERVERS_ENDED) and are closed; other rows and steps go on.
//
// For one goroutine at a time.
type FailoverStream struct {
	options    FailoverOptions
	servers    []string
	at         int
	spreader   *spreader // where the stream spreads, once it is open
	stream     *Stream
	welcome    *pb.Welcome
	ledger     *rowLedger
	vocabulary *pb.Tokenizer // of the first welcome
	unanswered []*sentStep
	givenUp    int    // of them, the oldest
	nextStep   uint64 // a replay takes the number before the oldest step it leads to
	moves      int
}

// sentStep is a step without a reply.
type sentStep struct {
	step   *pb.Step
	ended  []string // the servers that ended under it
	failed []RowID  // its rows, once it is given up
}

// OpenFailover opens on the first address that serves. Errors: InvalidArgument (no address), those of
// OpenStream that another server would give too; else the last server's, after GiveUpAfter without one that
// serves.
func OpenFailover(ctx context.Context, options FailoverOptions) (*FailoverStream, error) {
	if len(options.Addresses) == 0 {
		return nil, errorf(codes.InvalidArgument, "addresses: is empty")
	}
	options.Addresses = slices.Clone(options.Addresses)
	options.Connect = options.Connect.withDefaults()
	options.Retry = options.Retry.withDefaults()
	setDefault(&options.StepTimeout, 2*time.Second)
	setDefault(&options.GiveUpAfter, 10*time.Second)
	setDefault(&options.CompileTimeout, 10*time.Second)
	setDefault(&options.Stream.OpenTimeout, 10*time.Second)
	setDefault(&options.LookEvery, 4*time.Second)
	if options.Resolve == nil {
		options.Resolve = resolveByDNS
	}
	stream := &FailoverStream{options: options, servers: options.Addresses, ledger: newRowLedger(), nextStep: 2}
	if !stream.spreads() {
		if err := stream.findServer(ctx); err != nil {
			return nil, err
		}
		return stream, nil
	}
	if err := stream.openSpread(ctx); err != nil {
		return nil, err
	}
	return stream, nil
}

func (f *FailoverStream) spreads() bool {
	return !f.options.InOrder && (len(f.options.Addresses) > 1 || isName(f.options.Addresses[0]))
}

// openSpread opens where there are the fewest streams, and looks once more behind its own opening: of many that
// open together the last sees all.
func (f *FailoverStream) openSpread(ctx context.Context) error {
	asker := asker{connect: f.options.Connect, connections: map[string]*grpc.ClientConn{}}
	defer asker.close()
	all := serversOf(ctx, &f.options)
	first := asker.ask(ctx, all, nil)
	f.servers = first.leastFirst(all)
	if err := f.findServer(ctx); err != nil {
		return err
	}
	for range 3 {
		if f.welcome.StreamNumber == nil {
			break
		}
		said := asker.ask(ctx, all, &ownStream{f.Address(), f.welcome.GetStreamNumber()})
		place := said.placeFor(f.Address())
		if place == "" {
			break
		}
		stream, err := openStream(ctx, place, f.options.Connect, f.options.Stream)
		if err != nil || !f.goTo(ctx, &offer{place, stream}) {
			break
		}
	}
	// All begin with the server that had least: they must not all go on to the same one.
	here := f.Address()
	rand.Shuffle(len(f.servers), func(i, j int) { f.servers[i], f.servers[j] = f.servers[j], f.servers[i] })
	f.setAddress(here)
	f.moves = 0
	f.spreader = newSpreader(ctx, f.options)
	f.spreader.use(f.Address(), f.welcome)
	return nil
}

func (f *FailoverStream) setAddress(address string) {
	f.at = slices.Index(f.servers, address)
	if f.at < 0 {
		f.at = len(f.servers)
		f.servers = append(f.servers, address)
	}
}

// goTo brings the rows to a server that has fewer streams; false: they stay.
func (f *FailoverStream) goTo(ctx context.Context, to *offer) bool {
	before, from := f.stream, f.Address()
	atMost := min(max(f.options.StepTimeout/2, shortestMove), longestMove)
	limited, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	f.setAddress(to.address)
	to.stream.next = f.nextStep - 1
	if err := f.settle(limited, to.stream); err != nil {
		to.stream.abandon()
		f.setAddress(from)
		f.ledger.format = f.welcome.GetGrammarFormat()
		return false
	}
	f.stream, f.welcome = to.stream, to.stream.Welcome()
	f.moves++
	before.abandon()
	return true
}

// followSpreader does what the spreader waits for.
func (f *FailoverStream) followSpreader(ctx context.Context) {
	s := f.spreader
	if s == nil || f.stream == nil {
		return
	}
	s.steps.Add(1)
	if !s.news.Load() || len(f.unanswered) > 0 || !f.ledger.isSettled() {
		return
	}
	s.give(func() []*pb.CompileRequest { return f.ledger.compileRequests(f.options.Stream.Tokenizer) })
	to := s.take()
	if to == nil {
		return
	}
	f.takeServers()
	if f.goTo(ctx, to) {
		s.use(f.Address(), f.welcome)
	} else {
		s.leaveAlone(to.address)
	}
}

// takeServers takes the servers that there are now, in the order of before.
func (f *FailoverStream) takeServers() {
	if f.spreader == nil {
		return
	}
	now := f.spreader.known()
	if len(now) == 0 {
		return
	}
	here := f.Address()
	f.servers = slices.DeleteFunc(f.servers, func(server string) bool {
		return server != here && !slices.Contains(now, server)
	})
	for _, server := range now {
		if !slices.Contains(f.servers, server) {
			f.servers = slices.Insert(f.servers, rand.IntN(len(f.servers)+1), server)
		}
	}
	f.setAddress(here)
}

// Remember keeps the text of a grammar: a server that does not have its id is told the text.
func (f *FailoverStream) Remember(id GrammarID, grammar Grammar) {
	f.ledger.grammars[string(id)] = grammar.message()
}

// Welcome is that of the server in use, or of the last one that was.
func (f *FailoverStream) Welcome() *pb.Welcome { return f.welcome }

// Address is that of the server in use, or that is tried next.
func (f *FailoverStream) Address() string { return f.servers[f.at] }

// InFlight is how many steps are submitted and not collected.
func (f *FailoverStream) InFlight() int { return len(f.unanswered) }

// Moves is how often the rows have moved.
func (f *FailoverStream) Moves() int { return f.moves }

// mayMove is whether another server may do better: this one is gone, silent, full, or broken.
func mayMove(err error) bool {
	switch CodeOf(err) {
	case codes.Unavailable, codes.Canceled, codes.Aborted, codes.DeadlineExceeded, codes.ResourceExhausted,
		codes.Internal, codes.Unknown:
		return true
	default:
		return false
	}
}

func (f *FailoverStream) live() []*sentStep { return f.unanswered[f.givenUp:] }

// findServer takes the addresses in turn, from the one in use on.
func (f *FailoverStream) findServer(ctx context.Context) error {
	deadline := time.Now().Add(f.options.GiveUpAfter)
	delay := f.options.Retry.FirstDelay
	var differs error // what the last server said that means other masks
	differing := 0    // such servers in this round
	for tries := 1; ; tries++ {
		err := f.openHere(ctx)
		isOther := CodeOf(err) == codes.FailedPrecondition
		if err == nil || !isOther && !mayMove(err) || ctx.Err() != nil {
			return err
		}
		if isOther {
			differs = err
			differing++
		}
		f.at = (f.at + 1) % len(f.servers)
		if tries%len(f.servers) != 0 {
			continue
		}
		if differing == len(f.servers) {
			return differs
		}
		differing = 0
		wait := time.Duration((0.5 + rand.Float64()/2) * float64(delay))
		if time.Now().Add(wait).After(deadline) || sleep(ctx, wait) != nil {
			if differs != nil {
				return differs
			}
			return err
		}
		delay = min(2*delay, f.options.Retry.MaxDelay)
	}
}

func (f *FailoverStream) checkVocabulary(welcome *pb.Welcome) error {
	here := welcome.GetTokenizer()
	if f.vocabulary == nil {
		if here.GetHash() != "" {
			f.vocabulary = here
		}
		return nil
	}
	if here.GetHash() == f.vocabulary.GetHash() && here.GetVocabSize() == f.vocabulary.GetVocabSize() {
		return nil
	}
	return errorf(codes.FailedPrecondition,
		"%s: its tokenizer %q has %d tokens and the hash %s; the stream's has %d tokens and the hash %s",
		f.Address(), here.GetName(), here.GetVocabSize(), here.GetHash(), f.vocabulary.GetVocabSize(),
		f.vocabulary.GetHash())
}

// openHere opens on the address in use and brings the rows and the unanswered steps there.
func (f *FailoverStream) openHere(ctx context.Context) error {
	options := f.options.Stream
	options.FirstStep = f.nextStep - uint64(len(f.live())) - 1
	options.OpenTimeout = min(options.OpenTimeout, f.options.StepTimeout)
	stream, err := openStream(ctx, f.Address(), f.options.Connect, options)
	if err != nil {
		return err
	}
	if err := f.settle(ctx, stream); err != nil {
		stream.abandon()
		return err
	}
	f.stream, f.welcome = stream, stream.Welcome()
	if f.spreader != nil {
		f.spreader.use(f.Address(), f.welcome)
	}
	return nil
}

func (f *FailoverStream) settle(ctx context.Context, stream *Stream) error {
	if err := f.checkVocabulary(stream.Welcome()); err != nil {
		return err
	}
	f.ledger.format = stream.Welcome().GetGrammarFormat()
	if err := f.replay(ctx, stream); err != nil {
		return err
	}
	for i, sent := range f.live() {
		if i == 0 {
			continue // went with the replay
		}
		if _, err := stream.submit(sent.step); err != nil {
			return err
		}
	}
	return nil
}

// replay opens the rows and sends the oldest unanswered step, if there is one. The replay's reply is dropped:
// what it says has been said of each row. A row that cannot go on here speaks against this server.
func (f *FailoverStream) replay(ctx context.Context, stream *Stream) error {
	oldest := &pb.Step{}
	for i, sent := range f.live() {
		f.ledger.writeTexts(sent.step)
		f.ledger.dropCloses(sent.step)
		if i == 0 {
			oldest = proto.CloneOf(sent.step) // another server may have to open other rows in it
		}
	}
	replay := NewStep().WaitForCompile(f.options.CompileTimeout)
	f.ledger.writeOpens(&replay.message, oldest)
	if _, err := stream.Submit(replay); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.options.CompileTimeout+f.options.StepTimeout)
	defer cancel()
	replayed, err := stream.Collect(limited)
	if err != nil {
		return err
	}
	if err := f.ledger.applyReplay(replayed.Rows); err != nil {
		return at(f.Address(), err)
	}
	if len(f.live()) == 0 {
		return nil
	}
	_, err = stream.submit(oldest)
	return err
}

// move takes the next address and all of the above.
func (f *FailoverStream) move(ctx context.Context) error {
	f.leave()
	f.takeServers()
	f.at = (f.at + 1) % len(f.servers)
	f.moves++
	return f.findServer(ctx)
}

func (f *FailoverStream) leave() {
	if f.stream != nil {
		f.stream.abandon()
		f.stream = nil
	}
}

// noteEnd notes that the server in use ended, if it did, under the steps it was to answer. Those that ended
// as they had said do not count.
func (f *FailoverStream) noteEnd(err error) {
	code := CodeOf(err)
	isEnd := code == codes.Unavailable || code == codes.Unknown
	if f.stream == nil || !isEnd || f.stream.GoAway() != nil {
		return
	}
	for _, sent := range f.live() {
		sent.ended = append(sent.ended, f.Address())
		if len(sent.ended) < mostEnds {
			continue
		}
		sent.failed = f.ledger.giveUp(sent.step)
		f.givenUp++ // an older step saw no fewer ends, so these are the oldest
	}
}

// answerGivenUp answers the oldest step, which is given up.
func (f *FailoverStream) answerGivenUp() *Result {
	sent := f.unanswered[0]
	result := &Result{Step: sent.step.GetStep()}
	message := "the servers " + strings.Join(sent.ended, " and ") +
		" ended under a step of this row: it is not sent to another"
	for _, id := range sent.failed {
		result.Rows = append(result.Rows, Row{ID: id, State: Failed,
			Err: &Error{Code: codes.Internal, Reason: "SERVERS_ENDED", Message: message}})
	}
	f.unanswered = f.unanswered[1:]
	f.givenUp--
	return result
}

// Submit is Stream.Submit; it may move, for which the context is.
func (f *FailoverStream) Submit(ctx context.Context, step *Step) (uint64, error) {
	if len(f.unanswered) >= MaxInFlight {
		return 0, errorf(codes.FailedPrecondition, "%d steps are in flight: collect first", MaxInFlight)
	}
	if f.stream != nil && f.stream.GoAway() != nil && len(f.unanswered) == 0 {
		limited, cancel := context.WithTimeout(ctx, goodbye)
		_ = f.stream.Close(limited)
		cancel()
		f.stream = nil
	}
	f.followSpreader(ctx)
	next := &sentStep{step: proto.CloneOf(&step.message)}
	if f.moves > 0 {
		f.ledger.writeTexts(next.step)
	}
	f.ledger.dropCloses(next.step)
	next.step.Step = f.nextStep
	err := f.send(next.step)
	if err != nil && (CodeOf(err) == codes.ResourceExhausted || !mayMove(err)) {
		return 0, err
	}
	if err != nil {
		f.noteEnd(err)
	}
	f.unanswered = append(f.unanswered, next)
	f.nextStep++
	if f.stream == nil || err != nil {
		if err := f.move(ctx); err != nil {
			f.unanswered = f.unanswered[:len(f.unanswered)-1]
			f.nextStep--
			return 0, err
		}
	}
	return f.nextStep - 1, nil
}

func (f *FailoverStream) send(step *pb.Step) error {
	if f.stream == nil {
		request := &pb.DecodeRequest{Message: &pb.DecodeRequest_Step{Step: step}}
		return checkSize(f.welcome, request)
	}
	_, err := f.stream.submit(step)
	return err
}

// Collect is Stream.Collect. The context's end is the caller's: the stream stays as it is.
func (f *FailoverStream) Collect(ctx context.Context) (*Result, error) {
	if len(f.unanswered) == 0 {
		return nil, errorf(codes.FailedPrecondition, "no step is in flight")
	}
	for moves := 0; f.givenUp == 0; moves++ {
		result, err := f.collectHere(ctx)
		if err == nil {
			f.unanswered = f.unanswered[1:]
			return result, nil
		}
		if f.givenUp > 0 {
			f.leave() // the next step finds another server
			break
		}
		if ctx.Err() != nil {
			return nil, fromCall(ctx.Err())
		}
		if !mayMove(err) && CodeOf(err) != codes.FailedPrecondition {
			return nil, err
		}
		if err := f.move(ctx); err != nil {
			return nil, err
		}
	}
	return f.answerGivenUp(), nil
}

// collectHere waits for the server in use, and books what it says.
func (f *FailoverStream) collectHere(ctx context.Context) (*Result, error) {
	if f.stream == nil {
		return nil, errorf(codes.Unavailable, "no server is in use")
	}
	oldest := f.unanswered[0].step
	patience := f.options.StepTimeout + time.Duration(oldest.GetWaitForCompileMs())*time.Millisecond
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	result, err := f.stream.Collect(limited)
	if err != nil {
		f.noteEnd(err)
		return nil, err
	}
	return result, f.ledger.apply(oldest, result.Rows)
}

// Close is Stream.Close.
func (f *FailoverStream) Close(ctx context.Context) error {
	f.unanswered, f.givenUp = nil, 0
	if f.spreader != nil {
		f.spreader.close()
		f.spreader = nil
	}
	if f.stream == nil {
		return nil
	}
	err := f.stream.Close(ctx)
	f.stream = nil
	return err
}
