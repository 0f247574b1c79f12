package maskd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	pb "maskd.io/maskd/maskdv1"
)

// TestInterop runs the interop list against real servers (MASKD_SERVER: the program's path).
func TestInterop(t *testing.T) {
	if os.Getenv("MASKD_SERVER") == "" {
		t.Skip("MASKD_SERVER is not set: run scripts/test-clients go")
	}
	scenarios := map[string]func(*testing.T){
		"width_refused": testWidthRefused, "compile_and_check": testCompileAndCheck,
		"compile_refused": testCompileRefused, "tokens": testTokens, "cancel": testCancel,
		"deadline": testDeadline, "go_away": testGoAway, "wrong_vocabulary": testWrongVocabulary,
		"failover": testFailover, "two_deaths": testTwoDeaths, "drain": testDrain, "balance": testBalance,
	}
	server := startServer(t, true)
	for _, each := range loadCases(t) {
		t.Run(each.Name, func(t *testing.T) {
			if each.Kind == "session" {
				testSession(t, server, each)
			} else if scenario := scenarios[each.Name]; scenario != nil {
				scenario(t)
			} else {
				t.Fatal("this client has no such scenario")
			}
		})
	}
}

// program is a process of a test, and the address that it serves.
type program struct {
	address string
	process *os.Process
	exited  chan struct{}
}

func start(t *testing.T, path string, command ...string) *program {
	t.Helper()
	process := exec.Command(command[0], command[1:]...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	started := &program{address: "unix:" + path, process: process.Process, exited: make(chan struct{})}
	go func() {
		_ = process.Wait()
		close(started.exited)
	}()
	t.Cleanup(func() {
		started.signal(syscall.SIGKILL)
		<-started.exited
	})
	for range 2000 {
		if _, err := os.Stat(path); err == nil {
			return started
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%v does not listen", command)
	return nil
}

func (p *program) path() string { return strings.TrimPrefix(p.address, "unix:") }

func (p *program) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *program) signal(signal syscall.Signal) { _ = p.process.Signal(signal) }

// stop halts the process, and waits until each of its threads stands.
func (p *program) stop(t *testing.T) {
	t.Helper()
	p.signal(syscall.SIGSTOP)
	for range 2000 {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.process.Pid))
		check(t, err)
		if !slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && !strings.Contains(string(text), ") T ")
		}) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the server does not stand still")
}

// kill ends the process and waits until it has.
func (p *program) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// startServer starts a server with the vocabulary of the cases, or with the embedded one.
func startServer(t *testing.T, withPairs bool) *program {
	t.Helper()
	return serve(t, filepath.Join(t.TempDir(), "s"), withPairs)
}

// serve starts a server at a path, the first time or once more.
func serve(t *testing.T, path string, withPairs bool) *program {
	t.Helper()
	command := []string{os.Getenv("MASKD_SERVER"), "--listen=unix:" + path, "--metrics_listen=", "--heap_mib=0"}
	if withPairs {
		command = append(command, "--tokenizer=pairs="+interop+"/pairs.tiktoken,special=<end>:256,stop=<end>")
	}
	return start(t, path, command...)
}

func (p *program) connect(t *testing.T) *Client {
	t.Helper()
	client, err := Connect(t.Context(), p.address, &Options{WaitForServer: 10 * time.Second})
	check(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (p *program) open(t *testing.T) *Stream {
	t.Helper()
	stream, err := p.connect(t).OpenStream(t.Context(), StreamOptions{LogitsWidth: 2080})
	check(t, err)
	t.Cleanup(func() { stream.abandon() })
	return stream
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expectCode(t *testing.T, err error, code codes.Code) {
	t.Helper()
	if CodeOf(err) != code {
		t.Fatalf("error %v, want %v", err, code)
	}
}

func run(t *testing.T, stream *Stream, step *Step) *Result {
	t.Helper()
	_, err := stream.Submit(step)
	check(t, err)
	result, err := stream.Collect(t.Context())
	check(t, err)
	return result
}

func testSession(t *testing.T, server *program, each interopCase) {
	golden := loadGolden(t, each.Name)
	stream, err := server.connect(t).OpenStream(t.Context(), each.Stream.options())
	check(t, err)
	step, snapshots := NewStep(), map[RowID]*pb.OpenRow{}
	for i, verbs := range each.Steps {
		result := run(t, stream, sayAll(t, step.Clear(), verbs, snapshots))
		for _, snapshot := range result.Snapshots {
			snapshots[snapshot.GetRow()] = snapshot
		}
		expectResult(t, golden.Masks, golden.Steps[i], result)
	}
	check(t, stream.Close(t.Context()))
}

func testWidthRefused(t *testing.T) {
	client := startServer(t, true).connect(t)
	_, err := client.OpenStream(t.Context(), StreamOptions{LogitsWidth: 100})
	expectCode(t, err, codes.InvalidArgument)
	if place := err.(*Error).Place; place != "hello.logits_width" {
		t.Errorf("place %q", place)
	}
}

func testCompileAndCheck(t *testing.T) {
	ctx, client := t.Context(), startServer(t, true).connect(t)
	first, err := client.Compile(ctx, Choice(`["red", "rose"]`))
	check(t, err)
	second, err := client.Compile(ctx, GrammarID(first.GetGrammarId()))
	check(t, err)
	if first.GetFromCache() || !second.GetFromCache() || second.GetGrammarId() != first.GetGrammarId() {
		t.Errorf("%v and %v", first, second)
	}
	explained, err := client.Explain(ctx, Choice(`["red", "rose"]`))
	check(t, err)
	if prefix := string(explained.GetForcedPrefix()); prefix != "r" {
		t.Errorf("prefix %q", prefix)
	}
	taken, err := client.Check(ctx, GrammarID(first.GetGrammarId()), "rose")
	check(t, err)
	stopped, err := client.Check(ctx, Choice(`["red", "rose"]`), "r!")
	check(t, err)
	if !taken.GetAccepted() || !taken.GetMayEnd() || stopped.GetAccepted() || stopped.GetStop().GetByteOffset() != 1 {
		t.Errorf("%v and %v", taken, stopped)
	}
}

func testCompileRefused(t *testing.T) {
	ctx, client := t.Context(), startServer(t, true).connect(t)
	_, err := client.Compile(ctx, JSONSchema(`{"properties": {"a": {"type": "strng"}}}`))
	expectCode(t, err, codes.InvalidArgument)
	if own := err.(*Error); own.Place != "/properties/a/type" || own.Reason != "INVALID_GRAMMAR" {
		t.Errorf("%+v", *own)
	}
	_, err = client.Compile(ctx, GrammarID(strings.Repeat("0", 64)))
	expectCode(t, err, codes.NotFound)
	_, err = client.CompileFor(ctx, "qwen", JSONObject())
	expectCode(t, err, codes.NotFound)
}

func testTokens(t *testing.T) {
	ctx, client := t.Context(), startServer(t, true).connect(t)
	tokens, err := client.ListTokens(ctx, "")
	check(t, err)
	if len(tokens) != 2048 || string(tokens[97].GetText()) != "a" || string(tokens[257].GetText()) != "aa" {
		t.Errorf("%d tokens", len(tokens))
	}
	all, err := client.ListTokenizers(ctx)
	check(t, err)
	one, err := client.Tokenizer(ctx, "pairs")
	check(t, err)
	if len(all) != 1 || one.GetHash() != all[0].GetHash() || one.GetVocabSize() != 2048 {
		t.Errorf("%v, %v", all, one)
	}
}

func testCancel(t *testing.T) {
	server := startServer(t, true)
	stream := server.open(t)
	server.stop(t)
	_, err := stream.Submit(NewStep())
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = stream.Collect(ctx)
	expectCode(t, err, codes.Canceled)
	server.signal(syscall.SIGCONT)
	stream.abandon()
	run(t, server.open(t), NewStep())
}

func testDeadline(t *testing.T) {
	server := startServer(t, true)
	stream := server.open(t)
	server.stop(t)
	_, err := stream.Submit(NewStep())
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = stream.Collect(ctx)
	expectCode(t, err, codes.DeadlineExceeded)
	server.signal(syscall.SIGCONT)
	result, err := stream.Collect(t.Context())
	check(t, err)
	if result.Step != 1 {
		t.Errorf("step %d", result.Step)
	}
}

func testGoAway(t *testing.T) {
	server := startServer(t, true)
	stream := server.open(t)
	server.signal(syscall.SIGTERM)
	for range 200 {
		run(t, stream, NewStep())
		if stream.GoAway() != nil {
			run(t, stream, NewStep())
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("no go-away")
}

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
	options := FailoverOptions{InOrder: true, Stream: StreamOptions{LogitsWidth: 2080}, GiveUpAfter: 2 * time.Second}
	for _, server := range servers {
		options.Addresses = append(options.Addresses, server.address)
	}
	stream, err := OpenFailover(t.Context(), options)
	check(t, err)
	t.Cleanup(stream.leave)
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
	stream := openFailover(t, a, b)
	moved := failoverEngine(t, stream)
	for i := range engineSteps {
		if i == 20 {
			a.stop(t)
		}
		moved.run(t, i, func() {
			if i == 20 {
				a.kill()
			}
		})
	}
	if stream.Moves() != 1 || stream.Address() != b.address {
		t.Errorf("%d moves, at %s", stream.Moves(), stream.Address())
	}
	if !slices.Equal(moved.masks, undisturbed(t)) {
		t.Error("the masks differ from those of a stream that nothing happened to")
	}
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
	if mortals[2].hasExited() {
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
