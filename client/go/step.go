package maskd

import (
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

// RowID names a row of a stream; the caller's choice.
type RowID = uint64

// TokenID is a token of the vocabulary.
type TokenID = int32

// OpenOptions is what a row may be opened with beside its grammar.
type OpenOptions struct {
	// Tokens the row has taken already, on another stream.
	Tokens []TokenID
	// StopIDs end its text. Empty: the tokenizer's own.
	StopIDs []TokenID
	// Reasoning is free text before the grammar begins. Nil: none.
	Reasoning *pb.ReasoningGate
	// MinTokens of the text, before which it may not end.
	MinTokens uint32
	// RemainingTokens that the row may still produce. Nil: no bound.
	RemainingTokens *uint32
	// Temperature of its text; nil: the grammar's. Needs StreamOptions.WantTemperature.
	Temperature *float32
	// Biases to add to logits of its text, each id once. Needs StreamOptions.WantBias.
	Biases []*pb.LogitBias
	// WantAnswer: its replies say what its text says (Row.Answer). For grammars of kind "chat".
	WantAnswer bool
	// Observe: it is only read: nothing is masked, any token is taken, and its replies say what its text says.
	// For grammars of kind "chat".
	Observe bool
}

// Step is one decode step as the engine says it: which rows open, what was sampled, which rows close. The
// server closes, forks, opens and then moves rows, whatever the order of the calls. What a row may not do
// comes back in its own reply. A Step is kept and reused: Clear keeps its memory. Not for two goroutines
// at once.
type Step struct {
	message pb.Step
	updates map[RowID]*pb.RowUpdate
}

// NewStep is an empty step.
func NewStep() *Step { return &Step{updates: map[RowID]*pb.RowUpdate{}} }

// Open opens a row on a grammar.
func (s *Step) Open(row RowID, target Target) *Step { return s.OpenWith(row, target, OpenOptions{}) }

// OpenWith opens a row on a grammar, with more to say.
func (s *Step) OpenWith(row RowID, target Target, options OpenOptions) *Step {
	open := &pb.OpenRow{
		Row:             row,
		Tokens:          options.Tokens,
		StopIds:         options.StopIDs,
		Reasoning:       options.Reasoning,
		MinTokens:       options.MinTokens,
		RemainingTokens: options.RemainingTokens,
		Temperature:     options.Temperature,
		Biases:          options.Biases,
		WantAnswer:      options.WantAnswer,
		Observe:         options.Observe,
	}
	target.setOnRow(open)
	// A copy: what the caller gave stays the caller's.
	s.message.Open = append(s.message.Open, proto.CloneOf(open))
	return s
}

// OpenSnapshot opens a row as a snapshot describes it (Result.Snapshots).
func (s *Step) OpenSnapshot(snapshot *pb.OpenRow) *Step {
	s.message.Open = append(s.message.Open, proto.CloneOf(snapshot))
	return s
}

// Take gives a row the tokens sampled since the last step; called again, further ones. Without tokens it
// asks for the row's mask as it is.
func (s *Step) Take(row RowID, tokens ...TokenID) *Step {
	update := s.update(row)
	update.Tokens = append(update.Tokens, tokens...)
	return s
}

// Rollback takes back a row's last tokens, before those that Take gives.
func (s *Step) Rollback(row RowID, tokenCount uint32) *Step {
	s.update(row).Rollback = tokenCount
	return s
}

// SetRemaining says how many tokens the row may still produce, its end included.
func (s *Step) SetRemaining(row RowID, tokenCount uint32) *Step {
	s.update(row).RemainingTokens = &tokenCount
	return s
}

// Draft asks for the masks after draft tokens, which the row does not take: Row.Masks[i+1] is the one after
// tokens[i]. Without parents the drafts are a chain; else parents[i] is the index of the token that
// tokens[i] comes after, or -1.
func (s *Step) Draft(row RowID, tokens []TokenID, parents []int32) *Step {
	s.update(row).Drafts = &pb.Drafts{
		Tokens:  append([]int32(nil), tokens...),
		Parents: append([]int32(nil), parents...),
	}
	return s
}

// WantForced asks for what must come next.
func (s *Step) WantForced(row RowID) *Step {
	s.update(row).WantForced = true
	return s
}

// Snapshot asks for the row's description, by which it can be opened anew.
func (s *Step) Snapshot(row RowID) *Step {
	s.message.Snapshot = append(s.message.Snapshot, row)
	return s
}

// Fork makes child an independent copy of parent.
func (s *Step) Fork(parent, child RowID) *Step {
	s.message.Fork = append(s.message.Fork, &pb.ForkRow{Parent: parent, Child: child})
	return s
}

// Close closes a row; its id is free again in the same step.
func (s *Step) Close(row RowID) *Step {
	s.message.Close = append(s.message.Close, row)
	return s
}

// WaitForCompile lets the reply wait for grammars that still compile. 0, the default, never waits.
func (s *Step) WaitForCompile(atMost time.Duration) *Step {
	s.message.WaitForCompileMs = uint32(min(max(atMost.Milliseconds(), 0), math.MaxUint32))
	return s
}

// Clear empties the step for its next use.
func (s *Step) Clear() *Step {
	clear(s.updates)
	rows := s.message.Rows
	opened, forked := s.message.Open, s.message.Fork
	clear(opened)
	clear(forked)
	snapshots, closed := s.message.Snapshot, s.message.Close
	s.message.Reset()
	s.message.Rows, s.message.Open, s.message.Fork = rows[:0], opened[:0], forked[:0]
	s.message.Snapshot, s.message.Close = snapshots[:0], closed[:0]
	return s
}

// update is the row's update, kept from an earlier use of the step where there is one to spare.
func (s *Step) update(row RowID) *pb.RowUpdate {
	if update := s.updates[row]; update != nil {
		return update
	}
	rows := s.message.Rows
	if len(rows) < cap(rows) && rows[:len(rows)+1][len(rows)] != nil {
		rows = rows[:len(rows)+1]
		update := rows[len(rows)-1]
		tokens := update.Tokens[:0]
		update.Reset()
		update.Tokens = tokens
	} else {
		rows = append(rows, &pb.RowUpdate{})
	}
	update := rows[len(rows)-1]
	update.Row = row
	s.message.Rows = rows
	s.updates[row] = update
	return update
}
