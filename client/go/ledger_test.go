package maskd

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	pb "maskd.io/maskd/maskdv1"
)

// opened is a ledger with row 1, which stands at tokens 10 and 11 of its grammar g1.
func opened(t *testing.T) *rowLedger {
	t.Helper()
	ledger := newRowLedger()
	step := NewStep().Open(1, Regex("a*")).Take(1, 10, 11)
	check(t, ledger.apply(&step.message, []Row{{ID: 1, State: Active, TokenCount: 2, GrammarID: "g1", Masks: make([]Mask, 1)}}))
	return ledger
}

func answer(tokens uint32) []Row {
	return []Row{{ID: 1, State: Active, TokenCount: tokens, Masks: make([]Mask, 1)}}
}

func TestLedgerBooksWhatRepliesSay(t *testing.T) {
	ledger := opened(t)
	check(t, ledger.apply(&NewStep().Rollback(1, 1).Take(1, 12, 13).message, answer(3)))
	if got := ledger.rows[1].open.Tokens; !slices.Equal(got, []int32{10, 12, 13}) {
		t.Errorf("%v", got)
	}
}

func TestLedgerKeepsWhatARefusedTokenLeaves(t *testing.T) {
	ledger := opened(t)
	reply := answer(3)
	reply[0].Err = &Error{Code: codes.InvalidArgument, Place: "tokens[1]"}
	check(t, ledger.apply(&NewStep().Take(1, 12, 13).message, reply))
	if got := ledger.rows[1].open.Tokens; !slices.Equal(got, []int32{10, 11, 12}) {
		t.Errorf("%v", got)
	}
}

func TestLedgerBooksNoLie(t *testing.T) {
	for name, reply := range map[string][]Row{
		"TooMany": answer(4), "TooFew": answer(2), "Twice": append(answer(3), answer(3)...),
	} {
		ledger := opened(t)
		err := ledger.apply(&NewStep().Take(1, 12).Open(2, Regex("b")).message, append(reply, Row{ID: 2, State: Compiling}))
		if CodeOf(err) != codes.Internal || len(ledger.rows) != 1 || len(ledger.rows[1].open.Tokens) != 2 {
			t.Errorf("%s: %v, %v", name, err, ledger.rows)
		}
	}
}

func TestLedgerPinsTheGrammar(t *testing.T) {
	ledger := opened(t)
	other := []Row{{ID: 1, State: Active, TokenCount: 2, GrammarID: "g2", Masks: make([]Mask, 1)}}
	if err := ledger.applyReplay(other); CodeOf(err) != codes.FailedPrecondition {
		t.Errorf("%v", err)
	}
	ledger.format = "another"
	check(t, ledger.applyReplay(other))
}

func TestLedgerForksAreIndependent(t *testing.T) {
	ledger := opened(t)
	check(t, ledger.apply(&NewStep().Fork(1, 2).message, nil))
	check(t, ledger.apply(&NewStep().Take(1, 12).message, answer(3)))
	if parent, child := ledger.rows[1].open, ledger.rows[2].open; len(parent.Tokens) != 3 || len(child.Tokens) != 2 || child.Row != 2 {
		t.Errorf("%v, %v", parent, child)
	}
}

func TestLedgerOpensLateWhatNobodyHasAnswered(t *testing.T) {
	ledger := opened(t)
	check(t, ledger.apply(&NewStep().Open(2, Regex("b")).message, []Row{{ID: 2, State: Compiling}}))
	replay, next := &pb.Step{}, &NewStep().Take(1, 12).message
	ledger.writeOpens(replay, next)
	if len(replay.Open) != 1 || len(next.Open) != 1 || next.Open[0].Row != 2 {
		t.Errorf("%v, %v", replay, next)
	}
}

func TestLedgerCountsWhatIsLeft(t *testing.T) {
	ledger := opened(t)
	check(t, ledger.apply(&NewStep().SetRemaining(1, 9).Take(1, 12).message, answer(3)))
	check(t, ledger.apply(&NewStep().Take(1, 13, 14).message, answer(5)))
	replay := &pb.Step{}
	ledger.writeOpens(replay, &pb.Step{})
	if left := replay.Open[0].GetRemainingTokens(); left != 7 {
		t.Errorf("%d", left)
	}
}

func TestLedgerGivesUpTheStepsRows(t *testing.T) {
	ledger := opened(t)
	rows := ledger.giveUp(&NewStep().Take(1, 5).Open(3, Regex("c")).message)
	if !slices.Equal(rows, []RowID{3, 1}) || len(ledger.rows) != 0 {
		t.Errorf("%v, %v", rows, ledger.rows)
	}
	closing := NewStep().Close(1).Close(4)
	ledger.dropCloses(&closing.message)
	if !slices.Equal(closing.message.Close, []RowID{4}) {
		t.Errorf("%v", closing.message.Close)
	}
}

// A refusal for load speaks against the server, not against the row, and keeps its time.
func TestLedgerKeepsWhenAServerThatHasNoRoomMayBeAskedAgain(t *testing.T) {
	refused := []Row{{ID: 1, State: Failed, Err: &Error{Code: codes.ResourceExhausted, Reason: "COMPILE_QUEUE_FULL",
		RetryAfter: 200 * time.Millisecond}}}
	compiles := func() *rowLedger {
		ledger := newRowLedger()
		check(t, ledger.apply(&NewStep().Open(1, Regex("a*")).message, []Row{{ID: 1, State: Compiling}}))
		return ledger
	}
	late := compiles()
	late.writeOpens(&pb.Step{}, &pb.Step{})
	for name, err := range map[string]error{
		"Used": opened(t).applyReplay(refused), "Compiling": compiles().applyReplay(refused),
		"Late": late.apply(&pb.Step{}, refused),
	} {
		own, ok := err.(*Error)
		if !ok || own.Code != codes.Unavailable || own.Reason != "COMPILE_QUEUE_FULL" || own.RetryAfter != 200*time.Millisecond {
			t.Errorf("%s: %v", name, err)
		}
	}
}
