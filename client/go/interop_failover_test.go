package maskd

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

func testWrongVocabulary(t *testing.T) {
	pairs, bytes := startServer(t, true), startServer(t, false)
	_, err := bytes.connect(t).OpenStream(t.Context(),
		StreamOptions{LogitsWidth: 2080, TokenizerHash: strings.Repeat("0", 64)})
	expectCode(t, err, codes.FailedPrecondition)
	bytes.connect(t)
	stream := openFailover(t, pairs, bytes)
	pinned := stream.Welcome().GetTokenizer().GetHash()
	pairs.kill()
	_, err = stream.Submit(t.Context(), NewStep())
	if err == nil {
		_, err = stream.Collect(t.Context())
	}
	expectCode(t, err, codes.FailedPrecondition)
	if other := "549865214666861bd3f33839842e48cc81cc3f68229504f1958f5083842f8204"; !strings.Contains(err.Error(), pinned) ||
		!strings.Contains(err.Error(), other) {
		t.Errorf("%v has not both hashes", err)
	}
}

func openFailover(t *testing.T, servers ...*program) *FailoverStream {
	t.Helper()
	options := FailoverOptions{GiveUpAfter: 2 * time.Second}
	for _, server := range servers {
		options.Addresses = append(options.Addresses, server.address)
	}
	return openInOrder(t, options)
}

func openInOrder(t *testing.T, options FailoverOptions) *FailoverStream {
	t.Helper()
	options.InOrder, options.Stream = true, StreamOptions{LogitsWidth: 2080}
	stream, err := OpenFailover(t.Context(), options)
	check(t, err)
	t.Cleanup(func() { _ = stream.Close(context.Background()) })
	return stream
}

// engine writes [a-z]* with two rows, one of them forked from the other, and keeps every mask.
type engine struct {
	submit  func(*Step) error
	collect func() (*Result, error)
	step    *Step
	masks   []string
}

func (e *engine) run(t *testing.T, number int, between func()) {
	t.Helper()
	e.step.Clear()
	letter := TokenID('a' + number%26)
	switch number {
	case 0:
		e.step.Open(1, Regex("([a-z][a-m]?[0-9]?)*")).WaitForCompile(5 * time.Second)
	case 5:
		e.step.Fork(1, 2)
		fallthrough
	default:
		e.step.Take(1, letter)
		if number > 5 {
			e.step.Take(2, letter, '5')
		}
		if number%4 == 3 {
			e.step.Rollback(1, 1)
		}
	}
	check(t, e.submit(e.step))
	between()
	result, err := e.collect()
	check(t, err)
	for _, row := range result.Rows {
		if row.Err != nil || len(row.Masks) != 1 {
			t.Fatalf("step %d: %+v", number, row)
		}
		e.masks = append(e.masks, fmt.Sprint(row.ID, row.TokenCount, row.Masks[0].Words()))
	}
}

func streamEngine(t *testing.T, stream *Stream) *engine {
	return &engine{step: NewStep(),
		submit:  func(step *Step) error { _, err := stream.Submit(step); return err },
		collect: func() (*Result, error) { return stream.Collect(t.Context()) }}
}

func failoverEngine(t *testing.T, stream *FailoverStream) *engine {
	return &engine{step: NewStep(),
		submit:  func(step *Step) error { _, err := stream.Submit(t.Context(), step); return err },
		collect: func() (*Result, error) { return stream.Collect(t.Context()) }}
}

const engineSteps = 40

// undisturbed are the masks of an engine whose server nothing happens to.
func undisturbed(t *testing.T) []string {
	t.Helper()
	alone := streamEngine(t, startServer(t, true).open(t))
	for i := range engineSteps {
		alone.run(t, i, func() {})
	}
	return alone.masks
}

func testFailover(t *testing.T) {
	a, b := startServer(t, true), startServer(t, true)
	expectMove(t, openFailover(t, a, b), a, b.address, a.kill)
}

// expectMove has an engine's server killed under a step: the stream goes on elsewhere, with the masks of one that
// nothing happened to.
func expectMove(t *testing.T, stream *FailoverStream, from *program, to string, kill func()) {
	t.Helper()
	expectMoveOf(t, failoverEngine(t, stream), stream, from, to, kill)
}

func expectMoveOf(t *testing.T, moved *engine, stream *FailoverStream, from *program, to string, kill func()) {
	t.Helper()
	for i := range engineSteps {
		if i == 20 {
			from.stop(t)
		}
		moved.run(t, i, func() {
			if i == 20 {
				kill()
			}
		})
	}
	if stream.Moves() != 1 || stream.Address() != to {
		t.Errorf("%d moves, at %s", stream.Moves(), stream.Address())
	}
	if !slices.Equal(moved.masks, undisturbed(t)) {
		t.Error("the masks differ from those of a stream that nothing happened to")
	}
}

// testLostZone: eight servers between the one that is killed and one that serves take connections and say nothing.
// Each would be given longer than the whole search has.
func testLostZone(t *testing.T) {
	a, b := startServer(t, true), startServer(t, true)
	options := FailoverOptions{Addresses: []string{a.address}, StepTimeout: time.Minute, GiveUpAfter: 20 * time.Second}
	for range 8 {
		path := filepath.Join(t.TempDir(), "l")
		listener, err := net.Listen("unix", path)
		check(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		options.Addresses = append(options.Addresses, "unix:"+path)
	}
	options.Addresses = append(options.Addresses, b.address)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream := openInOrder(t, options)
	engine := failoverEngine(t, stream)
	engine.collect = func() (*Result, error) { return stream.Collect(ctx) }
	expectMoveOf(t, engine, stream, a, b.address, a.kill)
}

// slow is a schema that compiles for many seconds: strings whose length is a multiple of each of five numbers.
func slow(tag string) Grammar {
	var properties []string
	for i := range 2000 {
		var patterns []string
		for _, each := range []int{3, 5, 7, 11, 13} {
			patterns = append(patterns, fmt.Sprintf(`{"pattern": "^%s%d(?:.{%d})*$"}`, tag, i, each))
		}
		properties = append(properties,
			fmt.Sprintf(`"p%d": {"type": "string", "allOf": [%s]}`, i, strings.Join(patterns, ",")))
	}
	return JSONSchema(`{"properties": {` + strings.Join(properties, ",") + `}}`)
}

// fillQueue opens slow grammars until one is refused for the compile queue.
func fillQueue(t *testing.T, holder *Stream) {
	t.Helper()
	for row := range RowID(10) {
		result := run(t, holder, NewStep().Open(row, slow(fmt.Sprint(row, "x"))))
		if len(result.Rows) > 0 && result.Rows[0].State == Failed {
			if result.Rows[0].Err.Reason != "COMPILE_QUEUE_FULL" || result.Rows[0].Err.RetryAfter <= 0 {
				t.Fatalf("%+v", result.Rows[0].Err)
			}
			return
		}
	}
	t.Fatal("the queue does not fill")
}

// testQueueFull: the server to go to refuses the rows for its compile queue, and says when to come again. Before it
// stands a program that ends when it is asked earlier.
func testQueueFull(t *testing.T) {
	a := startServer(t, true)
	full := serve(t, filepath.Join(t.TempDir(), "f"), true, "--compile_threads=1", "--compile_queue=1",
		"--max_compile_work=1000000000")
	path := filepath.Join(t.TempDir(), "e")
	early := start(t, path, "python3", interop+"/early.py", path, full.path(), "200")
	holder := full.open(t)
	fillQueue(t, holder)
	options := FailoverOptions{Addresses: []string{a.address, early.address}, GiveUpAfter: 30 * time.Second}
	expectMove(t, openInOrder(t, options), a, early.address, func() {
		time.AfterFunc(500*time.Millisecond, holder.abandon)
		a.kill()
	})
	if early.hasExited() {
		t.Error("the server was asked before it said")
	}
}

// testSlowServer: each answer of the server to go to comes later than a call waits. It ends when it is asked twice.
func testSlowServer(t *testing.T) {
	a, slow := startServer(t, true), startServer(t, true)
	path := filepath.Join(t.TempDir(), "l")
	stream := openInOrder(t, FailoverOptions{Addresses: []string{a.address, "unix:" + path},
		StepTimeout: time.Minute, GiveUpAfter: time.Minute})
	// It begins now, or a stream that is slow to open would ask it too.
	once := start(t, path, "python3", interop+"/early.py", path, slow.path(), "60000", "200")
	engine := failoverEngine(t, stream)
	engine.collect = func() (*Result, error) {
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			result, err := stream.Collect(ctx)
			cancel()
			if once.hasExited() {
				t.Fatal("the move was begun anew")
			}
			if CodeOf(err) != codes.DeadlineExceeded {
				return result, err
			}
		}
	}
	expectMoveOf(t, engine, stream, a, once.address, a.kill)
}

func testDrain(t *testing.T) {
	a, b, c := startServer(t, true), startServer(t, true), startServer(t, true)
	stream := openFailover(t, a, b, c)
	drained := failoverEngine(t, stream)
	for i := range engineSteps {
		if i == 10 {
			a.signal(syscall.SIGTERM)
		}
		if i == 25 {
			b.signal(syscall.SIGTERM)
		}
		drained.run(t, i, func() { time.Sleep(5 * time.Millisecond) })
	}
	if stream.Address() != c.address {
		t.Errorf("at %s after %d moves", stream.Address(), stream.Moves())
	}
	if !slices.Equal(drained.masks, undisturbed(t)) {
		t.Error("the masks differ from those of a stream that nothing happened to")
	}
}

func testTwoDeaths(t *testing.T) {
	real := startServer(t, true)
	var mortals []*program
	for range 3 {
		path := filepath.Join(t.TempDir(), "m")
		mortals = append(mortals, start(t, path, "python3", interop+"/mortal.py", path,
			real.path(), "deadly"))
	}
	stream := openFailover(t, mortals...)
	both := failoverEngine(t, stream)
	both.run(t, 0, func() {})
	_, err := stream.Submit(t.Context(), NewStep().Open(66, Regex("deadly[0-9]")))
	check(t, err)
	result, err := stream.Collect(t.Context())
	check(t, err)
	row := &result.Rows[0]
	if len(result.Rows) != 1 || row.ID != 66 || row.State != Failed || row.Err.Code != codes.Internal ||
		row.Err.Reason != "SERVERS_ENDED" {
		t.Errorf("%+v", result.Rows)
	}
	both.run(t, 1, func() {})
	if mortals[1].hasExited() && mortals[2].hasExited() {
		t.Error("the third server got the step too")
	}
}

// spreadEngines are streams of a name, whose masks must be those of one that nothing happens to.
type spreadEngines struct {
	streams     []*FailoverStream
	engines     []*engine
	undisturbed *engine
	number      int
}

func (e *spreadEngines) step(t *testing.T) {
	t.Helper()
	e.undisturbed.run(t, e.number, func() {})
	for _, each := range e.engines {
		each.run(t, e.number, func() {})
		if !slices.Equal(each.masks, e.undisturbed.masks) {
			t.Fatalf("other masks in step %d", e.number)
		}
		each.masks = nil
	}
	e.undisturbed.masks = nil
	e.number++
	time.Sleep(10 * time.Millisecond)
}

func (e *spreadEngines) areEven(servers []*program) bool {
	counts := map[string]int{}
	for _, stream := range e.streams {
		counts[stream.Address()]++
	}
	return !slices.ContainsFunc(servers, func(server *program) bool {
		return counts[server.address] != len(e.streams)/len(servers)
	})
}

func (e *spreadEngines) stepUntilEven(t *testing.T, servers []*program) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !e.areEven(servers); e.step(t) {
		if time.Now().After(deadline) {
			t.Fatal("not even")
		}
	}
}

// Twelve streams of a name that has three servers, which are restarted in turn, and then four.
func testBalance(t *testing.T) {
	var known atomic.Pointer[[]string]
	var servers []*program
	add := func() {
		server := startServer(t, true)
		server.connect(t)
		servers = append(servers, server)
		var all []string
		for _, each := range servers {
			all = append(all, each.address)
		}
		known.Store(&all)
	}
	for range 3 {
		add()
	}
	options := FailoverOptions{Addresses: []string{"dns:///maskd.test:7411"},
		Stream:  StreamOptions{LogitsWidth: 2080},
		Resolve: func(context.Context, string) ([]string, error) { return *known.Load(), nil }}
	engines := &spreadEngines{undisturbed: streamEngine(t, startServer(t, true).open(t))}
	for range 12 {
		stream, err := OpenFailover(t.Context(), options)
		check(t, err)
		t.Cleanup(func() { _ = stream.Close(context.Background()) })
		engines.streams = append(engines.streams, stream)
		engines.engines = append(engines.engines, failoverEngine(t, stream))
	}
	if !engines.areEven(servers) {
		t.Fatal("not even at the start")
	}
	engines.step(t)
	for i := range servers {
		servers[i].signal(syscall.SIGTERM)
		for !servers[i].hasExited() {
			engines.step(t)
		}
		servers[i] = serve(t, servers[i].path(), true)
		servers[i].connect(t)
	}
	engines.stepUntilEven(t, servers)
	add()
	engines.stepUntilEven(t, servers)
}
