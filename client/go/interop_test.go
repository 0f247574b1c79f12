package maskd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
		"lost_zone": testLostZone, "queue_full": testQueueFull, "slow_server": testSlowServer,
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
func serve(t *testing.T, path string, withPairs bool, flags ...string) *program {
	t.Helper()
	command := append(flags, "--listen=unix:"+path, "--metrics_listen=", "--heap_mib=0")
	command = slices.Insert(command, 0, os.Getenv("MASKD_SERVER"))
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
