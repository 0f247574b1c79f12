package maskd

import (
	"context"
	"slices"
	"strings"
	"time"

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
// Several servers are asked at once, so those that are silent cost a quarter of a second each. One that refuses
// for load is asked again when it said, not before. Submit looks for no server: a step that it could not send waits
// for Collect, whose context bounds what it does of the search. The next Collect goes on with one that took longer.
//
// A step under which two servers ended is not sent to a third: its rows have failed (Internal, reason
// SERVERS_ENDED) and are closed; other rows and steps go on.
//
// For one goroutine at a time.
type FailoverStream struct {
	options    FailoverOptions
	servers    serverList
	spreader   *spreader // where the stream spreads, once it is open
	stream     *Stream
	search     *search  // without a stream alone
	opening    *opening // of a search, or of a move to a server with fewer streams
	leftFor    error    // why there is no stream, where a server has said so
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
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	stream := &FailoverStream{options: options, servers: newServerList(slices.Clone(options.Addresses)),
		ledger: newRowLedger(), nextStep: 2}
	if options.spreads() {
		err = stream.openSpread(ctx)
	} else {
		err = stream.findServer(ctx)
	}
	if err != nil {
		stream.endSearch()
		return nil, err
	}
	return stream, nil
}

// Remember keeps the text of a grammar: a server that does not have its id is told the text.
func (f *FailoverStream) Remember(id GrammarID, grammar Grammar) {
	f.ledger.grammars[string(id)] = grammar.message()
}

// Welcome is that of the server in use, or of the last one that was.
func (f *FailoverStream) Welcome() *pb.Welcome { return f.welcome }

// Address is that of the server in use, or that is tried next.
func (f *FailoverStream) Address() string { return f.servers.address() }

// InFlight is how many steps are submitted and not collected.
func (f *FailoverStream) InFlight() int { return len(f.unanswered) }

// Moves is how often the rows have moved.
func (f *FailoverStream) Moves() int { return f.moves }

func (f *FailoverStream) live() []*sentStep { return f.unanswered[f.givenUp:] }

// move leaves the server in use, which has failed with `said`, for another one, or goes on with that.
func (f *FailoverStream) move(ctx context.Context, said error) error {
	if f.search == nil {
		f.leave(nil)
		f.servers.note(f.Address(), said)
		f.takeServers()
		f.servers.goOn()
		f.moves++
	}
	return f.findServer(ctx)
}

// takeServers takes the servers that there are now.
func (f *FailoverStream) takeServers() {
	if f.spreader != nil {
		f.servers.replace(f.spreader.known())
	}
}

func (f *FailoverStream) leave(why error) {
	f.leftFor = why
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

// Submit is Stream.Submit. It may go to a server that has fewer streams, for which the context is.
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
	if err := f.send(next.step); err != nil {
		if CodeOf(err) == codes.ResourceExhausted || !mayMove(err) {
			return 0, err
		}
		f.noteEnd(err)
		f.leave(err)
	}
	f.unanswered = append(f.unanswered, next)
	f.nextStep++
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

// Collect is Stream.Collect; it may move. The context's end is the caller's: the stream stays as it is, and the next
// Collect goes on with a move.
func (f *FailoverStream) Collect(ctx context.Context) (*Result, error) {
	if len(f.unanswered) == 0 {
		return nil, errorf(codes.FailedPrecondition, "no step is in flight")
	}
	for f.givenUp == 0 {
		result, err := f.collectHere(ctx)
		if err == nil {
			f.unanswered = f.unanswered[1:]
			return result, nil
		}
		if f.givenUp > 0 {
			f.leave(nil) // the next step finds another server
			break
		}
		if ctx.Err() != nil {
			return nil, fromCall(ctx.Err())
		}
		if !mayMove(err) && CodeOf(err) != codes.FailedPrecondition {
			return nil, err
		}
		if err := f.move(ctx, err); err != nil {
			return nil, err
		}
	}
	return f.answerGivenUp(), nil
}

// collectHere waits for the server in use, and books what it says.
func (f *FailoverStream) collectHere(ctx context.Context) (*Result, error) {
	if f.stream == nil {
		return nil, either(f.leftFor, errorf(codes.Unavailable, "no server is in use"))
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
	f.endSearch()
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
