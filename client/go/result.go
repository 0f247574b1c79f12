package maskd

import (
	"google.golang.org/grpc/codes"

	pb "maskd.io/maskd/maskdv1"
)

// State is what a row is doing.
type State = pb.RowState

// The states of a row, as in protos/maskd/v1.
const (
	Compiling = pb.RowState_ROW_STATE_COMPILING
	Free      = pb.RowState_ROW_STATE_FREE
	Active    = pb.RowState_ROW_STATE_ACTIVE
	Finished  = pb.RowState_ROW_STATE_FINISHED
	Failed    = pb.RowState_ROW_STATE_FAILED
	Refused   = pb.RowState_ROW_STATE_REFUSED
)

// Row is the answer for one row.
type Row struct {
	// ID names the row.
	ID RowID
	// State is what it is doing.
	State State
	// Masks by position: 0 after the tokens taken, i+1 after draft i. Empty when compiling, failed or
	// refused, and when they would not have fitted into the reply: Err is ResourceExhausted at "positions"
	// then, and the next step may ask for them.
	Masks []Mask
	// Err is what went wrong, nil: nothing. With the state free, active or finished the row goes on from
	// TokenCount.
	Err *Error
	// RefusedToken is the token that was refused, nil: none was.
	RefusedToken *pb.RefusedToken
	// TokenCount is how many tokens the row has taken, those after its end included.
	TokenCount uint32
	// MayEnd is whether the text may end here.
	MayEnd bool
	// GrammarID is set in the reply that first has a position.
	GrammarID GrammarID
	// AcceptedDrafts have a mask: of a chain its first ones. Nil: no drafts were sent.
	AcceptedDrafts *uint32
	// ForcedBytes must come next, where they were asked for.
	ForcedBytes []byte
	// ForcedTokens may be appended without asking the model.
	ForcedTokens []TokenID
	// ForcedDraft is all of ForcedBytes in tokens, to be sent as drafts.
	ForcedDraft []TokenID
	// Answer is what its answer has more or less than before, where OpenOptions.WantAnswer asked for it. Nil:
	// nothing new.
	Answer *pb.AnswerDelta
}

// Result is the answer to one step. It stays as it is for as long as it is kept.
type Result struct {
	// Step is the step's number.
	Step uint64
	// Rows in the server's order: opened rows, named rows, rows that have compiled since.
	Rows []Row
	// Snapshots describe the rows that Step.Snapshot named.
	Snapshots []*pb.OpenRow
}

// Row is the row's answer that has its state, or nil where it has none.
func (r *Result) Row(id RowID) *Row {
	for i := range r.Rows {
		if r.Rows[i].ID == id && r.Rows[i].State != Refused {
			return &r.Rows[i]
		}
	}
	return nil
}

// Apply masks one row of logits by the row's first mask, in place. Errors, nothing being written: NotFound
// (the row has no answer), FailedPrecondition (its answer has no mask), those of Mask.Apply.
func (r *Result) Apply(id RowID, logits []float32) error { return r.ApplyPosition(id, 0, logits) }

// ApplyPosition is Apply for the mask after the row's first drafts.
func (r *Result) ApplyPosition(id RowID, position int, logits []float32) error {
	mask, err := r.mask(id, position)
	if err != nil {
		return err
	}
	return mask.Apply(logits)
}

// CopyMasks writes the first masks of rows into an engine's own bitmask, whose rows have rowWords words: row i
// becomes the mask of order[i], all ones where it is full. Errors, before anything is written:
// InvalidArgument (the bitmask is too small), NotFound, FailedPrecondition.
func (r *Result) CopyMasks(order []RowID, bitmask []uint32, rowWords int) error {
	if rowWords < 0 || len(order)*rowWords > len(bitmask) {
		return errorf(codes.InvalidArgument, "%d rows of %d words do not fit into %d words", len(order),
			rowWords, len(bitmask))
	}
	masks := make([]*Mask, len(order))
	for i, id := range order {
		mask, err := r.mask(id, 0)
		if err != nil {
			return err
		}
		if mask.Invalid() {
			return errorf(codes.FailedPrecondition, "row %d: has no mask", id)
		}
		if !mask.Full() && mask.wordCount > rowWords {
			return errorf(codes.InvalidArgument, "a row of %d words is too short for a mask of %d",
				rowWords, mask.wordCount)
		}
		masks[i] = mask
	}
	for i, mask := range masks {
		if err := mask.CopyTo(bitmask[i*rowWords : (i+1)*rowWords]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) mask(id RowID, position int) (*Mask, error) {
	row := r.Row(id)
	if row == nil {
		return nil, errorf(codes.NotFound, "row %d: has no answer in this reply", id)
	}
	if position < 0 || position >= len(row.Masks) {
		return nil, errorf(codes.FailedPrecondition, "row %d: has no mask at position %d", id, position)
	}
	return &row.Masks[position], nil
}

// readReply makes a result of a reply.
func readReply(reply *pb.StepReply, masks *maskReader) (*Result, error) {
	result := &Result{Step: reply.GetStep(), Snapshots: reply.GetSnapshots()}
	result.Rows = make([]Row, len(reply.GetRows()))
	all := make([]Mask, countPositions(reply))
	for i, from := range reply.GetRows() {
		row := &result.Rows[i]
		*row = Row{
			ID:             from.GetRow(),
			State:          from.GetState(),
			Err:            fromRow(from.GetError()),
			RefusedToken:   from.GetError().GetToken(),
			TokenCount:     from.GetTokenCount(),
			MayEnd:         from.GetMayEnd(),
			GrammarID:      GrammarID(from.GetGrammarId()),
			AcceptedDrafts: from.AcceptedDrafts,
			ForcedBytes:    from.GetForcedBytes(),
			ForcedTokens:   from.GetForcedTokens(),
			ForcedDraft:    from.GetForcedDraft(),
			Answer:         from.GetAnswer(),
		}
		count := len(from.GetPositions())
		row.Masks, all = all[:count:count], all[count:]
		for j, position := range from.GetPositions() {
			mask, err := masks.read(position)
			if err != nil {
				return nil, errorf(CodeOf(err), "row %d: %v", row.ID, err)
			}
			row.Masks[j] = mask
		}
	}
	return result, nil
}

func countPositions(reply *pb.StepReply) int {
	count := 0
	for _, row := range reply.GetRows() {
		count += len(row.GetPositions())
	}
	return count
}
